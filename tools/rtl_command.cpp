// SPDX-License-Identifier: Apache-2.0
// tandem rtl build: Verilated arrays ahead of need; tandem rtl export: arrays for other benches.
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "arch/chip_modes.h"
#include "base/terminal.h"
#include "cosim/array_spec.h"
#include "run/array_export.h"
#include "run/arrays.h"
#include "run/paths.h"
#include "tools/chip_arguments.h"
#include "tools/command.h"

namespace tandem::tools {
namespace {

void describe(const run::LoadedArray& array) {
    const auto& info = array.library->info();
    std::string kind = info.dtype;
    if (info.pipeline != 1) kind += fmt::format(", pipeline {}", info.pipeline);
    if (info.sum4 != 0) kind += ", sum4";
    base::print("{}x{} {}, {} accumulator rows, form {}: build key {}\n", info.rows, info.cols,
                kind, info.acc_depth, info.form, info.build_key);
    const auto timing = engine::timing(array.shape);
    base::print("{} commit latency {}, weight interval {}, weight latency {} cycles\n",
                array.shape.declared ? "declared and measured:" : "timing:", timing.commit_latency,
                timing.weight_interval, timing.weight_latency);
}

/// That of the chip's own type; of Tandem's RTL also that of int8, if there is one of its size.
void build(const arch::ChipConfig& chip, const run::ArrayChoice& choice) {
    for (const arch::ChipConfig& mode : arch::modes(chip)) {
        const bool own = mode.mxu.dtype == chip.mxu.dtype;
        if (own || (!choice.other() && mode.mxu.rows <= cosim::kLargestSide))
            describe(run::load_array(mode, choice));
    }
}

struct Arguments : ArrayArguments {
    ChipArguments chip;

    void add_to(CLI::App& command) {
        chip.add_to(command, "the array of this chip (then sizes and types below do not count)");
        ArrayArguments::add_to(command);
    }
};

void add_build(CLI::App& rtl, Action& action) {
    auto* command = rtl.add_subcommand("build", "Verilate an array, unless it is in the cache");
    auto a = std::make_shared<Arguments>();
    a->add_to(*command);
    command->callback([&action, a] {
        action = [a] {
            if (a->chip.named())
                build(a->chip.load(), a->choice);
            else
                describe(run::load_array(a->shape(), a->choice));
            return kGood;
        };
    });
}

void add_export(CLI::App& rtl, Action& action) {
    struct Export : Arguments {
        run::ExportKind kind = run::ExportKind::kVerilog;
        std::string folder;
    };
    static const std::map<std::string, run::ExportKind> kKinds = {
        {"verilog", run::ExportKind::kVerilog},
        {"systemc", run::ExportKind::kSystemC},
        {"c", run::ExportKind::kC}};
    auto* command = rtl.add_subcommand(
        "export", "Write an array as a folder of its own, with a bench, for use without Tandem");
    auto a = std::make_shared<Export>();
    command
        ->add_option("--as", a->kind,
                     "verilog: sources, grid form, also for Icarus Verilog; systemc: a module with "
                     "pins; c: a shared object with a C interface")
        ->required()
        ->transform(CLI::CheckedTransformer(kKinds).description("verilog|systemc|c"));
    command->add_option("-o,--output", a->folder, "a new or empty folder, or an export")
        ->required();
    a->add_to(*command);
    command->callback([&action, a] {
        action = [a] {
            const auto shape = a->chip.named() ? engine::shape_of(a->chip.load().mxu) : a->shape();
            run::export_array(shape, a->choice, a->kind, a->folder);
            base::print("{}: how to use it says {}\n", a->folder,
                        (std::filesystem::path(a->folder) / "README.md").string());
            return kGood;
        };
    });
}

}  // namespace

void add_rtl_command(CLI::App& app, Action& action) {
    auto* rtl = app.add_subcommand("rtl", "The RTL of the MAC array");
    rtl->require_subcommand(1);
    add_build(*rtl, action);
    add_export(*rtl, action);
}

}  // namespace tandem::tools
