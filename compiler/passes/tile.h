// SPDX-License-Identifier: Apache-2.0
// Cuts matrix products into what the array takes at once: K tiles of its rows, N tiles of its
// columns, M blocks of at most half the accumulators, so that one block is drained while the next
// one is computed.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/chip_config.h"
#include "compiler/passes/legal_graph.h"

namespace tandem::compiler {

/// Rows m_start.. of the product for one N tile: all K tiles one after the other.
struct MatmulBlock {
    uint32_t group = 0;
    uint32_t n_start = 0, n_len = 0;  ///< columns of the group
    uint64_t m_start = 0;
    uint32_t m_len = 0;
    uint32_t first_tile = 0;  ///< of this block's K tiles, among the tiles of the node
    uint32_t k_tiles = 0;
    bool loads_weights = true;  ///< false: the tile of the block before stays in the array
};

/// Consecutive tiles that one instruction fetches, for the blocks from `first_block` on.
struct WeightRun {
    uint32_t first_tile = 0;
    uint32_t tiles = 0;
    uint32_t first_block = 0;
};

struct TilePlan {
    std::vector<MatmulBlock> blocks;  ///< in the order of execution
    std::vector<WeightRun> runs;
    std::vector<uint8_t> weights;  ///< tiles of rows x cols elements, in the order of first use
};

TilePlan plan_tiles(const MatmulOp& op, const arch::ChipConfig::Mxu& mxu);

/// Rows after which a block's results are worth draining although the block goes on: enough to
/// outweigh the array's latency, a block being split into at most four parts.
std::vector<uint32_t> split_rows(uint32_t rows, const arch::ChipConfig::Mxu& mxu);

}  // namespace tandem::compiler
