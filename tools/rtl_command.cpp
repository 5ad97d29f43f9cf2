// SPDX-License-Identifier: Apache-2.0
// tandem rtl build: Verilated arrays ahead of need.
#include <fmt/format.h>

#include "tools/arrays.h"
#include "tools/command.h"
#include "tools/paths.h"

namespace tandem::tools {

void add_rtl_command(CLI::App& app, Action& action) {
    struct Arguments {
        std::string chip;
        uint32_t rows = 16, cols = 16, accumulator_rows = 256;
        std::string dtype = "int8";
    };
    auto* rtl = app.add_subcommand("rtl", "The RTL of the MAC array");
    rtl->require_subcommand(1);
    auto* command = rtl->add_subcommand("build", "Verilate an array, unless it is in the cache");
    auto a = std::make_shared<Arguments>();
    command->add_option("--chip", a->chip,
                        "the array of this chip (then the sizes below do not count)");
    command->add_option("--rows", a->rows, "rows of the array")
        ->check(CLI::Range(1u, 256u))
        ->capture_default_str();
    command->add_option("--cols", a->cols, "columns of the array")
        ->check(CLI::Range(1u, 256u))
        ->capture_default_str();
    command->add_option("--accumulators", a->accumulator_rows, "accumulator rows")
        ->check(CLI::Range(2u, 65536u))
        ->capture_default_str();
    command->add_option("--dtype", a->dtype, "element type")
        ->check(CLI::IsMember({"int8"}))
        ->capture_default_str();
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
