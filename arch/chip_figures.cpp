// SPDX-License-Identifier: Apache-2.0
#include "arch/chip_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tandem::arch {
namespace {

using enum Presence;
using enum base::Dimension;

constexpr uint64_t kKib = 1024, kMib = kKib * kKib, kGib = kMib * kKib;
constexpr uint64_t kKilo = 1000, kMega = kKilo * kKilo, kGiga = kMega * kKilo,
                   kTera = kGiga * kKilo;
constexpr uint64_t kNs = kKilo, kMs = kGiga;  // picoseconds

// A pointer to a member cannot reach into a member of a member.
#define MEMBER(member) [](ChipConfig& chip) -> FigureMember { return &chip.member; }

// clang-format off
constexpr ChipFigure kFigures[] = {
    {"name", kPlain, 0, 0, kRequired, MEMBER(name), "of the chip; of a shipped one the name of its file"},
    {"description", kPlain, 0, 0, kRequired, MEMBER(description), "one line"},
    {"clock", kHertz, kMega, 10 * kGiga, kRequired, MEMBER(clock_hz), "of all units of the chip"},
    {"cores", kPlain, 1, 16, kOptional, MEMBER(cores), "each with sequencer, units and unified buffer of its own"},

    {"mxu.count", kPlain, 1, 16, kOptional, MEMBER(mxu.count), "arrays per core, all alike"},
    {"mxu.rows", kPlain, 1, 1024, kRequired, MEMBER(mxu.rows), "PEs; the RTL has up to 256"},
    {"mxu.cols", kPlain, 1, 1024, kRequired, MEMBER(mxu.cols), "PEs; the RTL has up to 256"},
    {"mxu.dtype", kPlain, 0, 0, kRequired, MEMBER(mxu.dtype), "type of activations and weights"},
    {"mxu.pipeline", kPlain, 1, 256, kOptional, MEMBER(mxu.pipeline), "PEs from one pipeline register to the next, in both directions"},
    {"mxu.sum4", kPlain, 0, 0, kOptional, MEMBER(mxu.sum4), "four products added with one rounding"},
    {"mxu.int8_rate", kPlain, 0, 2, kOptional, MEMBER(mxu.int8_rate), "int8 products in the place of one of a bf16 array: `rows` times as many rows; 0: no int8"},
    {"mxu.accumulator_rows", kPlain, 2, 65536, kRequired, MEMBER(mxu.accumulator_rows), "per array, each of cols x 32 bits (int32 or fp32)"},
    {"mxu.weight_fifo_tiles", kPlain, 1, 1024, kRequired, MEMBER(mxu.weight_fifo_tiles), "per array, tiles between device memory and the array"},

    {"unified_buffer", kBytes, 256, 2 * kGib, kRequired, MEMBER(unified_buffer_bytes), "per core: unified buffer (v1) or VMEM"},
    {"buffer_ports.read", kBytesPerCycle, 1, kMib, kOptional, MEMBER(buffer_ports.read_bytes_per_cycle), "shared by array, vector unit and DMA out; none: every unit has a port of its own"},
    {"buffer_ports.write", kBytesPerCycle, 1, kMib, kOptional, MEMBER(buffer_ports.write_bytes_per_cycle), "shared by vector unit and DMA in; none: every unit has a port of its own"},

    {"memory.size", kBytes, kMib, kKib * kGib, kRequired, MEMBER(memory.bytes), "device memory: DDR or HBM, shared by all cores"},
    {"memory.bandwidth", kBytesPerSecond, kMega, 100 * kTera, kRequired, MEMBER(memory.bytes_per_second), "peak, of all channels together"},
    {"memory.latency", kPicoseconds, 0, kMs / 10, kRequired, MEMBER(memory.latency_ps), "from asking to the first byte"},
    {"memory.channels", kPlain, 1, 1024, kOptional, MEMBER(memory.channels), "a transfer uses all of them, in turns"},
    {"memory.channel_interleave", kBytes, 16, kMib, kOptional, MEMBER(memory.channel_interleave), "in one channel before the next one"},
    {"memory.efficiency", kPercent, 1, 100, kOptional, MEMBER(memory.efficiency_percent), "of the bandwidth, for reasons not modelled"},
    {"memory.refresh_interval", kPicoseconds, kNs, kKilo * kMs, kOptional, MEMBER(memory.refresh_interval_ps), "each begins with a refresh"},
    {"memory.refresh_duration", kPicoseconds, 1, kKilo * kMs, kOptional, MEMBER(memory.refresh_duration_ps), "of a refresh, in which the memory stands still"},

    {"cmem.size", kBytes, kKib, 16 * kGib, kWithSection, MEMBER(cmem.bytes), "a second memory on the chip, between unified buffer and device memory (v4, v4i)"},
    {"cmem.bandwidth", kBytesPerSecond, kMega, 100 * kTera, kWithSection, MEMBER(cmem.bytes_per_second), "of CMEM"},
    {"cmem.latency", kPicoseconds, 0, kMs / 10, kWithSection, MEMBER(cmem.latency_ps), "of CMEM"},

    {"vector.lanes", kPlain, 1, 65536, kRequired, MEMBER(vector.lanes), "elements per cycle"},
    {"vector.latency", kCycles, 1, 10000, kRequired, MEMBER(vector.latency_cycles), "from the last operand to the result in the buffer"},
    {"vector.fixed_pipeline", kPlain, 0, 0, kOptional, MEMBER(vector.fixed_pipeline), "a chain of operations costs one pass (v1); otherwise each of its steps does"},
    {"vector.transcendental_lanes", kPlain, 0, 65536, kOptional, MEMBER(vector.transcendental_lanes), "elements per cycle of a step such as exp_f, without fixed pipeline; 0: as vector.lanes"},
    {"vector.drain_lanes", kPlain, 1, 65536, kOptional, MEMBER(vector.drain_lanes), "elements per cycle of the drain of one array; lanes / drain_lanes drains run at a time; none: mxu.cols, at most vector.lanes"},

    {"dma.in_flight", kPlain, 1, 1024, kOptional, MEMBER(dma.in_flight), "transfers that a DMA engine has under way at a time; they retire in order"},

    {"host.bandwidth", kBytesPerSecond, kMega, 10 * kTera, kRequired, MEMBER(host.bytes_per_second), "of the bus, in each direction"},
    {"host.latency", kPicoseconds, 0, kMs, kRequired, MEMBER(host.latency_ps), "of one access over the bus"},
    {"host.cpu_clock", kHertz, kMega, 10 * kGiga, kRequired, MEMBER(host.cpu_clock_hz), "of the CPU that runs the firmware"},

    {"sequencer.queue_entries", kPlain, 1, 4096, kRequired, MEMBER(sequencer.queue_entries), "instructions in the queue of each unit"},
    {"sequencer.layer_sync", kPlain, 0, 0, kOptional, MEMBER(sequencer.layer_sync), "a layer is issued after the one before has finished (v1); otherwise issue runs ahead"},
    {"sequencer.program_launch", kPicoseconds, 0, kMs, kOptional, MEMBER(sequencer.program_launch_ps), "from the start of a program to the fetch of its first instruction, in every core"},
    {"sequencer.kernel_launch", kPicoseconds, 0, kMs, kOptional, MEMBER(sequencer.kernel_launch_ps), "of an instruction `launch`, which stands before each kernel of a core; 0: there is none"},
    {"sequencer.sync_latency", kPicoseconds, 0, kMs, kOptional, MEMBER(sequencer.sync_latency_ps), "from the last flag of a synchronisation to the next issue"},
    {"sequencer.cross_core_latency", kPicoseconds, 0, kMs, kOptional, MEMBER(sequencer.cross_core_latency_ps), "from the raise of a flag to its visibility in another core"},
    {"sequencer.watchdog", kCycles, kKilo, kTera, kRequired, MEMBER(sequencer.watchdog_cycles), "a program that takes longer ends with an error"},

    {"published.peak", kOpsPerSecond, 1, kMega * kTera, kOptional, MEMBER(published.peak_ops_per_second), "of the whole chip; for comparison only"},
    {"published.peak_int8", kOpsPerSecond, 1, kMega * kTera, kOptional, MEMBER(published.peak_int8_ops_per_second), "of a bf16 chip in int8; for comparison only"},
    {"published.bandwidth", kBytesPerSecond, 1, 100 * kTera, kOptional, MEMBER(published.memory_bytes_per_second), "of device memory; for comparison only"},
    {"published.ridge", kOpsPerByte, 1, kMega, kOptional, MEMBER(published.ridge_ops_per_byte), "a multiply-accumulate counts as two; for comparison only"},
};
// clang-format on
#undef MEMBER

/// Rows know how to reach a member of a chip that may be changed; here it is only read.
FigureMember member_of(const ChipFigure& figure, const ChipConfig& chip) {
    return figure.member(const_cast<ChipConfig&>(chip));
}

template <typename T>
bool holds(const ChipFigure& figure) {
    static const ChipConfig any;
    return std::holds_alternative<T*>(member_of(figure, any));
}

const ChipConfig& defaults() {
    static const ChipConfig chip;
    return chip;
}

std::string range_text(const ChipFigure& figure) {
    if (figure.is_text()) return "";
    if (figure.is_flag()) return "`true`, `false`";
    if (figure.is_dtype()) return "`int8`, `bf16`";
    return fmt::format("{} to {}", base::format_quantity(figure.low, figure.dimension),
                       base::format_quantity(figure.high, figure.dimension));
}

std::string default_text(const ChipFigure& figure) {
    switch (figure.presence) {
        case kRequired:
            return "required";
        case kWithSection:
            return fmt::format("required in `{}`, which may be left out", figure.section());
        case kOptional:
            return figure.written(defaults());
    }
    return {};
}

}  // namespace

