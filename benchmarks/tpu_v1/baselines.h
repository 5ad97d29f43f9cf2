// SPDX-License-Identifier: Apache-2.0
// What a simulator has to beat: Table 3 by the roofline, and by a napkin of three terms. Both take
// the sizes of the application files, as the model does, and nothing of the model.
#pragma once

#include <cstdint>
#include <string>

#include "benchmarks/tpu_v1/counters.h"

namespace tandem::tpu_v1 {

/// What a layer waits for the one before, in cycles of 700 MHz: the median of the paper's row 7
/// (see derive_sync_latency). The other two constants, the fetch of a tile (1349 cycles on TPU v1)
/// and the bus to the host (10 GiB/s), are a chip's own.
inline constexpr double kNapkinLayerCycles = 3265;
inline constexpr int kNapkinConstants = 3, kNapkinCalibrated = 1;

/// One application by a formula.
struct Estimate {
    double seconds = 0;
    double cycles = 0;
    double cycles_per_tile = 0;
    Rows rows{};  ///< 1, 4, 5, 6; the others are 0
};

/// The longer of all multiply-accumulates at peak (wide activations take two passes) and all
/// weights at the memory's bandwidth. Nothing else takes time; where the memory is what it waits
/// for, tiles shift in for as many cycles as the array has rows.
Estimate roofline(const tables::Workload& workload, const arch::ChipConfig& chip);

/// 1349 cycles per tile + 3265 per layer + bytes of input and output / 10 GiB/s, on TPU v1. A tile
/// with more rows than 1349 takes its rows; that is no constant. A layer's wait is a time that does
/// not follow the clock.
Estimate napkin(const tables::Workload& workload, const arch::ChipConfig& chip);

using Formula = Estimate (*)(const tables::Workload&, const arch::ChipConfig&);

using Estimates = std::array<Estimate, kApplications>;
Estimates estimate_all(const Workloads& workloads, const arch::ChipConfig& chip, Formula by);
Cells cells_of(const Estimates& estimates);
double largest_tile_error_percent(const Estimates& estimates);

}  // namespace tandem::tpu_v1
