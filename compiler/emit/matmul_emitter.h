// SPDX-License-Identifier: Apache-2.0
// One core's share of a matrix product, wave by wave (plan/product_grid.h). Of a product that was
// searched transfers stand among the products where they are wanted, the results of a wave are
// drained while the next one begins, and what is written out waits behind it.
#pragma once

#include <vector>

#include "compiler/emit/core_emitter.h"
#include "compiler/emit/input_queue.h"
#include "compiler/plan/product_grid.h"

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
        size_t chunk = 0;
        uint64_t row = 0;  ///< first one, in the chunk
        uint32_t rows = 0;
        uint32_t accumulators = 0;
        uint64_t place = 0;  ///< of its results, where they leave with their wave
    };
    using Wave = std::vector<Block>;

    /// Rows of a block that one instruction takes: they lie side by side in the accumulators.
    struct Part {
        uint32_t row = 0, rows = 0, accumulators = 0;
    };
    struct Drain {
        Block block;
        Part part;
    };
    /// Results that have not been written out: a wave's, or those of all waves of a chunk.
    struct Leaving {
        Wave wave;
        std::optional<size_t> chunk;
        uint64_t last_wave = 0;  ///< as waves_done_ counts
    };

    const MatmulWork& work() const { return *kernel_.matmul(); }
    /// Through which the input is read as it lies in the buffer.
    const ImageWindow& window() const { return window_; }
    int32_t node() const { return static_cast<int32_t>(visit_.kernel); }
    uint64_t element_bytes() const { return window().element_bytes; }
    const Chunk& chunk() const { return share_.chunks[chunk_]; }
    uint64_t rows_of_chunk(size_t chunk) const {
        return share_.chunks[chunk].lines.size() * window().out_w;
    }
    BlockGrid grid() const { return grid_of(share_, rows_of_chunk(chunk_), chip_); }

    Wave wave_at(uint64_t index) const;
    void begin_chunk();
    void end_chunk();
    void load_chunk(size_t chunk);
    void queue_chunk();
    void queue_early(size_t chunk);
    uint64_t early_bytes() const;
    uint64_t late_bytes() const;
    bool loads_tiles(const Block& block) const;
    /// K tiles first to end - 1 of every block.
    void fetch(const Wave& wave, uint64_t first, uint64_t end);
    void fetch_begin(const Wave& wave);
    void fetch_rest(const Wave& wave);
    /// Tiles that are asked for before the first input is there.
    uint64_t tiles_ahead() const;
    /// First of a column's tiles, from the data's base on.
    uint64_t weights_of(const Block& block) const;
    void fetch_next();
    void take_places(Wave& wave);
    void multiply(const Wave& wave, uint64_t k_tiles);
    void multiply_paced(const Wave& wave, uint64_t k_tiles);
    /// K tiles first to end - 1, of which the first one begins the rows at `address`.
    void multiply_tiles(const Wave& wave, uint64_t first, uint64_t end, uint32_t address);
    void set_window_of(const Block& block);
    uint32_t address_of(const Block& block) const;
    void multiply(const Block& block, uint64_t k_tile, uint32_t address, uint64_t k_origin);
    void emit_matmul(const Block& block, uint64_t k_tile, uint32_t address, uint64_t k_origin,
                     const Part& part);
    void pace(uint64_t k_tile, uint64_t k_tiles, uint64_t next_end);
    uint64_t input_end(const Wave& wave) const;
    /// Parts of the first tile wait only for the activations that they need, parts of the last one
    /// let the drain begin early; in between they would be no use.
    std::vector<Part> parts_of_tile(const Block& block, uint64_t k_tile) const;
    /// Parts whose drain is worth its latency, split where the accumulators end.
    std::vector<Part> parts_of(const Block& block, bool whole = false) const;

    // In matmul_results.cpp.
    void queue_drains(const Wave& wave);
    /// Emits the waiting drains up to the last one of these accumulators.
    void drain_before(uint32_t array, const Part& part);
    void drain_all();
    void store_late();
    void store_all();
    void store_leaving(size_t count);
    Access results_of(const Leaving& leaving) const;
    void store_chunk(size_t chunk);
    void requantise(const Block& block, const Part& part);
    void store(const Wave& wave);
    void store_rows(Transfer out);

    // With an input that comes in slices of K: matmul_slices.cpp.
    uint64_t slices_of_wave() const;
    uint64_t slice_elements(uint64_t slice_of_wave) const;
    void multiply_slices(const Wave& wave, uint64_t k_tiles);
    void load_slice(uint64_t slice);
    void use_slice_window(uint64_t slice_of_wave);

    uint32_t input_address() const;
    uint32_t place_of_chunk(size_t chunk) const;
    uint64_t out_row_bytes() const;
    struct Destination {
        uint64_t address = 0, stride = 0;
    };
    Destination destination(const Block& block, uint32_t row) const;
    /// Place of the block's first column in an output row, in bytes.
    uint64_t channel_byte(const Block& block) const;
    bool follows(const Block& before, const Block& block) const;
    bool lies_below(const Block& above, const Block& block) const;
    static Range rows_of(const Wave& wave);

    CoreEmitter& core_;
    const Visit visit_;
    const Kernel& kernel_;
    const KernelPlan& plan_;
    const CorePlan& share_;
    const arch::ChipConfig& chip_;
    const ImageWindow window_;
    size_t chunk_ = 0;
    uint64_t wave_ = 0;
    uint64_t waves_done_ = 0;  ///< of all chunks
    uint64_t slices_used_ = 0;
    bool begun_ = false;
    bool rest_to_fetch_ = false;  ///< of the first wave's tiles
    InputQueue input_;
    std::vector<Drain> drains_;     ///< that wait for products of the next wave
    size_t drained_ = 0;            ///< of them
    std::vector<Leaving> leaving_;  ///< in the order in which they leave
    Range wave_rows_;               ///< with slices: of the chunk, that stand in the buffer
};

}  // namespace tandem::compiler
