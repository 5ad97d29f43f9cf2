// SPDX-License-Identifier: Apache-2.0
// Chooses how one core does its share of a product. Candidates are divisions of the problem, not
// fillings of the machine: a larger machine has all of a smaller one's. Of those that fit the one
// with the least cost (product_cost.h) is taken, to which every doubling of arrays, accumulators
// or buffer adds a little: more machine is taken where the gain exceeds the formula's error.
#pragma once

#include "compiler/plan/pieces.h"

namespace tandem::compiler {

/// What a doubling of arrays, or of accumulator rows that a block takes, has to gain.
inline constexpr double kSearchMargin = 0.01;

/// As cut_into_pieces(); the share is not empty.
bool search_product(const Kernel& kernel, const KernelGraph& graph,
                    const std::vector<ColumnTile>& tiles, const arch::ChipConfig& chip,
                    const PieceRequest& request, CorePlan& share);

}  // namespace tandem::compiler
