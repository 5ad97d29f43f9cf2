// SPDX-License-Identifier: Apache-2.0
// Which kernels the batch goes through in how many rounds: dynamic programming over the kernels,
// from plans in which all have the same.
#pragma once

#include <vector>

#include "compiler/plan/outline.h"
#include "compiler/plan/visit_cost.h"

namespace tandem::compiler {

/// A plan of all kernels in so many rounds.
struct RoundChoice {
    uint32_t rounds = 1;
    std::vector<double> kernels;  ///< cycles of all rounds of each
    const Plan* plan = nullptr;
};

/// Fills segments and `spilled` of the outline.
void mix_rounds(const KernelGraph& graph, const arch::ChipConfig& chip, const VisitCost& cost,
                const std::vector<RoundChoice>& choices, Outline& outline);

}  // namespace tandem::compiler
