// SPDX-License-Identifier: Apache-2.0
// tandem rtl build: Verilated arrays ahead of need.
#include <fmt/format.h>

#include "tools/arrays.h"
#include "tools/command.h"
#include "tools/paths.h"

namespace tandem::tools {

void add_rtl_command(CLI::App& app, Action& action) {
    struct Arguments : ArrayArguments {
        std::string chip;
    };
    auto* rtl = app.add_subcommand("rtl", "The RTL of the MAC array");
    rtl->require_subcommand(1);
    auto* command = rtl->add_subcommand("build", "Verilate an array, unless it is in the cache");
    auto a = std::make_shared<Arguments>();
    command->add_option("--chip", a->chip,
                        "the array of this chip (then the sizes below do not count)");
    a->add_to(*command);
    command->callback([&action, a] {
        action = [a] {
            const auto library = a->chip.empty()
                                     ? load_array(a->rows, a->cols, a->accumulator_rows)
                                     : load_array(arch::find_chip(a->chip, chips_dir()));
            const auto& info = library->info();
            fmt::print("{}x{} {}, {} accumulator rows: build key {}\n", info.rows, info.cols,
                       info.dtype, info.acc_depth, info.build_key);
            return kGood;
        };
    });
}

}  // namespace tandem::tools
