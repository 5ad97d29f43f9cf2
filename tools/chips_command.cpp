// SPDX-License-Identifier: Apache-2.0
// tandem chips: what is shipped, and its key figures, beside what is published about it.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "arch/chip_config.h"
#include "tools/command.h"
#include "tools/paths.h"

namespace tandem::tools {
namespace {

using arch::ChipConfig;
using nlohmann::json;

double giga(uint64_t number) { return static_cast<double>(number) / 1e9; }
double nanoseconds(uint64_t picoseconds) { return static_cast<double>(picoseconds) / 1e3; }

/// In the largest unit that leaves a whole number.
std::string bytes_text(uint64_t bytes) {
    constexpr std::pair<uint64_t, const char*> kUnits[] = {{1 << 30, "GiB"}, {1000000000, "GB"},
                                                           {1 << 20, "MiB"}, {1000000, "MB"},
                                                           {1 << 10, "KiB"}, {1000, "kB"}};
    for (const auto& [size, name] : kUnits)
        if (bytes >= size && bytes % size == 0) return fmt::format("{} {}", bytes / size, name);
    return fmt::format("{} B", bytes);
}

void print_row(const ChipConfig& chip) {
    fmt::print("{:<16} {:>14} {:>9} {:>5} {:>8} {:>4} {:>7.0f} {:>10.2f} {:>9.1f} {:>9.0f}  {}\n",
               chip.name, fmt::format("{} x {}", chip.cores, chip.mxu.count),
               fmt::format("{}x{}", chip.mxu.rows, chip.mxu.cols), arch::to_string(chip.mxu.dtype),
               chip.mxu.pipeline, chip.mxu.sum4 ? "yes" : "no",
               static_cast<double>(chip.clock_hz) / 1e6, chip.peak_ops_per_second() / 1e12,
               giga(chip.memory.bytes_per_second), chip.ridge_ops_per_byte(), chip.description);
}

void list() {
    fmt::print("{:<16} {:>14} {:>9} {:>5} {:>8} {:>4} {:>7} {:>10} {:>9} {:>9}  {}\n", "name",
               "cores x arrays", "array", "dtype", "pipeline", "sum4", "MHz", "peak TOPS", "GB/s",
               "ops/byte", "description");
    for (const auto& name : arch::shipped_chips(chips_dir()))
        print_row(arch::find_chip(name, chips_dir()));
}

void line(const char* key, const std::string& value) { fmt::print("  {:<22}{}\n", key, value); }

void show_arrays(const ChipConfig& chip) {
    const auto& mxu = chip.mxu;
    const bool bf16 = mxu.dtype == arch::Dtype::kBf16;
    line("clock", fmt::format("{:.0f} MHz", static_cast<double>(chip.clock_hz) / 1e6));
    line("cores", std::to_string(chip.cores));
    line("arrays per core", fmt::format("{} of {} x {} {}", mxu.count, mxu.rows, mxu.cols,
                                        arch::to_string(mxu.dtype)));
    line("pipeline", fmt::format("a register every {}",
                                 mxu.pipeline == 1 ? "PE" : fmt::format("{} PEs", mxu.pipeline)));
    if (bf16)
        line("sum4",
             mxu.sum4 ? "four products added with one rounding" : "no: products added one by one");
    line("accumulators", fmt::format("{} rows x {} x {} per array", mxu.accumulator_rows, mxu.cols,
                                     bf16 ? "fp32" : "int32"));
    line("weight FIFO", fmt::format("{} tiles of {} per array", mxu.weight_fifo_tiles,
                                    bytes_text(chip.tile_bytes())));
}

std::string port_text(uint32_t bytes_per_cycle) {
    return bytes_per_cycle == 0 ? "one per unit" : fmt::format("{} B/cycle", bytes_per_cycle);
}

void show_memories(const ChipConfig& chip) {
    const auto& memory = chip.memory;
    line("unified buffer", bytes_text(chip.unified_buffer_bytes) + " per core");
    line("buffer ports",
         fmt::format("read {}, write {}", port_text(chip.buffer_ports.read_bytes_per_cycle),
                     port_text(chip.buffer_ports.write_bytes_per_cycle)));
    line("memory", fmt::format("{}, {:.1f} GB/s, {:.0f} ns", bytes_text(memory.bytes),
                               giga(memory.bytes_per_second), nanoseconds(memory.latency_ps)));
    line("memory channels",
         fmt::format("{}, changed every {} B", memory.channels, memory.channel_interleave));
    line("memory efficiency", fmt::format("{} %", memory.efficiency_percent));
    line("memory refresh",
         memory.refresh_interval_ps == 0
             ? "none"
             : fmt::format("{:.0f} ns in every {:.0f} ns", nanoseconds(memory.refresh_duration_ps),
                           nanoseconds(memory.refresh_interval_ps)));
    line("CMEM",
         chip.cmem.bytes == 0
             ? "none"
             : fmt::format("{}, {:.1f} GB/s, {:.0f} ns", bytes_text(chip.cmem.bytes),
                           giga(chip.cmem.bytes_per_second), nanoseconds(chip.cmem.latency_ps)));
}

void show_rest(const ChipConfig& chip) {
    const auto& sequencer = chip.sequencer;
    line("vector unit",
         fmt::format("{} lanes, {} cycles latency", chip.vector.lanes, chip.vector.latency_cycles));
    line("host bus", fmt::format("{:.1f} GB/s, {:.0f} ns", giga(chip.host.bytes_per_second),
                                 nanoseconds(chip.host.latency_ps)));
    line("host CPU", fmt::format("{:.0f} MHz", static_cast<double>(chip.host.cpu_clock_hz) / 1e6));
    line("sequencer", fmt::format("{} instructions per queue, watchdog {} cycles",
                                  sequencer.queue_entries, sequencer.watchdog_cycles));
    line("layers", sequencer.layer_sync ? "one after the other: issue waits for the layer before"
                                        : "overlap: issue runs ahead");
    line("synchronisation", fmt::format("{} cycles", sequencer.sync_cycles));
}

/// What is published, in parentheses, or nothing.
std::string published_text(double figure, double unit, const char* name) {
    if (figure == 0) return "";
    return fmt::format(" (published: {} {})", figure / unit, name);
}

void show_totals(const ChipConfig& chip) {
    const auto& published = chip.published;
    line("peak", fmt::format("{:.3f} TOPS{}", chip.peak_ops_per_second() / 1e12,
                             published_text(published.peak_ops_per_second, 1e12, "TOPS")));
    line("memory bandwidth",
         fmt::format("{:.1f} GB/s{}", giga(chip.memory.bytes_per_second),
                     published_text(published.memory_bytes_per_second, 1e9, "GB/s")));
    line("ridge point", fmt::format("{:.1f} ops/byte{}", chip.ridge_ops_per_byte(),
                                    published_text(published.ridge_ops_per_byte, 1, "ops/byte")));
    line("hash", fmt::format("{:016x}", chip.hash()));
    fmt::print(
        "\nA multiply-accumulate counts as two operations. Sources of all figures stand in the "
        "chip file.\n");
}

void show(const ChipConfig& chip) {
    fmt::print("{}: {}\n\n", chip.name, chip.description);
    show_arrays(chip);
    show_memories(chip);
    show_rest(chip);
    show_totals(chip);
}

json mxu_json(const ChipConfig::Mxu& mxu) {
    return {{"count", mxu.count},
            {"rows", mxu.rows},
            {"cols", mxu.cols},
            {"dtype", arch::to_string(mxu.dtype)},
            {"pipeline", mxu.pipeline},
            {"sum4", mxu.sum4},
            {"accumulator_rows", mxu.accumulator_rows},
            {"weight_fifo_tiles", mxu.weight_fifo_tiles}};
}

json memory_json(const ChipConfig::Memory& memory) {
    return {{"bytes", memory.bytes},
            {"bytes_per_second", memory.bytes_per_second},
            {"latency_ps", memory.latency_ps},
            {"channels", memory.channels},
            {"channel_interleave_bytes", memory.channel_interleave},
            {"efficiency_percent", memory.efficiency_percent},
            {"refresh_interval_ps", memory.refresh_interval_ps},
            {"refresh_duration_ps", memory.refresh_duration_ps}};
}

json sequencer_json(const ChipConfig::Sequencer& sequencer) {
    return {{"queue_entries", sequencer.queue_entries},
            {"layer_sync", sequencer.layer_sync},
            {"sync_cycles", sequencer.sync_cycles},
            {"watchdog_cycles", sequencer.watchdog_cycles}};
}

/// null: nothing published.
json published_json(const ChipConfig::Published& published) {
    const auto figure = [](double value) { return value == 0 ? json() : json(value); };
    return {{"peak_ops_per_second", figure(published.peak_ops_per_second)},
            {"memory_bytes_per_second", figure(published.memory_bytes_per_second)},
            {"ridge_ops_per_byte", figure(published.ridge_ops_per_byte)}};
}

json chip_json(const ChipConfig& chip) {
    return {
        {"name", chip.name},
        {"description", chip.description},
        {"clock_hz", chip.clock_hz},
        {"cores", chip.cores},
        {"mxu", mxu_json(chip.mxu)},
        {"unified_buffer_bytes", chip.unified_buffer_bytes},
        {"buffer_ports",
         {{"read_bytes_per_cycle", chip.buffer_ports.read_bytes_per_cycle},
          {"write_bytes_per_cycle", chip.buffer_ports.write_bytes_per_cycle}}},
        {"memory", memory_json(chip.memory)},
        {"cmem",
         {{"bytes", chip.cmem.bytes},
          {"bytes_per_second", chip.cmem.bytes_per_second},
          {"latency_ps", chip.cmem.latency_ps}}},
        {"vector", {{"lanes", chip.vector.lanes}, {"latency_cycles", chip.vector.latency_cycles}}},
        {"host",
         {{"bytes_per_second", chip.host.bytes_per_second},
          {"latency_ps", chip.host.latency_ps},
          {"cpu_clock_hz", chip.host.cpu_clock_hz}}},
        {"sequencer", sequencer_json(chip.sequencer)},
        {"published", published_json(chip.published)},
        {"arrays", chip.arrays()},
        {"peak_ops_per_second", chip.peak_ops_per_second()},
        {"ridge_ops_per_byte", chip.ridge_ops_per_byte()},
        {"hash", fmt::format("{:016x}", chip.hash())}};
}

json list_json() {
    json chips = json::array();
    for (const auto& name : arch::shipped_chips(chips_dir()))
        chips.push_back(chip_json(arch::find_chip(name, chips_dir())));
    return chips;
}

int run(const std::string& name, bool as_json) {
    if (name.empty() && !as_json)
        list();
    else if (name.empty())
        std::cout << list_json().dump(2) << '\n';
    else if (const auto chip = arch::find_chip(name, chips_dir()); as_json)
        std::cout << chip_json(chip).dump(2) << '\n';
    else
        show(chip);
    return kGood;
}

}  // namespace

void add_chips_command(CLI::App& app, Action& action) {
    auto* command = app.add_subcommand("chips", "Chips that are shipped, and their key figures");
    auto name = std::make_shared<std::string>();
    auto as_json = std::make_shared<bool>(false);
    command->add_option("NAME", *name, "one chip in full: a name or a file");
    command->add_flag("--json", *as_json, "print all figures as JSON");
    command->callback(
        [&action, name, as_json] { action = [name, as_json] { return run(*name, *as_json); }; });
}

}  // namespace tandem::tools
