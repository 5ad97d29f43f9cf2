// SPDX-License-Identifier: Apache-2.0
// tandem rtl build: Verilated arrays ahead of need.
#include <fmt/format.h>

#include "arch/chip_modes.h"
#include "base/terminal.h"
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

}  // namespace

void add_rtl_command(CLI::App& app, Action& action) {
    struct Arguments : ArrayArguments {
        ChipArguments chip;
    };
    auto* rtl = app.add_subcommand("rtl", "The RTL of the MAC array");
    rtl->require_subcommand(1);
    auto* command = rtl->add_subcommand("build", "Verilate an array, unless it is in the cache");
    auto a = std::make_shared<Arguments>();
    a->chip.add_to(*command, "the array of this chip (then sizes and types below do not count)");
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

}  // namespace tandem::tools
