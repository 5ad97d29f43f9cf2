// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/tpu_v1/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/divide.h"

namespace tandem::tpu_v1 {
namespace {

/// Cycles from the last row of a layer at the array until the next layer may issue: the array
/// empties, the vector unit stores the last block, the synchronisation takes its time.
uint64_t dependency_cycles(const tables::Layer& layer, const arch::ChipConfig& chip) {
    if (layer.m == 0)
        return base::divide_up(layer.elements * layer.passes, chip.vector.lanes) +
               chip.vector.latency_cycles + chip.sync_cycles();
    const uint64_t blocks = base::divide_up(layer.m, chip.mxu.accumulator_rows / 2);
    return chip.mxu.rows + chip.mxu.cols + 1 + layer.m / blocks * layer.passes + chip.sync_cycles();
}

}  // namespace

double Measured::macs_per_weight() const {
    return static_cast<double>(result.macs) / static_cast<double>(weights_of(workload));
}

uint64_t weights_of(const tables::Workload& workload) {
    uint64_t weights = 0;
    for (const auto& layer : workload.layers) weights += layer.weights();
    return weights;
}

Workloads load_applications(const std::filesystem::path& directory) {
    Workloads workloads;
    for (const auto& paper : kPaper)
        workloads.push_back(tables::load_application(directory / paper.file));
    return workloads;
}

Measured measure(const tables::Workload& workload, const arch::ChipConfig& chip,
                 compiler::PlanMode plan) {
    Measured m{.workload = workload, .result = run::time_list_apart(workload, chip, plan)};
    const auto percent = [&](double cycles) { return 100 * cycles / m.cycles(); };
    const auto cause = [&](const char* name) {
        return percent(static_cast<double>(m.result.cause("mxu", name)));
    };
    // The array works in every pass; a second pass is the other half of wide activations.
    double worked = 0, dependencies = 0;
    for (const auto& layer : workload.layers) {
        worked += static_cast<double>(layer.macs() * layer.passes);
        dependencies += static_cast<double>(dependency_cycles(layer, chip));
    }
    const double array = static_cast<double>(chip.mxu.rows) * chip.mxu.cols;
    m.rows[kActive] = cause("busy");
    m.rows[kUseful] = m.rows[kActive] * worked / (static_cast<double>(m.result.rows) * array);
    m.rows[kUnused] = m.rows[kActive] - m.rows[kUseful];
    m.rows[kWeightStall] = cause("wait_weights");
    m.rows[kWeightShift] = cause("wait_shift");
    m.rows[kNonMatrix] = 100 - m.rows[kActive] - m.rows[kWeightStall] - m.rows[kWeightShift];
    m.rows[kRaw] = percent(dependencies);
    m.cycles_per_tile = m.cycles() / static_cast<double>(m.result.tiles);
    m.tops = 2 * static_cast<double>(m.result.macs) / m.result.seconds() / 1e12;
    return m;
}

double input_stall_percent(const Measured& measured, const arch::ChipConfig& chip) {
    tables::Workload without = measured.workload;
    without.host_input_elements = 1;
    const auto cycles =
        static_cast<double>(run::time_list_apart(without, chip, kPlanOf2015).cycles);
    return 100 * (measured.cycles() - cycles) / measured.cycles();
}

Measurements measure_all(const Workloads& workloads, const arch::ChipConfig& chip) {
    Measurements measurements;
    for (const auto& workload : workloads) {
        measurements.push_back(measure(workload, chip));
        measurements.back().rows[kInput] = input_stall_percent(measurements.back(), chip);
    }
    return measurements;
}

Measurements measure_searched(const Workloads& workloads, const arch::ChipConfig& chip) {
    Measurements measurements;
    for (const auto& workload : workloads)
        measurements.push_back(measure(workload, chip, compiler::PlanMode::kSearch));
    return measurements;
}

Cells cells_of(const Measurements& measurements) {
    Cells cells{};
    for (size_t i = 0; i < kApplications; ++i) cells[i] = measurements[i].rows;
    return cells;
}

Deviation deviation(const Cells& cells, Which which) {
    Deviation result;
    double sum = 0, count = 0;
    for (size_t i = 0; i < kApplications; ++i) {
        if (which == Which::kMemoryBound && !kPaper[i].memory_bound()) continue;
        for (const Row row : kCompared) {
            const double points = std::abs(cells[i][row] - kPaper[i].rows[row]);
            sum += points;
            ++count;
            if (points <= result.largest) continue;
            result.largest = points;
            result.where = fmt::format("{} {}", kPaper[i].name, kRowNames[row]);
        }
    }
    result.mean = sum / count;
    return result;
}

Deviation deviation(const Measurements& measurements) { return deviation(cells_of(measurements)); }

double tile_error_percent(size_t application, double cycles_per_tile) {
    return 100 * (cycles_per_tile / kPaper[application].cycles_per_tile() - 1);
}

double largest_tile_error_percent(const Measurements& measurements) {
    double largest = 0;
    for (size_t i = 0; i < kApplications; ++i)
        if (kPaper[i].memory_bound())
            largest =
                std::max(largest, std::abs(tile_error_percent(i, measurements[i].cycles_per_tile)));
    return largest;
}

bool within_bounds(const Measurements& measurements) {
    const Deviation d = deviation(measurements);
    return d.largest <= kCellBoundPoints && d.mean <= kMeanBoundPoints &&
           largest_tile_error_percent(measurements) <= kTileBoundPercent;
}

}  // namespace tandem::tpu_v1
