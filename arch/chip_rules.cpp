// SPDX-License-Identifier: Apache-2.0
#include "arch/chip_rules.h"

#include <fmt/format.h>

#include "arch/chip_figures.h"
#include "arch/chip_modes.h"
#include "base/quantity.h"

namespace tandem::arch {
namespace {

using Breach = std::optional<ChipRule::Breach>;

Breach sum4_is_of_bf16(const ChipConfig& chip) {
    if (!chip.mxu.sum4 || chip.mxu.dtype == Dtype::kBf16) return {};
    return {{"false, or dtype bf16", fmt::format("true with dtype {}", to_string(chip.mxu.dtype))}};
}

/// Four products are one group; a register cannot part them.
Breach sum4_has_no_register_inside(const ChipConfig& chip) {
    if (!chip.mxu.sum4 || chip.mxu.pipeline % 4 == 0) return {};
    return {{"false, or a pipeline that is a multiple of 4",
             fmt::format("true with pipeline {}", chip.mxu.pipeline)}};
}

Breach int8_rate_is_of_bf16(const ChipConfig& chip) {
    if (chip.mxu.int8_rate == 0 || chip.mxu.dtype == Dtype::kBf16) return {};
    return {{"0, or dtype bf16", fmt::format("{} with dtype int8", chip.mxu.int8_rate)}};
}

Breach int8_rows_are_in_range(const ChipConfig& chip) {
    const uint64_t most = find_figure("mxu.rows")->high;
    const uint64_t rows = uint64_t{chip.mxu.rows} * chip.mxu.int8_rate;
    if (rows <= most) return {};
    return {{fmt::format("at most {} rows of int8", most), fmt::format("{}", rows)}};
}

Breach refresh_has_a_duration(const ChipConfig& chip) {
    if (chip.memory.refresh_interval_ps == 0 || chip.memory.refresh_duration_ps != 0) return {};
    return {{"the key", "nothing"}};
}

Breach refresh_has_an_interval(const ChipConfig& chip) {
    if (chip.memory.refresh_duration_ps == 0 || chip.memory.refresh_interval_ps != 0) return {};
    return {{"the key", "nothing"}};
}

Breach refresh_ends_before_the_next(const ChipConfig& chip) {
    const auto text = [](uint64_t ps) {
        return base::format_quantity(ps, base::Dimension::kPicoseconds);
    };
    const auto& memory = chip.memory;
    if (memory.refresh_interval_ps == 0 || memory.refresh_duration_ps < memory.refresh_interval_ps)
        return {};
    return {{fmt::format("less than refresh_interval ({})", text(memory.refresh_interval_ps)),
             text(memory.refresh_duration_ps)}};
}

/// A port that cannot take an element in a cycle.
Breach port_takes_an_element(const ChipConfig& chip, uint32_t width) {
    const uint32_t least = element_bytes(chip.mxu.dtype);
    if (width == 0 || width >= least) return {};
    return {{fmt::format("at least one element of mxu.dtype {} ({} B/cycle)",
                         to_string(chip.mxu.dtype), least),
             fmt::format("{} B/cycle", width)}};
}

Breach read_port_takes_an_element(const ChipConfig& chip) {
    return port_takes_an_element(chip, chip.buffer_ports.read_bytes_per_cycle);
}

Breach write_port_takes_an_element(const ChipConfig& chip) {
    return port_takes_an_element(chip, chip.buffer_ports.write_bytes_per_cycle);
}

Breach drain_has_its_lanes(const ChipConfig& chip) {
    if (chip.vector.drain_lanes <= chip.vector.lanes) return {};
    return {{fmt::format("at most vector.lanes ({})", chip.vector.lanes),
             fmt::format("{}", chip.vector.drain_lanes)}};
}

/// Nothing retires in such a time, so that another core would take it for the end.
template <uint64_t ChipConfig::Sequencer::*time>
Breach ends_before_the_watchdog(const ChipConfig& chip) {
    const uint64_t cycles = chip.cycles_in(chip.sequencer.*time);
    if (cycles < chip.sequencer.watchdog_cycles) return {};
    return {
        {fmt::format("less than sequencer.watchdog ({} cycles)", chip.sequencer.watchdog_cycles),
         fmt::format("{} ({} cycles)",
                     base::format_quantity(chip.sequencer.*time, base::Dimension::kPicoseconds),
                     cycles)}};
}

/// A tile change takes as many cycles as the array has rows; with fewer activation rows at hand the
/// array could never be kept busy.
Breach buffer_holds_a_square(const ChipConfig& chip) {
    const auto int8 = for_dtype(chip, Dtype::kInt8);
    for (const ChipConfig& mode : {chip, int8.value_or(chip)}) {
        const uint64_t least = mode.mxu.rows * mode.row_bytes();
        if (mode.unified_buffer_bytes >= least) continue;
        return {{fmt::format("at least a square of activations for one weight tile ({} x {}, {} B)",
                             mode.mxu.rows, mode.mxu.rows, least),
                 fmt::format("{} B", mode.unified_buffer_bytes)}};
    }
    return {};
}

}  // namespace

std::span<const ChipRule> chip_rules() {
    using Sequencer = ChipConfig::Sequencer;
    static const std::vector<ChipRule> rules = {
        {{"mxu.sum4", "mxu.dtype"}, sum4_is_of_bf16},
        {{"mxu.sum4", "mxu.pipeline"}, sum4_has_no_register_inside},
        {{"mxu.int8_rate", "mxu.dtype"}, int8_rate_is_of_bf16},
        {{"mxu.int8_rate", "mxu.rows"}, int8_rows_are_in_range},
        {{"memory.refresh_duration", "memory.refresh_interval"}, refresh_has_a_duration},
        {{"memory.refresh_interval", "memory.refresh_duration"}, refresh_has_an_interval},
        {{"memory.refresh_duration", "memory.refresh_interval"}, refresh_ends_before_the_next},
        {{"unified_buffer", "mxu.rows", "mxu.dtype", "mxu.int8_rate"}, buffer_holds_a_square},
        {{"buffer_ports.read", "mxu.dtype"}, read_port_takes_an_element},
        {{"buffer_ports.write", "mxu.dtype"}, write_port_takes_an_element},
        {{"vector.drain_lanes", "vector.lanes"}, drain_has_its_lanes},
        {{"sequencer.program_launch", "sequencer.watchdog", "clock"},
         ends_before_the_watchdog<&Sequencer::program_launch_ps>},
        {{"sequencer.kernel_launch", "sequencer.watchdog", "clock"},
         ends_before_the_watchdog<&Sequencer::kernel_launch_ps>},
        {{"sequencer.sync_latency", "sequencer.watchdog", "clock"},
         ends_before_the_watchdog<&Sequencer::sync_latency_ps>},
        {{"sequencer.cross_core_latency", "sequencer.watchdog", "clock"},
         ends_before_the_watchdog<&Sequencer::cross_core_latency_ps>},
    };
    return rules;
}

}  // namespace tandem::arch
