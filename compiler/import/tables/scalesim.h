// SPDX-License-Identifier: Apache-2.0
// Closed forms for the cycles of one layer on a weight-stationary array that never waits for
// memory: as SCALE-Sim counts them, and as our array has them. Layers without a product take none.
// Rows of arrays and columns: 1 to 65536.
#pragma once

#include <cstdint>

#include "compiler/graph/operators.h"

namespace tandem::tables {

/// Weight tiles of all groups.
uint64_t weight_tiles(const compiler::Counts& layer, uint32_t rows, uint32_t cols);

/// What SCALE-Sim v2 reports as the layer's total cycles with dataflow `ws` when its buffers never
/// stall: ceil(K/R) * ceil(N/C) * (2R + C + M - 2) - 1. One fold after the other: R cycles for the
/// weights, then M + R + C - 2 for the rows and the drain (scalesim/compute/systolic_compute_ws.py,
/// create_filter_demand_mat); the report holds the number of the last of these cycles, counted from
/// 0 (scalesim/memory/double_buffered_scratchpad_mem.py, total_cycles), hence the -1, once per
/// layer.
///
/// Groups count as layers of their own, as SCALE-Sim splits them, and so do repeats; SCALE-Sim
/// knows nothing of `passes`.
uint64_t scalesim_ws_cycles(const compiler::Counts& layer, uint32_t rows, uint32_t cols);

/// Edges of our array from the first weight beat to the last accumulator commit (the number of the
/// latter's edge if the former's is 0), with all tiles at the weight port and all rows at the
/// activation port from the start: 2R + C + M + (T - 1) * max(M, R + 1) for T tiles of M rows each.
/// The first tile takes R edges, its rows enter from the next one, each tile after it swaps
/// max(M, R + 1) edges later, and the last row is in its accumulator R + C + 1 edges after its
/// entry (docs/timing.md).
///
/// M is one block, as if the accumulators held it all. The tiles of all groups follow one another;
/// `passes` multiplies the rows; repeats do not overlap.
uint64_t double_buffered_cycles(const compiler::Counts& layer, uint32_t rows, uint32_t cols);

}  // namespace tandem::tables
