// SPDX-License-Identifier: Apache-2.0
// tandem rtl build: Verilated arrays ahead of need.
#include <fmt/format.h>

#include "run/arrays.h"
#include "run/paths.h"
#include "tools/chip_arguments.h"
#include "tools/command.h"

namespace tandem::tools {

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
            const auto array = !a->chip.named() ? run::load_array(a->shape(), a->choice)
                                                : run::load_array(a->chip.load(), a->choice);
            const auto& info = array.library->info();
            std::string kind = info.dtype;
            if (info.pipeline != 1) kind += fmt::format(", pipeline {}", info.pipeline);
            if (info.sum4 != 0) kind += ", sum4";
            fmt::print("{}x{} {}, {} accumulator rows, form {}: build key {}\n", info.rows,
                       info.cols, kind, info.acc_depth, info.form, info.build_key);
            const auto timing = engine::timing(array.shape);
            fmt::print("{} commit latency {}, weight interval {}, weight latency {} cycles\n",
                       array.shape.declared ? "declared and measured:" : "timing:",
                       timing.commit_latency, timing.weight_interval, timing.weight_latency);
            return kGood;
        };
    });
}

}  // namespace tandem::tools
