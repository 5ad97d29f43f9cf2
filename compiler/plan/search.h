// SPDX-License-Identifier: Apache-2.0
// The search over a graph as a whole: cores of each kernel, rounds of the batch. How a product goes
// through the room that it is given is searched kernel by kernel (product_search.h).
#pragma once

#include "compiler/plan/outline.h"

namespace tandem::compiler {

struct SearchedPlan {
    Outline outline;
    Plan plan;
};

/// The plan of the least predicted cycles. Throws UserError for a graph of which no plan fits.
SearchedPlan search_plan(const KernelGraph& graph, const arch::ChipConfig& chip,
                         const PlanOptions& options);

/// Cycles that the closed form predicts for a plan, launches, synchronisation and the host's input
/// included.
double predicted_cycles(const KernelGraph& graph, const arch::ChipConfig& chip, const Plan& plan);

}  // namespace tandem::compiler
