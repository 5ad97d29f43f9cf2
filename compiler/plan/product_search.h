// SPDX-License-Identifier: Apache-2.0
// Chooses how one core does its share of a product. Candidates are divisions of the problem, not
// fillings of the machine: a larger machine has all of a smaller one's. Of those that fit the one
// with the least cost (product_cost.h) is taken, to which every doubling of arrays or
// accumulators adds a little: more machine is taken where the gain exceeds the formula's error.
#pragma once

#include <array>
#include <map>
#include <vector>

#include "compiler/plan/pieces.h"
#include "compiler/plan/product_cost.h"

namespace tandem::compiler {

/// What has been found for products of the same sizes in the same room, on one chip.
class ProductMemo {
  public:
    using Key = std::array<uint64_t, 32>;
    struct Found {
        bool fits = false;
        ProductSchedule schedule;
        double cycles = 0;
    };
    std::map<Key, Found> found;
};

/// What a doubling of arrays, or of accumulator rows that a block takes, has to gain.
inline constexpr double kSearchMargin = 0.01;
/// Weight tiles per array that are asked for ahead, and what a deeper FIFO has to gain: more that
/// come early stand in the way of inputs and results, of which the formula knows nothing.
inline constexpr uint32_t kWeightsAhead = 4;
inline constexpr double kDeepMargin = 0.1;

/// By which candidates are compared.
double search_score(double cycles, uint64_t arrays, uint64_t block_rows, uint32_t weights_ahead);

/// As cut_into_pieces(); the share is not empty.
bool search_product(const Kernel& kernel, const KernelGraph& graph,
                    const std::vector<ColumnTile>& tiles, const arch::ChipConfig& chip,
                    const PieceRequest& request, CorePlan& share);

}  // namespace tandem::compiler
