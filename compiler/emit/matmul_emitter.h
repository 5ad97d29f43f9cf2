// SPDX-License-Identifier: Apache-2.0
// One core's share of a matrix product, wave by wave. A wave is one block (some rows, one column
// tile, all K) for each array. Column tiles go to the arrays in turns, all row blocks of a tile to
// the same one, so that a single K tile can stay; the tiles that are left over are shared by row
// blocks.
#pragma once

#include <vector>

#include "compiler/emit/core_emitter.h"

namespace tandem::compiler {

class MatmulEmitter {
  public:
    MatmulEmitter(CoreEmitter& core, const Visit& visit);

    /// Emits the next wave, with what has to come before and behind it; false: there is none.
    bool advance();

    /// Weights of the first wave, ahead of the visit; one of which this core does nothing: none.
    static void fetch_first_wave(CoreEmitter& core, const Visit& visit);

  private:
    struct Block {
        uint32_t array = 0;
        const ColumnTile* tile = nullptr;
        uint64_t tile_index = 0;  ///< among those of the share
        uint64_t row_block = 0;
        uint64_t row = 0;  ///< first one, in the chunk
        uint32_t rows = 0;
        uint32_t accumulators = 0;
        uint64_t slot = 0;  ///< bytes in front of its results in the area of a wave
    };
    using Wave = std::vector<Block>;

    const MatmulWork& work() const { return *kernel_.matmul(); }
    const ImageWindow& window() const { return work().window; }
    int32_t node() const { return static_cast<int32_t>(visit_.kernel); }
    uint64_t element_bytes() const { return window().element_bytes; }
    const Chunk& chunk() const { return share_.chunks[chunk_]; }
    uint64_t chunk_rows() const { return chunk().lines.size() * window().out_w; }
    uint64_t blocks() const;
    uint64_t waves_of_chunk() const;

    Wave wave_at(uint64_t index) const;
    void begin_chunk();
    void end_chunk();
    void load_chunk(size_t chunk);
    bool loads_tiles(const Block& block) const;
    void fetch(const Wave& wave);
    /// First of a column's tiles, from the data's base on.
    uint64_t weights_of(const Block& block) const;
    void fetch_next();
    void multiply(Wave& wave);
    /// K tiles first to end - 1, of which the first one begins the rows at `address`.
    void multiply_tiles(const Wave& wave, uint64_t first, uint64_t end, uint32_t address);
    void multiply(const Block& block, uint64_t k_tile, uint32_t address, uint64_t k_origin);
    void emit_matmul(const Block& block, uint64_t k_tile, uint32_t address, uint64_t k_origin,
                     uint32_t row, uint32_t rows);
    /// Rows after which a block's results are worth draining although the block goes on: enough to
    /// outweigh the array's latency, a block being split into at most four parts.
    std::vector<uint32_t> split_rows(uint32_t rows) const;

    // In matmul_results.cpp.
    void drain(const Wave& wave);
    void requantise(const Block& block, uint32_t row, uint32_t rows);
    void store(const Wave& wave);

    // With an input that comes in slices of K.
    uint64_t slices_of_wave() const;
    uint64_t slice_elements(uint64_t slice_of_wave) const;
    void multiply_slices(const Wave& wave, uint64_t k_tiles);
    void load_slice(uint64_t slice);
    void use_slice_window(uint64_t slice_of_wave);

    uint32_t input_address() const;
    uint64_t out_row_bytes() const;
    struct Destination {
        uint64_t address = 0, stride = 0;
    };
    Destination destination(const Block& block, uint32_t row) const;
    uint64_t slot_of(const Block& block) const;
    /// Of its first column in an output row.
    uint64_t channel_byte(const Block& block) const;
    bool follows(const Block& before, const Block& block) const;
    static Range rows_of(const Wave& wave);

    CoreEmitter& core_;
    const Visit visit_;
    const Kernel& kernel_;
    const KernelPlan& plan_;
    const CorePlan& share_;
    const arch::ChipConfig& chip_;
    size_t chunk_ = 0;
    uint64_t wave_ = 0;
    uint64_t waves_done_ = 0;  ///< of all chunks
    uint64_t slices_used_ = 0;
    bool begun_ = false;
    Range wave_rows_;  ///< with slices: of the chunk, that stand in the buffer
};

}  // namespace tandem::compiler
