// SPDX-License-Identifier: Apache-2.0
// What no plan of a kernel can go below on a chip, where values lie as the plan says: cycles of
// every part of the chip, bytes (docs/bounds.md). Latencies, fill and tail are not in it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "arch/chip_config.h"
#include "compiler/lower/kernels.h"
#include "compiler/plan/plan.h"

namespace tandem::compiler {

/// Least times of one kernel, all its repetitions, or of several.
struct Bounds {
    // Cycles, were all cores and arrays that take part busy to the end.
    double arrays = 0;  ///< of matrix products: tiles x max(rows, R + 1)
    double vector = 0;  ///< of vector kernels: elements / lanes for each step of their chains
    double drain = 0;   ///< of sums out of the accumulators
    // Cycles of the memories, at their bandwidth. Where weights and activations share one and could
    // be traded for each other, these two are the cheapest way: their sum is a bound, not each.
    double weights = 0, activations = 0;
    double device_memory = 0, cmem = 0;  ///< of the two, by where the bytes lie
    double host_in = 0, host_out = 0;    ///< of the bus, each direction
    // Cycles of the sequencer.
    double synchronisation = 0, launch = 0;

    // Bytes.
    uint64_t compulsory = 0;    ///< input, whole weight tiles and output, each once; host too
    uint64_t least_memory = 0;  ///< between device memory or CMEM and the chip
    uint64_t least_host_in = 0, least_host_out = 0;  ///< over the bus

    double compute() const { return arrays + vector; }
    double host() const;
    uint64_t least() const { return least_memory + least_host_in + least_host_out; }
    /// Cycles of a run of nothing else: what is behind the launch, and before the last
    /// synchronisation, adds to them.
    double cycles() const;
    /// The largest: compute, weights, activations, drain, host, synchronisation or launch.
    std::string_view name() const;
    /// Cycles of the busiest part of the chip, whatever else runs beside.
    double busiest() const;

    Bounds& operator+=(const Bounds& other);
    /// The bounds of so many runs.
    Bounds& operator*=(uint64_t runs);
};

/// Kernel by kernel.
std::vector<Bounds> lower_bounds(const KernelGraph& graph, const Plan& plan,
                                 const arch::ChipConfig& chip);

}  // namespace tandem::compiler