std::string_view ChipFigure::section() const {
    const size_t dot = path.find('.');
    return dot == std::string_view::npos ? "" : path.substr(0, dot);
}

std::string_view ChipFigure::key() const {
    const size_t dot = path.find('.');
    return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

bool ChipFigure::is_text() const { return holds<std::string>(*this); }
bool ChipFigure::is_flag() const { return holds<bool>(*this); }
bool ChipFigure::is_dtype() const { return holds<Dtype>(*this); }

uint64_t ChipFigure::value(const ChipConfig& chip) const {
    return std::visit(
        []<typename T>(const T* figure) -> uint64_t {
            if constexpr (std::is_same_v<T, std::string>)
                return 0;
            else
                return static_cast<uint64_t>(*figure);
        },
        member_of(*this, chip));
}

std::string ChipFigure::written(const ChipConfig& chip) const {
    if (is_text()) return *std::get<std::string*>(member_of(*this, chip));
    const uint64_t number = value(chip);
    if (is_flag()) return number != 0 ? "true" : "false";
    if (is_dtype()) return std::string(to_string(static_cast<Dtype>(number)));
    const bool absent = presence != kRequired && number < low;
    return absent ? "none" : base::format_quantity(number, dimension);
}

void ChipFigure::read(ChipConfig& chip, const std::string& text, const base::Refuse& refuse) const {
    const FigureMember target = member(chip);
    if (is_text()) {
        *std::get<std::string*>(target) = text;
    } else if (is_flag()) {
        if (text != "true" && text != "false") refuse("true or false", '"' + text + '"');
        *std::get<bool*>(target) = text == "true";
    } else if (is_dtype()) {
        const auto dtype = parse_dtype(text);
        if (!dtype) refuse("int8 or bf16", text);
        *std::get<Dtype*>(target) = *dtype;
    } else {
        const uint64_t number = base::quantity_between(text, dimension, low, high, refuse);
        std::visit(
            [&]<typename T>(T* figure) {
                if constexpr (std::is_arithmetic_v<T>) *figure = static_cast<T>(number);
            },
            target);
    }
}

bool ChipFigure::has_default_value(const ChipConfig& chip) const {
    return presence != kRequired && value(chip) == value(defaults());
}

std::span<const ChipFigure> chip_figures() { return kFigures; }

const ChipFigure* find_figure(std::string_view path) {
    const auto found = std::ranges::find(kFigures, path, &ChipFigure::path);
    return found == std::end(kFigures) ? nullptr : found;
}

std::vector<std::string> settable_paths() {
    std::vector<std::string> paths;
    for (const ChipFigure& figure : kFigures)
        if (!figure.is_text()) paths.emplace_back(figure.path);
    return paths;
}

std::string chip_figures_markdown() {
    std::string table = "| key | what | unit | range | default |\n|---|---|---|---|---|\n";
    for (const ChipFigure& figure : kFigures)
        table += fmt::format("| `{}` | {} | {} | {} | {} |\n", figure.path, figure.text,
                             figure.is_number() ? base::unit_names(figure.dimension) : "",
                             range_text(figure), default_text(figure));
    return table;
}

}  // namespace tandem::arch
