// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/tpu_v1/baselines.h"

#include <algorithm>
#include <cmath>

#include "base/divide.h"

namespace tandem::tpu_v1 {
namespace {

double tiles_of(const tables::Layer& layer, const arch::ChipConfig& chip) {
    const uint64_t tiles = base::divide_up(layer.k, uint64_t{chip.mxu.rows}) *
                           base::divide_up(layer.n, uint64_t{chip.mxu.cols}) * layer.groups *
                           layer.repeat;
    return static_cast<double>(tiles);
}

double tiles_of(const tables::Workload& workload, const arch::ChipConfig& chip) {
    double tiles = 0;
    for (const auto& layer : workload.layers) tiles += tiles_of(layer, chip);
    return tiles;
}

/// Cycles in which the memory delivers so many bytes.
double fetch_cycles(double bytes, const arch::ChipConfig& chip) {
    return bytes / static_cast<double>(chip.memory.bytes_per_second) *
           static_cast<double>(chip.clock_hz);
}

double host_bytes(const tables::Workload& workload) {
    const auto& layers = workload.layers;
    return static_cast<double>(workload.host_input_elements * layers.front().passes +
                               workload.host_output_elements * layers.back().passes);
}

/// Cycles of a run, by what the array does in them.
struct Cycles {
    double active = 0, stall = 0, shift = 0, other = 0;

    Estimate estimate(double tiles, const arch::ChipConfig& chip) const {
        Estimate e;
        e.cycles = active + stall + shift + other;
        e.seconds = e.cycles / static_cast<double>(chip.clock_hz);
        e.cycles_per_tile = e.cycles / tiles;
        e.rows[kActive] = 100 * active / e.cycles;
        e.rows[kWeightStall] = 100 * stall / e.cycles;
        e.rows[kWeightShift] = 100 * shift / e.cycles;
        e.rows[kNonMatrix] = 100 * other / e.cycles;
        return e;
    }
};

}  // namespace

Estimate roofline(const tables::Workload& workload, const arch::ChipConfig& chip) {
    const double array = static_cast<double>(chip.mxu.rows) * chip.mxu.cols;
    Cycles cycles;
    double weights = 0;
    for (const auto& layer : workload.layers) {
        cycles.active += static_cast<double>(layer.macs() * layer.passes) / array;
        weights += static_cast<double>(layer.weights() * layer.repeat);
    }
    const double waiting = std::max(0.0, fetch_cycles(weights, chip) - cycles.active);
    cycles.shift = std::min(waiting, chip.mxu.rows * weights / array);
    cycles.stall = waiting - cycles.shift;
    return cycles.estimate(tiles_of(workload, chip), chip);
}

Estimate napkin(const tables::Workload& workload, const arch::ChipConfig& chip) {
    const auto clock = static_cast<double>(chip.clock_hz);
    const double tile = fetch_cycles(static_cast<double>(chip.tile_bytes()), chip);
    Cycles cycles;
    for (const auto& layer : workload.layers) {
        const double tiles = tiles_of(layer, chip);
        const auto rows = static_cast<double>(layer.m * layer.passes);
        const double waiting = std::max(0.0, tile - rows);
        const double shift = std::min(static_cast<double>(chip.mxu.rows), waiting);
        cycles.active += tiles * rows;
        cycles.shift += tiles * shift;
        cycles.stall += tiles * (waiting - shift);
        cycles.other += kNapkinLayerCycles * static_cast<double>(layer.repeat) / kClockHz * clock;
    }
    cycles.other += host_bytes(workload) / static_cast<double>(chip.host.bytes_per_second) * clock;
    return cycles.estimate(tiles_of(workload, chip), chip);
}

Estimates estimate_all(const Workloads& workloads, const arch::ChipConfig& chip, Formula by) {
    Estimates estimates;
    for (size_t i = 0; i < kApplications; ++i) estimates[i] = by(workloads[i], chip);
    return estimates;
}

Cells cells_of(const Estimates& estimates) {
    Cells cells{};
    for (size_t i = 0; i < kApplications; ++i) cells[i] = estimates[i].rows;
    return cells;
}

double largest_tile_error_percent(const Estimates& estimates) {
    double largest = 0;
    for (size_t i = 0; i < kApplications; ++i)
        if (kPaper[i].memory_bound())
            largest =
                std::max(largest, std::abs(tile_error_percent(i, estimates[i].cycles_per_tile)));
    return largest;
}

}  // namespace tandem::tpu_v1
