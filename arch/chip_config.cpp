// SPDX-License-Identifier: Apache-2.0
#include "arch/chip_config.h"

#include <algorithm>

#include "arch/error.h"
#include "arch/generated/isa.h"
#include "arch/hash.h"
#include "arch/quantity.h"
#include "arch/yaml_section.h"

namespace tandem::arch {
namespace {

constexpr uint64_t kKib = 1024;
constexpr uint64_t kGib = kKib * kKib * kKib;

void read_mxu(const YamlSection& section, ChipConfig::Mxu& mxu) {
    mxu.rows = section.count("rows", 1, 256);
    mxu.cols = section.count("cols", 1, 256);
    const std::string dtype = section.text("dtype");
    if (!parse_dtype(dtype)) section.fail("dtype", "int8 or bf16", dtype);
    mxu.dtype = *parse_dtype(dtype);
    if (section.has("pipeline")) mxu.pipeline = section.count("pipeline", 1, 256);
    if (section.has("sum4")) mxu.sum4 = section.flag("sum4");
    if (mxu.sum4 && mxu.dtype != Dtype::kBf16)
        section.fail("sum4", "false, or dtype bf16", "true with dtype " + dtype);
    if (mxu.sum4 && mxu.pipeline % 4 != 0)
        section.fail("sum4", "false, or a pipeline that is a multiple of 4",
                     "true with pipeline " + std::to_string(mxu.pipeline));
    mxu.accumulator_rows = section.count("accumulator_rows", 2, 65536);
    mxu.weight_fifo_tiles = section.count("weight_fifo_tiles", 1, 1024);
}

ChipConfig read_chip(const std::string& file, const YAML::Node& root) {
    const YamlSection top(file, "", root,
                          {"name", "description", "clock", "mxu", "unified_buffer", "memory",
                           "vector", "host", "sequencer"});
    ChipConfig chip;
    chip.name = top.text("name");
    chip.description = top.text("description");
    chip.clock_hz = top.number("clock", Dimension::kHertz, 1000000, 10000000000ull);
    read_mxu(top.section("mxu", {"rows", "cols", "dtype", "pipeline", "sum4", "accumulator_rows",
                                 "weight_fifo_tiles"}),
             chip.mxu);
    chip.unified_buffer_bytes = top.number("unified_buffer", Dimension::kBytes, 256, 2 * kGib);

    const YamlSection memory = top.section("memory", {"size", "bandwidth", "latency"});
    chip.memory.bytes = memory.number("size", Dimension::kBytes, kKib * kKib, 1024 * kGib);
    chip.memory.bytes_per_second =
        memory.number("bandwidth", Dimension::kBytesPerSecond, 1000000, 100000000000000ull);
    chip.memory.latency_ps = memory.number("latency", Dimension::kPicoseconds, 0, 100000000);

    const YamlSection vector = top.section("vector", {"lanes", "latency"});
    chip.vector.lanes = vector.count("lanes", 1, 65536);
    chip.vector.latency_cycles = vector.count("latency", 1, 10000, Dimension::kCycles);

    const YamlSection host = top.section("host", {"bandwidth", "latency", "cpu_clock"});
    chip.host.bytes_per_second =
        host.number("bandwidth", Dimension::kBytesPerSecond, 1000000, 10000000000000ull);
    chip.host.latency_ps = host.number("latency", Dimension::kPicoseconds, 0, 1000000000);
    chip.host.cpu_clock_hz = host.number("cpu_clock", Dimension::kHertz, 1000000, 10000000000ull);

    const YamlSection sequencer = top.section("sequencer", {"queue_entries", "watchdog"});
    chip.sequencer.queue_entries = sequencer.count("queue_entries", 1, 4096);
    chip.sequencer.watchdog_cycles =
        sequencer.number("watchdog", Dimension::kCycles, 1000, 1000000000000ull);

    const uint64_t row_bytes = uint64_t{chip.mxu.rows} * element_bytes(chip.mxu.dtype);
    if (chip.unified_buffer_bytes < row_bytes)
        top.fail("unified_buffer",
                 "at least one activation row (" + std::to_string(row_bytes) + " B)",
                 std::to_string(chip.unified_buffer_bytes) + " B");
    return chip;
}

}  // namespace

double ChipConfig::peak_ops_per_second() const {
    return 2.0 * mxu.rows * mxu.cols * static_cast<double>(clock_hz);
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
