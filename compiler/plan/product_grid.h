// SPDX-License-Identifier: Apache-2.0
// The blocks of a chunk of a product. A block is some rows of one column tile, for all K. Column
// tiles go to the arrays in turns, all row blocks of a tile to the same one, so that a single K
// tile can stay; the tiles that are left over are shared by row blocks. Blocks that run at the same
// time, one on each array, make a wave.
#pragma once

#include "compiler/plan/plan.h"

namespace tandem::compiler {

struct BlockGrid {
    uint64_t rows = 0, tiles = 0, arrays = 1;
    uint64_t blocks = 1;       ///< row blocks of the column tiles that come in full waves
    uint64_t rest_blocks = 1;  ///< of those that are left over

    uint64_t full() const { return tiles / arrays; }
    uint64_t rest() const { return tiles % arrays; }
    uint64_t waves() const {
        return full() * blocks + (rest() * rest_blocks + arrays - 1) / arrays;
    }
};

/// The grid of a chunk with so many rows.
BlockGrid grid_of(const CorePlan& share, uint64_t chunk_rows, const arch::ChipConfig& chip);

}  // namespace tandem::compiler
