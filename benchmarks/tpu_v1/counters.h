// SPDX-License-Identifier: Apache-2.0
// Our counters in the rows of the paper's Table 3, by one rule for all applications.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "arch/chip_config.h"
#include "benchmarks/tpu_v1/paper_figures.h"
#include "compiler/import/tables/layers.h"
#include "run/graph_run.h"

namespace tandem::tpu_v1 {

/// How the programs were made that the paper counted: the whole input first, layer after layer.
inline constexpr compiler::PlanMode kPlanOf2015 = compiler::PlanMode::kRules;

/// Bounds of the comparison.
inline constexpr double kCellBoundPoints = 8;
inline constexpr double kMeanBoundPoints = 3;
inline constexpr double kTileBoundPercent = 8;

/// One application on a chip.
struct Measured {
    tables::Workload workload;
    run::RunResult result;
    Rows rows{};
    double cycles_per_tile = 0;
    double tops = 0;

    double cycles() const { return static_cast<double>(result.cycles); }
    double inferences_per_second() const {
        return static_cast<double>(workload.batch) / result.seconds();
    }
    double macs_per_weight() const;
};

/// In the order of kPaper.
using Workloads = std::vector<tables::Workload>;
using Measurements = std::vector<Measured>;

Workloads load_applications(const std::filesystem::path& directory);

/// Rows 1 to 7; row 8 takes a second run (input_stall_percent).
Measured measure(const tables::Workload& workload, const arch::ChipConfig& chip,
                 compiler::PlanMode plan = kPlanOf2015);

/// Row 8: what the run would be shorter by if its input were one element, percent.
double input_stall_percent(const Measured& measured, const arch::ChipConfig& chip);

/// All six, with row 8.
Measurements measure_all(const Workloads& workloads, const arch::ChipConfig& chip);

/// All six as the compiler plans them by itself; without row 8.
Measurements measure_searched(const Workloads& workloads, const arch::ChipConfig& chip);

uint64_t weights_of(const tables::Workload& workload);

/// Rows of Table 3 by whatever tells them, in the order of kPaper.
using Cells = std::array<Rows, kApplications>;
Cells cells_of(const Measurements& measurements);

enum class Which : uint8_t { kAll, kMemoryBound };

/// Differences to the paper in rows 1, 4, 5, 6, in points: 24 cells, or 16 of the memory-bound
/// applications.
struct Deviation {
    double mean = 0, largest = 0;
    std::string where;  ///< of the largest: "MLP1 non-matrix"
};
Deviation deviation(const Cells& cells, Which which = Which::kAll);
Deviation deviation(const Measurements& measurements);

/// Against the paper's cycles per weight tile, percent; memory-bound applications only.
double tile_error_percent(size_t application, double cycles_per_tile);
double largest_tile_error_percent(const Measurements& measurements);

/// All three.
bool within_bounds(const Measurements& measurements);

}  // namespace tandem::tpu_v1
