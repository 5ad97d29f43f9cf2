// SPDX-License-Identifier: Apache-2.0
#include "arch/chip_config.h"

#include <algorithm>
#include <array>

#include "arch/error.h"
#include "arch/generated/isa.h"
#include "arch/hash.h"
#include "arch/quantity.h"
#include "arch/yaml_section.h"

namespace tandem::arch {
namespace {

constexpr uint64_t kKib = 1024;
constexpr uint64_t kGib = kKib * kKib * kKib;
constexpr uint64_t kSecondPs = 1000000000000;

/// A figure that may be left out keeps the default of the header.
void read_if_there(const YamlSection& section, const char* key, uint32_t low, uint32_t high,
                   uint32_t& figure, Dimension dimension = Dimension::kPlain) {
    if (section.has(key)) figure = section.count(key, low, high, dimension);
}

void read_mxu(const YamlSection& section, ChipConfig::Mxu& mxu) {
    read_if_there(section, "count", 1, 16, mxu.count);
    mxu.rows = section.count("rows", 1, 1024);
    mxu.cols = section.count("cols", 1, 1024);
    const std::string dtype = section.text("dtype");
    if (!parse_dtype(dtype)) section.fail("dtype", "int8 or bf16", dtype);
    mxu.dtype = *parse_dtype(dtype);
    read_if_there(section, "pipeline", 1, 256, mxu.pipeline);
    if (section.has("sum4")) mxu.sum4 = section.flag("sum4");
    if (mxu.sum4 && mxu.dtype != Dtype::kBf16)
        section.fail("sum4", "false, or dtype bf16", "true with dtype " + dtype);
    if (mxu.sum4 && mxu.pipeline % 4 != 0)
        section.fail("sum4", "false, or a pipeline that is a multiple of 4",
                     "true with pipeline " + std::to_string(mxu.pipeline));
    mxu.accumulator_rows = section.count("accumulator_rows", 2, 65536);
    mxu.weight_fifo_tiles = section.count("weight_fifo_tiles", 1, 1024);
}

void read_buffer_ports(const YamlSection& section, ChipConfig::BufferPorts& ports) {
    constexpr uint32_t kWidest = 1 << 20;
    read_if_there(section, "read", 1, kWidest, ports.read_bytes_per_cycle,
                  Dimension::kBytesPerCycle);
    read_if_there(section, "write", 1, kWidest, ports.write_bytes_per_cycle,
                  Dimension::kBytesPerCycle);
}

void read_refresh(const YamlSection& section, ChipConfig::Memory& memory) {
    const char* const interval = "refresh_interval";
    const char* const duration = "refresh_duration";
    if (!section.has(interval) && !section.has(duration)) return;
    memory.refresh_interval_ps = section.number(interval, Dimension::kPicoseconds, 1000, kSecondPs);
    memory.refresh_duration_ps = section.number(duration, Dimension::kPicoseconds, 1, kSecondPs);
    if (memory.refresh_duration_ps >= memory.refresh_interval_ps)
        section.fail(
            duration,
            "less than refresh_interval (" + std::to_string(memory.refresh_interval_ps) + " ps)",
            std::to_string(memory.refresh_duration_ps) + " ps");
}

void read_memory(const YamlSection& section, ChipConfig::Memory& memory) {
    memory.bytes = section.number("size", Dimension::kBytes, kKib * kKib, 1024 * kGib);
    memory.bytes_per_second =
        section.number("bandwidth", Dimension::kBytesPerSecond, 1000000, 100000000000000ull);
    memory.latency_ps = section.number("latency", Dimension::kPicoseconds, 0, 100000000);
    read_if_there(section, "channels", 1, 1024, memory.channels);
    read_if_there(section, "channel_interleave", 16, 1 << 20, memory.channel_interleave,
                  Dimension::kBytes);
    read_if_there(section, "efficiency", 1, 100, memory.efficiency_percent, Dimension::kPercent);
    read_refresh(section, memory);
}

void read_cmem(const YamlSection& section, ChipConfig::Cmem& cmem) {
    cmem.bytes = section.number("size", Dimension::kBytes, kKib, 16 * kGib);
    cmem.bytes_per_second =
        section.number("bandwidth", Dimension::kBytesPerSecond, 1000000, 100000000000000ull);
    cmem.latency_ps = section.number("latency", Dimension::kPicoseconds, 0, 100000000);
}

void read_vector(const YamlSection& section, ChipConfig::Vector& vector) {
    vector.lanes = section.count("lanes", 1, 65536);
    vector.latency_cycles = section.count("latency", 1, 10000, Dimension::kCycles);
}

void read_host(const YamlSection& section, ChipConfig::Host& host) {
    host.bytes_per_second =
        section.number("bandwidth", Dimension::kBytesPerSecond, 1000000, 10000000000000ull);
    host.latency_ps = section.number("latency", Dimension::kPicoseconds, 0, 1000000000);
    host.cpu_clock_hz = section.number("cpu_clock", Dimension::kHertz, 1000000, 10000000000ull);
}

void read_sequencer(const YamlSection& section, ChipConfig::Sequencer& sequencer) {
    sequencer.queue_entries = section.count("queue_entries", 1, 4096);
    if (section.has("layer_sync")) sequencer.layer_sync = section.flag("layer_sync");
    read_if_there(section, "sync_latency", 0, 1000000, sequencer.sync_cycles, Dimension::kCycles);
    sequencer.watchdog_cycles =
        section.number("watchdog", Dimension::kCycles, 1000, 1000000000000ull);
}

void read_published(const YamlSection& section, ChipConfig::Published& published) {
    const auto read = [&](const char* key, Dimension dimension, uint64_t high, double& figure) {
        if (section.has(key)) figure = static_cast<double>(section.number(key, dimension, 1, high));
    };
    read("peak", Dimension::kOpsPerSecond, 1000000000000000000ull, published.peak_ops_per_second);
    read("bandwidth", Dimension::kBytesPerSecond, 100000000000000ull,
         published.memory_bytes_per_second);
    read("ridge", Dimension::kOpsPerByte, 1000000, published.ridge_ops_per_byte);
}

/// A tile change takes as many cycles as the array has rows; with fewer activation rows at hand the
/// array could never be kept busy.
void check_unified_buffer(const YamlSection& top, const ChipConfig& chip) {
    const uint64_t least = chip.mxu.rows * chip.row_bytes();
    if (chip.unified_buffer_bytes < least)
        top.fail("unified_buffer",
                 "at least a square of activations for one weight tile (" +
                     std::to_string(chip.mxu.rows) + " x " + std::to_string(chip.mxu.rows) + ", " +
                     std::to_string(least) + " B)",
                 std::to_string(chip.unified_buffer_bytes) + " B");
}

void read_sections(const YamlSection& top, ChipConfig& chip) {
    read_mxu(top.section("mxu", {"count", "rows", "cols", "dtype", "pipeline", "sum4",
                                 "accumulator_rows", "weight_fifo_tiles"}),
             chip.mxu);
    if (top.has("buffer_ports"))
        read_buffer_ports(top.section("buffer_ports", {"read", "write"}), chip.buffer_ports);
    read_memory(
        top.section("memory", {"size", "bandwidth", "latency", "channels", "channel_interleave",
                               "efficiency", "refresh_interval", "refresh_duration"}),
        chip.memory);
    if (top.has("cmem"))
        read_cmem(top.section("cmem", {"size", "bandwidth", "latency"}), chip.cmem);
    read_vector(top.section("vector", {"lanes", "latency"}), chip.vector);
    read_host(top.section("host", {"bandwidth", "latency", "cpu_clock"}), chip.host);
    read_sequencer(
        top.section("sequencer", {"queue_entries", "layer_sync", "sync_latency", "watchdog"}),
        chip.sequencer);
    if (top.has("published"))
        read_published(top.section("published", {"peak", "bandwidth", "ridge"}), chip.published);
}

ChipConfig read_chip(const std::string& file, const YAML::Node& root) {
    const YamlSection top(
        file, "", root,
        {"name", "description", "clock", "cores", "mxu", "unified_buffer", "buffer_ports", "memory",
         "cmem", "vector", "host", "sequencer", "published"});
    ChipConfig chip;
    chip.name = top.text("name");
    chip.description = top.text("description");
    chip.clock_hz = top.number("clock", Dimension::kHertz, 1000000, 10000000000ull);
    read_if_there(top, "cores", 1, 16, chip.cores);
    chip.unified_buffer_bytes = top.number("unified_buffer", Dimension::kBytes, 256, 2 * kGib);
    read_sections(top, chip);
    check_unified_buffer(top, chip);
    return chip;
}

/// Figures that a chip file may leave out, in the order in which they came to be.
auto figures_with_default(const ChipConfig& chip) {
    return std::array{uint64_t{chip.cores},
                      uint64_t{chip.mxu.count},
                      uint64_t{chip.buffer_ports.read_bytes_per_cycle},
                      uint64_t{chip.buffer_ports.write_bytes_per_cycle},
                      uint64_t{chip.memory.channels},
                      uint64_t{chip.memory.channel_interleave},
                      uint64_t{chip.memory.efficiency_percent},
                      chip.memory.refresh_interval_ps,
                      chip.memory.refresh_duration_ps,
                      chip.cmem.bytes,
                      chip.cmem.bytes_per_second,
                      chip.cmem.latency_ps,
                      uint64_t{chip.sequencer.layer_sync},
                      uint64_t{chip.sequencer.sync_cycles}};
}

}  // namespace

double ChipConfig::peak_ops_per_second() const {
    return 2.0 * arrays() * mxu.rows * mxu.cols * static_cast<double>(clock_hz);
}

double ChipConfig::ridge_ops_per_byte() const {
    return peak_ops_per_second() / static_cast<double>(memory.bytes_per_second);
}

uint64_t ChipConfig::hash() const {
    Fnv64 hash;
    hash.add(isa::kHash);
    for (const uint64_t figure :
         {clock_hz, uint64_t{mxu.rows}, uint64_t{mxu.cols}, uint64_t{mxu.pipeline},
          uint64_t{mxu.sum4}, uint64_t{mxu.accumulator_rows}, uint64_t{mxu.weight_fifo_tiles},
          unified_buffer_bytes, memory.bytes, memory.bytes_per_second, memory.latency_ps,
          uint64_t{vector.lanes}, uint64_t{vector.latency_cycles}, host.bytes_per_second,
          host.latency_ps, host.cpu_clock_hz, uint64_t{sequencer.queue_entries},
          sequencer.watchdog_cycles})
        hash.add(figure);
    hash.add(to_string(mxu.dtype));
    // A chip that leaves a figure out keeps its hash when the figure comes into being.
    const auto figures = figures_with_default(*this), defaults = figures_with_default({});
    for (size_t i = 0; i < figures.size(); ++i) {
        if (figures[i] == defaults[i]) continue;
        hash.add(uint64_t{i});
        hash.add(figures[i]);
    }
    return hash.value();
}

ChipConfig load_chip(const std::filesystem::path& file) {
    return read_chip(file.string(), load_yaml(file));
}

void require_int8_array(const ChipConfig& chip, const std::string& origin) {
    if (chip.mxu.dtype != Dtype::kInt8)
        throw UserError(origin, "chip " + chip.name, "an int8 array (networks and gemm are int8)",
                        "a " + std::string(to_string(chip.mxu.dtype)) + " array");
}

std::vector<std::string> shipped_chips(const std::filesystem::path& chips_dir) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(chips_dir))
        if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem());
    std::sort(names.begin(), names.end());
    return names;
}

ChipConfig find_chip(const std::string& name_or_file, const std::filesystem::path& chips_dir) {
    const bool is_file =
        name_or_file.ends_with(".yaml") || name_or_file.find('/') != std::string::npos;
    if (is_file) return load_chip(name_or_file);
    const auto file = chips_dir / (name_or_file + ".yaml");
    if (std::filesystem::exists(file)) return load_chip(file);
    std::string known;
    for (const auto& name : shipped_chips(chips_dir)) known += (known.empty() ? "" : ", ") + name;
    throw UserError("--chip", "name", "a chip file (*.yaml) or one of " + known, name_or_file);
}

}  // namespace tandem::arch
