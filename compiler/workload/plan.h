// SPDX-License-Identifier: Apache-2.0
// How a workload is laid out on a chip: which core does what, what stays in the unified buffer, in
// which pieces the rest goes through it. All mistakes are told here, before any work is done.
//
// Rules, the same for every workload (docs/timing_model.md):
//   cores   share the rows of a layer, or its columns, whichever moves fewer bytes; rows if equal
//   buffer  what a layer writes stays there for the next one if both fit; else it goes through
//           device memory: in chunks of rows with all K, for which the weights come again, or in
//           slices of K, which come again for every wave of column tiles, whichever moves fewer
//           bytes. Of either there are two in the buffer, so that transfers overlap with work
//   CMEM    holds the weights of a network if all of them fit
#pragma once

#include <cstdint>
#include <vector>

#include "arch/chip_config.h"
#include "workload/workload.h"

namespace tandem::compiler {

/// Where the activations of a layer come from or go to.
enum class Place : uint8_t { kBuffer, kMemory, kHost };

/// One core's share of a layer. Bytes are of the whole share.
struct LayerPlan {
    uint64_t rows = 0, cols = 0;        ///< of one product; 0 rows: this core has nothing to do
    uint64_t k_tiles = 0, n_tiles = 0;  ///< n_tiles: of all groups
    uint64_t tile_offset = 0;  ///< of its first weight tile, in bytes from the weights' base
    Place input = Place::kBuffer, output = Place::kBuffer;
    uint64_t input_bytes = 0, output_bytes = 0;  ///< as they stand in the buffer
    uint64_t bytes_in = 0, bytes_out = 0;        ///< that come and go, if they do
    uint32_t input_address = 0, output_address = 0;
    uint64_t chunk_rows = 0;  ///< rows of the product done at a time
    /// Not 0: the input comes anew for each wave of blocks, so many K tiles at a time.
    uint64_t slice_tiles = 0;
    uint64_t buffer_bytes = 0;  ///< in use at the same time
};

struct WorkloadPlan {
    std::vector<LayerPlan> layers;
    uint64_t weight_bytes = 0;  ///< tiles of all layers
    bool weights_in_cmem = false;
    uint64_t peak_buffer_bytes = 0;
};

/// Rows of a chunk are cut so that a block fits half of the accumulators, and further if arrays
/// would else have nothing to do, as long as a block is no shorter than the array is deep. All
/// chunks of a layer are cut alike.
uint64_t row_blocks(const LayerPlan& layer, const arch::ChipConfig& chip);

/// Blocks that run at the same time, one on each array, make a wave; so many waves has a chunk.
uint64_t waves_of_chunk(const LayerPlan& layer, const arch::ChipConfig& chip);

/// The plan of core `core`. Throws UserError naming the layer that does not fit.
WorkloadPlan plan_workload(const workload::Workload& workload, const arch::ChipConfig& chip,
                           uint32_t core);

}  // namespace tandem::compiler
