// SPDX-License-Identifier: Apache-2.0
// What lies in CMEM instead of device memory: weights, if all of them fit, and behind them values
// that go through memory between kernels (--plan search), those that move most bytes first, each if
// the kernels that use it gain by it. Values that do not live at the same time may share a place.
#pragma once

#include <vector>

#include "base/divide.h"
#include "compiler/plan/outline.h"
#include "compiler/plan/plan.h"

namespace tandem::compiler {

inline constexpr uint64_t kMemoryAlignment = 64;  ///< bytes; of weights and values in memories

/// Bytes that something takes in a memory, or the first address from `bytes` on.
inline uint64_t memory_aligned(uint64_t bytes) {
    return base::divide_up(bytes, kMemoryAlignment) * kMemoryAlignment;
}

/// Bytes of device memory from the data's base on; CMEM begins behind them.
uint64_t room_for_data(const arch::ChipConfig& chip, const PlanOptions& options);

/// All weights of a chained graph do, or none; chosen before anything is known of values.
bool weights_lie_in_cmem(const KernelGraph& graph, const arch::ChipConfig& chip,
                         const PlanOptions& options, const Plan& plan);

/// Sets in_cmem, shares_place and memory_offset of the values, of which it is known whether they
/// stay in the buffer, and the plan's cmem.
void lay_out_cmem(const KernelGraph& graph, const arch::ChipConfig& chip,
                  const PlanOptions& options, const std::vector<Uses>& uses, Plan& plan);

}  // namespace tandem::compiler
