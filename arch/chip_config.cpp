// SPDX-License-Identifier: Apache-2.0
#include "arch/chip_config.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>

#include "arch/error.h"
#include "arch/generated/isa.h"
#include "arch/hash.h"
#include "arch/quantity.h"

namespace tandem::arch {
namespace {

/// One mapping of the file; refuses keys that it does not know.
class Section {
  public:
    /// `known` are the keys that it may have; it must have those that are read.
    Section(std::string file, std::string path, YAML::Node node, std::vector<std::string> known)
        : file_(std::move(file)),
          path_(std::move(path)),
          node_(std::move(node)),
          known_(std::move(known)) {
        if (!node_.IsMap())
            throw UserError(file_, path_.empty() ? "top level" : path_, "a mapping", kind(node_));
        std::set<std::string> keys;
        for (const auto& entry : node_) {
            const auto key = entry.first.as<std::string>();
            if (std::find(known_.begin(), known_.end(), key) == known_.end())
                fail(key, "one of: " + known_keys(), "an unknown key");
            if (!keys.insert(key).second) fail(key, "the key once", "the key twice");
        }
    }

    std::string text(const std::string& key) {
        const YAML::Node node = value(key);
        if (!node.IsScalar()) fail(key, "a text", kind(node));
        return node.as<std::string>();
    }

    uint64_t number(const std::string& key, Dimension dimension, uint64_t low, uint64_t high) {
        const std::string found = text(key);
        const auto number = parse_quantity(found, dimension);
        if (!number) fail(key, expected_form(dimension), '"' + found + '"');
        if (*number < low || *number > high)
            fail(key, "a value from " + std::to_string(low) + " to " + std::to_string(high),
                 std::to_string(*number) + " (\"" + found + "\")");
        return *number;
    }

    uint32_t count(const std::string& key, uint32_t low, uint32_t high,
                   Dimension dimension = Dimension::kPlain) {
        return static_cast<uint32_t>(number(key, dimension, low, high));
    }

    bool flag(const std::string& key) {
        const std::string found = text(key);
        if (found != "true" && found != "false") fail(key, "true or false", '"' + found + '"');
        return found == "true";
    }

    /// Some keys may be left out.
    bool has(const std::string& key) const { return static_cast<bool>(node_[key]); }

    Section section(const std::string& key, std::vector<std::string> known) {
        return Section(file_, path_.empty() ? key : path_ + "." + key, child(key),
                       std::move(known));
    }

    [[noreturn]] void fail(const std::string& key, const std::string& expected,
                           const std::string& found) const {
        const YAML::Mark mark = mark_of(key);
        const std::string line =
            mark.is_null() ? "" : " (line " + std::to_string(mark.line + 1) + ")";
        throw UserError(file_, (path_.empty() ? key : path_ + "." + key) + line, expected, found);
    }

  private:
    YAML::Node child(const std::string& key) {
        const YAML::Node node = node_[key];
        if (!node) fail(key, "the key", "nothing");
        return node;
    }

    /// A figure is a scalar, or a mapping {value, source, note} that says where it comes from.
    YAML::Node value(const std::string& key) {
        const YAML::Node node = child(key);
        if (!node.IsMap()) return node;
        return Section(file_, path_.empty() ? key : path_ + "." + key, node,
                       {"value", "source", "note"})
            .child("value");
    }

    /// Where the key stands, or else where the mapping begins.
    YAML::Mark mark_of(const std::string& key) const {
        for (const auto& entry : node_)
            if (entry.first.as<std::string>() == key) return entry.first.Mark();
        return node_.Mark();
    }

    static std::string kind(const YAML::Node& node) {
        if (node.IsSequence()) return "a list";
        if (node.IsMap()) return "a mapping";
        return node.IsScalar() ? "\"" + node.as<std::string>() + "\"" : "nothing";
    }

    std::string known_keys() const {
        std::string all;
        for (const auto& key : known_) all += (all.empty() ? "" : ", ") + key;
        return all;
    }

    std::string file_;
    std::string path_;
    YAML::Node node_;
    std::vector<std::string> known_;
};

constexpr uint64_t kKib = 1024;
constexpr uint64_t kGib = kKib * kKib * kKib;

void read_mxu(Section section, ChipConfig::Mxu& mxu) {
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
    Section top(file, "", root,
                {"name", "description", "clock", "mxu", "unified_buffer", "memory", "vector",
                 "host", "sequencer"});
    ChipConfig chip;
    chip.name = top.text("name");
    chip.description = top.text("description");
    chip.clock_hz = top.number("clock", Dimension::kHertz, 1000000, 10000000000ull);
    read_mxu(top.section("mxu", {"rows", "cols", "dtype", "pipeline", "sum4", "accumulator_rows",
                                 "weight_fifo_tiles"}),
             chip.mxu);
    chip.unified_buffer_bytes = top.number("unified_buffer", Dimension::kBytes, 256, 2 * kGib);

    Section memory = top.section("memory", {"size", "bandwidth", "latency"});
    chip.memory.bytes = memory.number("size", Dimension::kBytes, kKib * kKib, 1024 * kGib);
    chip.memory.bytes_per_second =
        memory.number("bandwidth", Dimension::kBytesPerSecond, 1000000, 100000000000000ull);
    chip.memory.latency_ps = memory.number("latency", Dimension::kPicoseconds, 0, 100000000);

    Section vector = top.section("vector", {"lanes", "latency"});
    chip.vector.lanes = vector.count("lanes", 1, 65536);
    chip.vector.latency_cycles = vector.count("latency", 1, 10000, Dimension::kCycles);

    Section host = top.section("host", {"bandwidth", "latency", "cpu_clock"});
    chip.host.bytes_per_second =
        host.number("bandwidth", Dimension::kBytesPerSecond, 1000000, 10000000000000ull);
    chip.host.latency_ps = host.number("latency", Dimension::kPicoseconds, 0, 1000000000);
    chip.host.cpu_clock_hz = host.number("cpu_clock", Dimension::kHertz, 1000000, 10000000000ull);

    Section sequencer = top.section("sequencer", {"queue_entries", "watchdog"});
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
    try {
        return read_chip(file.string(), YAML::LoadFile(file.string()));
    } catch (const YAML::BadFile&) {
        throw UserError(file.string() + ": cannot be read");
    } catch (const YAML::Exception& error) {
        throw UserError(file.string(), "line " + std::to_string(error.mark.line + 1),
                        "well-formed YAML", error.msg);
    }
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
