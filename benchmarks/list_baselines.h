// SPDX-License-Identifier: Apache-2.0
// The time of a list of layers by formulas, without a plan and without a simulator: what the model
// has to beat. Both take peak and bandwidth from the chip file, in full.
#pragma once

#include <cstdint>

#include "arch/chip_config.h"
#include "compiler/import/tables/layers.h"

namespace tandem::benchmarks {

/// Bytes of operands and results that go through device memory or CMEM, each once, in elements as
/// wide as the array's. In a chained list only weights do, the first input and the last result.
uint64_t compulsory_bytes(const tables::Workload& list, const arch::ChipConfig& chip);

/// Layer after layer the longest of: multiply-accumulates at peak, compulsory bytes at the device
/// memory's bandwidth, and the part of them that comes from CMEM at its own. Weights of a chained
/// list lie in CMEM as far as they have room there, the same part of each layer's.
double roofline_seconds(const tables::Workload& list, const arch::ChipConfig& chip);

/// 1 us for each layer + multiplying + moving. Multiplying: weight tiles, partly used ones whole,
/// times rows (at least those of a tile), over all arrays. Moving: as for the roofline.
double napkin_seconds(const tables::Workload& list, const arch::ChipConfig& chip);

/// The napkin's one constant that is in no chip file: about the least that one operation is
/// reported to take on a TPU v4 (0.89 us, a fit of measured additions).
inline constexpr double kNapkinLaunchSeconds = 1e-6;

}  // namespace tandem::benchmarks
