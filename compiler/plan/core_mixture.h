// SPDX-License-Identifier: Apache-2.0
// How many cores share each kernel of a chain: dynamic programming over the kernels, from plans in
// which all kernels have the same. Cores have no way to each other's buffers: where the number
// changes, what lives across goes through memory.
#pragma once

#include <vector>

#include "compiler/plan/outline.h"
#include "compiler/plan/visit_cost.h"

namespace tandem::compiler {

/// A plan of all kernels at once on so many cores.
struct CoreChoice {
    uint32_t cores = 1;
    std::vector<double> kernels;  ///< cycles of each
    const Plan* plan = nullptr;
};

/// Fills `cores` of the outline; false: all kernels have the same.
bool mix_cores(const KernelGraph& graph, const VisitCost& cost,
               const std::vector<CoreChoice>& choices, Outline& outline);

}  // namespace tandem::compiler
