// SPDX-License-Identifier: Apache-2.0
// tandem chips: what is shipped, and its key figures.
#include <fmt/format.h>

#include <fstream>
#include <iostream>

#include "arch/chip_config.h"
#include "tools/command.h"
#include "tools/paths.h"

namespace tandem::tools {
namespace {

void print_row(const arch::ChipConfig& chip) {
    fmt::print("{:<16} {:>9} {:>5} {:>8} {:>4} {:>7.0f} {:>10.2f} {:>9.1f} {:>9.0f}  {}\n",
               chip.name, fmt::format("{}x{}", chip.mxu.rows, chip.mxu.cols),
               arch::to_string(chip.mxu.dtype), chip.mxu.pipeline, chip.mxu.sum4 ? "yes" : "no",
               static_cast<double>(chip.clock_hz) / 1e6, chip.peak_ops_per_second() / 1e12,
               static_cast<double>(chip.memory.bytes_per_second) / 1e9, chip.ridge_ops_per_byte(),
               chip.description);
}

int list() {
    fmt::print("{:<16} {:>9} {:>5} {:>8} {:>4} {:>7} {:>10} {:>9} {:>9}  {}\n", "name", "array",
               "dtype", "pipeline", "sum4", "MHz", "peak TOPS", "GB/s", "ops/byte", "description");
    for (const auto& name : arch::shipped_chips(chips_dir()))
        print_row(arch::find_chip(name, chips_dir()));
    return kGood;
}

int show(const std::string& name) {
    const auto chip = arch::find_chip(name, chips_dir());
    fmt::print("{}: {}\n\n", chip.name, chip.description);
    const auto line = [](const char* key, const std::string& value) {
        fmt::print("  {:<22}{}\n", key, value);
    };
    line("clock", fmt::format("{:.0f} MHz", static_cast<double>(chip.clock_hz) / 1e6));
    line("array",
         fmt::format("{} x {} {}", chip.mxu.rows, chip.mxu.cols, arch::to_string(chip.mxu.dtype)));
    line("pipeline",
         fmt::format("a register every {}",
                     chip.mxu.pipeline == 1 ? "PE" : fmt::format("{} PEs", chip.mxu.pipeline)));
    if (chip.mxu.dtype == arch::Dtype::kBf16)
        line("sum4", chip.mxu.sum4 ? "four products added with one rounding"
                                   : "no: products added one by one");
    line("accumulators", fmt::format("{} rows x {} x {}", chip.mxu.accumulator_rows, chip.mxu.cols,
                                     chip.mxu.dtype == arch::Dtype::kBf16 ? "fp32" : "int32"));
    line("weight FIFO",
         fmt::format("{} tiles of {} B", chip.mxu.weight_fifo_tiles, chip.tile_bytes()));
    line("unified buffer", fmt::format("{} B", chip.unified_buffer_bytes));
    line("memory", fmt::format("{} B, {:.1f} GB/s, {:.0f} ns", chip.memory.bytes,
                               static_cast<double>(chip.memory.bytes_per_second) / 1e9,
                               static_cast<double>(chip.memory.latency_ps) / 1e3));
    line("vector unit",
         fmt::format("{} lanes, {} cycles latency", chip.vector.lanes, chip.vector.latency_cycles));
    line("host bus", fmt::format("{:.1f} GB/s, {:.0f} ns",
                                 static_cast<double>(chip.host.bytes_per_second) / 1e9,
                                 static_cast<double>(chip.host.latency_ps) / 1e3));
    line("peak", fmt::format("{:.3f} TOPS (a multiply-accumulate counts as two)",
                             chip.peak_ops_per_second() / 1e12));
    line("ridge point", fmt::format("{:.0f} ops per byte of memory", chip.ridge_ops_per_byte()));
    line("hash", fmt::format("{:016x}", chip.hash()));
    return kGood;
}

}  // namespace

void add_chips_command(CLI::App& app, Action& action) {
    auto* command = app.add_subcommand("chips", "Chips that are shipped, and their key figures");
    auto name = std::make_shared<std::string>();
    command->add_option("NAME", *name, "one chip in full: a name or a file");
    command->callback(
        [&action, name] { action = [name] { return name->empty() ? list() : show(*name); }; });
}

}  // namespace tandem::tools
