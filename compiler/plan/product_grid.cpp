// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/product_grid.h"

#include <algorithm>

namespace tandem::compiler {

BlockGrid grid_of(const CorePlan& share, uint64_t chunk_rows, const arch::ChipConfig& chip) {
    const Dealing& dealing = share.dealing;
    BlockGrid grid;
    grid.rows = chunk_rows;
    grid.tiles = share.tiles.size();
    grid.arrays = dealing.arrays;
    if (dealing.blocks == 0) {
        grid.blocks = row_blocks(chunk_rows, grid.tiles, dealing.block_rows, chip);
        grid.rest_blocks = grid.blocks;
    } else {
        grid.blocks = std::min(dealing.blocks, chunk_rows);
        grid.rest_blocks = std::min(dealing.rest_blocks, chunk_rows);
    }
    return grid;
}

}  // namespace tandem::compiler
