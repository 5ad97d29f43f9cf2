// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/product_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "base/divide.h"
#include "compiler/plan/buffer.h"
#include "compiler/plan/chunks.h"
#include "compiler/plan/divisions.h"
#include "compiler/plan/product_cost.h"

namespace tandem::compiler {

namespace {

using base::divide_up;

class ProductSearch {
  public:
    ProductSearch(const Kernel& kernel, const KernelGraph& graph,
                  const std::vector<ColumnTile>& tiles, const arch::ChipConfig& chip,
                  const PieceRequest& request, CorePlan& share)
        : work_(*kernel.matmul()),
          tiles_(tiles),
          chip_(chip),
          request_(request),
          share_(share),
          gathers_(gathers_input(kernel, graph, request)),
          window_(gathers_ ? work_.window.gathered() : work_.window),
          maker_(kernel, graph, gathers_),
          shape_(shape_of_share()) {}

    bool run() {
        if (request_.memo == nullptr || request_.forced) return search();
        const auto [at, is_new] = request_.memo->found.try_emplace(key());
        ProductMemo::Found& known = at->second;
        if (is_new) {
            known.fits = search();
            known.schedule = best_;
            known.cycles = best_cycles_;
        } else if (known.fits) {
            best_ = known.schedule;
            best_cycles_ = known.cycles;
            take();
        }
        return known.fits;
    }

  private:
    bool search() {
        cost_.emplace(chip_, request_, shape_);
        try_all();
        if (request_.forced && tried_ != 0) {
            wanted_ = *request_.forced % tried_;
            tried_ = 0;
            best_score_ = INFINITY;
            try_all();
        }
        if (std::isinf(best_score_)) return false;
        take();
        return true;
    }

    /// All that the search looks at.
    ProductMemo::Key key() const {
        const ImageWindow& w = window_;
        const uint64_t image = maker_.lines_per_image();
        const bool stays = request_.in_stays && request_.out_stays;
        return {shape_.rows,
                shape_.rows_per_line,
                shape_.tiles,
                std::bit_cast<uint64_t>(shape_.k_tiles),
                shape_.most_k_tiles,
                std::bit_cast<uint64_t>(shape_.passes),
                shape_.in_bytes,
                shape_.out_line_bytes,
                shape_.widest_tile,
                shape_.out_element_bytes,
                std::bit_cast<uint64_t>(shape_.drain_cost),
                share_.lines.size(),
                share_.lines.begin % image,
                image,
                maker_.one_image(),
                maker_.has_slices(),
                gathers_,
                w.image_bytes(),
                w.in_line_bytes(),
                w.in_h,
                w.channels,
                w.kernel_h,
                w.dilation_h,
                w.stride_h,
                w.pad_top,
                request_.in_stays,
                request_.out_stays,
                stays ? 0 : request_.room,
                request_.sharing_cores,
                request_.weights_in_cmem,
                request_.in_cmem,
                request_.out_cmem};
    }

    ProductShape shape_of_share() const {
        ProductShape shape;
        shape.rows_per_line = work_.window.out_w;
        shape.rows = share_.lines.size() * shape.rows_per_line;
        shape.tiles = share_.tiles.size();
        uint64_t columns = 0, k_tiles = 0;
        for (uint64_t t = share_.tiles.begin; t < share_.tiles.end; ++t) {
            const ColumnTile& tile = tiles_[t];
            columns += tile.n_len;
            k_tiles += tile.k_tiles;
            shape.most_k_tiles = std::max<uint64_t>(shape.most_k_tiles, tile.k_tiles);
            shape.widest_tile = std::max<uint64_t>(shape.widest_tile, tile.n_len);
        }
        shape.k_tiles = static_cast<double>(k_tiles) / static_cast<double>(shape.tiles);
        shape.passes = work_.passes;
        shape.in_bytes = maker_.input(share_.lines).size();
        shape.out_element_bytes = work_.out_element_bytes;
        shape.out_line_bytes = columns * shape.rows_per_line * shape.out_element_bytes;
        if (!chip_.vector.fixed_pipeline && !work_.floats.chain.steps.empty())
            shape.drain_cost = static_cast<double>(work_.floats.chain.steps.size());
        return shape;
    }

    void try_all() {
        ProductSchedule s;
        if (request_.out_stays) {
            try_inputs(s);
            return;
        }
        s.out = Way::kWaves;
        try_inputs(s);
        if (!chip_.sequencer.layer_sync) return;
        s.out = Way::kChunks;
        try_inputs(s);
    }

    void try_inputs(ProductSchedule s) {
        if (request_.in_stays) {
            s.in = Way::kStays;
            // Chunks of what stays only let results leave.
            return s.out == Way::kChunks ? try_chunks(s) : try_whole(s);
        }
        s.in = Way::kWhole;
        try_whole(s);
        s.in = Way::kChunks;
        try_chunks(s);
        s.in = Way::kSlices;
        try_slices(s);
    }

    void try_whole(ProductSchedule s) {
        set_chunks(s, share_.lines.size());
        if (s.in == Way::kWhole) s.chunk_input = shape_.in_bytes;
        deal(s);
    }

    void try_chunks(ProductSchedule s) {
        const uint64_t lines = share_.lines.size(), image = maker_.lines_per_image();
        const uint64_t images = divide_up(lines, image);
        uint64_t before = 0, found = 0;
        for (uint64_t n = 1; found < kMostChunkings; n = next_division(n)) {
            const uint64_t of_image = divide_up(n, images);
            const uint64_t most = n <= images ? divide_up(images, n) * image
                                              : divide_up(std::min(image, lines), of_image);
            if (most != before) {
                set_chunks(s, most);
                before = most;
                if ((s.chunks > 1 || s.in == Way::kStays) && deal(s)) ++found;
            }
            if (most == 1 || n > 2 * lines) break;
        }
    }

    void try_slices(ProductSchedule s) {
        if (!maker_.has_slices()) return;
        // Rows are rows, wherever an image ends: one chunk.
        s.chunks = 1;
        s.chunk_lines = share_.lines.size();
        // An instruction's window is at most so wide.
        const uint64_t widest = std::max<uint64_t>(65535 / chip_.row_bytes(), 1);
        const uint64_t k_tiles = divide_up(window_.channels, chip_.mxu.rows);
        for (uint64_t n = 1; n <= std::min(widest, k_tiles); n *= 2) {
            s.slice_tiles = n;
            for (s.slice_places = 2; s.slice_places <= kMostSlices; s.slice_places *= 2) deal(s);
        }
    }

    /// Chunks of at most so many lines (ChunkMaker::chunks, in closed form).
    void set_chunks(ProductSchedule& s, uint64_t most) const {
        const uint64_t lines = share_.lines.size(), image = maker_.lines_per_image();
        if (maker_.one_image()) most = std::min(most, image);
        const uint64_t images = std::max<uint64_t>(1, divide_up(lines, image));
        if (most >= image) {
            s.chunks = divide_up(images, most / image);
            s.chunk_lines = std::min(lines, divide_up(images, s.chunks) * image);
        } else {
            const uint64_t in_image = std::min(lines, image);
            const uint64_t of_image = divide_up(in_image, most);
            s.chunks = images * of_image;
            s.chunk_lines = divide_up(in_image, of_image);
        }
        s.chunk_input = buffer_aligned(maker_.largest_input(s.chunk_lines));
    }

    /// Arrays and blocks; false: no room for any.
    bool deal(ProductSchedule s) {
        const uint64_t rows = s.chunk_lines * shape_.rows_per_line;
        const uint64_t least = division_from(divide_up(rows, chip_.mxu.accumulator_rows));
        // With few rows all divisions are tried, whatever the accumulators hold.
        const uint64_t most = std::max(
            {least, rows / std::max(1u, chip_.mxu.rows / 2), std::min(rows, kAllDivisions)});
        bool found = false;
        for (s.arrays = 1;;
             s.arrays = std::min<uint64_t>(next_division(s.arrays), chip_.mxu.count)) {
            const uint64_t full = shape_.tiles / s.arrays, rest = shape_.tiles % s.arrays;
            for (s.blocks = least; s.blocks <= most; s.blocks = next_division(s.blocks)) {
                s.rest_blocks = s.blocks;
                found = consider(s) || found;
                // So many of the others that all arrays have the same.
                const uint64_t step = s.arrays / std::gcd(std::max<uint64_t>(rest, 1), s.arrays);
                for (uint64_t i = 1; rest != 0 && i * step <= most; i = next_division(i)) {
                    if (i * step < least || i * step == s.blocks) continue;
                    s.rest_blocks = i * step;
                    found = consider(s) || found;
                }
                if (full == 0) break;
            }
            if (s.arrays == chip_.mxu.count) break;
        }
        return found;
    }

    /// False: no room, however few places results have.
    bool consider(ProductSchedule& s) {
        const uint64_t rows = s.chunk_lines * shape_.rows_per_line;
        const uint64_t block = s.longest_block(rows, shape_.tiles);
        s.out_places = 2;
        if (block > chip_.mxu.accumulator_rows || !fit(s, rows, block)) return false;
        s.weights_ahead = std::min(kWeightsAhead, chip_.mxu.weight_fifo_tiles);
        try_places(s, rows, block);
        s.weights_ahead = chip_.mxu.weight_fifo_tiles;
        if (s.weights_ahead > kWeightsAhead) try_places(s, rows, block);
        return true;
    }

    /// More places hide the results' way to memory, fewer leave more to the input.
    void try_places(ProductSchedule& s, uint64_t rows, uint64_t block) {
        const uint64_t most = s.out == Way::kWaves ? kMostPlaces : 2;
        if (most > 2 && !request_.forced) {
            s.out_places = most;
            s.in_step = s.chunk_input;
            if (score(s, block) * kNearlyAll >= best_score_) return;
        }
        for (s.out_places = 2; s.out_places <= most && fit(s, rows, block); s.out_places *= 2)
            compare(s, block);
    }

    void compare(const ProductSchedule& s, uint64_t block) {
        const uint64_t number = tried_++;
        const double cycles = cost_->cycles(s);
        double score = search_score(cycles, s.arrays, block, s.weights_ahead);
        if (wanted_) score = number == *wanted_ ? 0 : INFINITY;
        if (score >= best_score_) return;
        best_score_ = score;
        best_cycles_ = cycles;
        best_ = s;
    }

    double score(const ProductSchedule& s, uint64_t block) const {
        return search_score(cost_->cycles(s), s.arrays, block, s.weights_ahead);
    }

    /// Fills in what of the buffer it takes; false: there is not so much. More places take more.
    bool fit(ProductSchedule& s, uint64_t rows, uint64_t block) const {
        uint64_t room = request_.room, out = 0;
        if (s.out == Way::kWaves) out = s.out_places * s.arrays * wave_place(block);
        if (s.out == Way::kChunks) out = (s.chunks > 1 ? 2 : 1) * chunk_place(s);
        if (out > room) return false;
        room -= out;
        uint64_t in = 0;
        if (s.in == Way::kWhole) in = buffer_aligned(s.chunk_input);
        if (s.in == Way::kChunks) in = s.chunk_input;
        if (s.in == Way::kSlices) {
            const uint64_t together =
                shape_.tiles % s.arrays == 0 ? 1 : divide_up(s.arrays, shape_.tiles % s.arrays) + 1;
            const uint64_t blocks = std::max<uint64_t>(1, std::min(s.blocks, s.rest_blocks));
            s.slice_input =
                s.slice_tiles * buffer_aligned(std::min(together * divide_up(rows, blocks), rows) *
                                               chip_.row_bytes() * work_.passes);
            in = s.slice_places * s.slice_input;
        }
        if (in > room) return false;
        // Images that are gathered come in whole lines.
        const uint64_t unit = gathers_ ? window_.in_line_bytes() : kBufferAlignment;
        s.in_step = s.in == Way::kChunks ? std::min(s.chunk_input, (room - in) / unit * unit) : 0;
        return true;
    }

    uint64_t wave_place(uint64_t block) const {
        return buffer_aligned(block * shape_.widest_tile * shape_.out_element_bytes);
    }
    uint64_t chunk_place(const ProductSchedule& s) const {
        return buffer_aligned(shape_.out_line_bytes * s.chunk_lines);
    }

    void take() {
        const ProductSchedule& s = best_;
        const uint64_t rows = s.chunk_lines * shape_.rows_per_line;
        const uint64_t block = s.longest_block(rows, shape_.tiles);
        share_.in = s.in;
        share_.out = s.out;
        share_.gathers = gathers_;
        // Rows of slices stand side by side, of whatever images they are.
        if (s.in == Way::kSlices)
            share_.chunks = {{share_.lines, maker_.input(share_.lines)}};
        else
            share_.chunks = maker_.chunks(share_.lines, s.chunk_lines);
        share_.slice_tiles = s.in == Way::kSlices ? s.slice_tiles : 0;
        share_.dealing = {static_cast<uint32_t>(s.arrays), s.blocks, s.rest_blocks,
                          static_cast<uint32_t>(block), 2 * block > chip_.mxu.accumulator_rows};
        share_.paced = true;
        share_.weights_ahead = s.weights_ahead;
        share_.out_places = static_cast<uint32_t>(s.out_places);
        share_.cycles = best_cycles_;
        if (s.in == Way::kWhole || s.in == Way::kChunks)
            share_.in_piece = buffer_aligned(s.chunk_input);
        if (s.in == Way::kSlices) share_.in_piece = s.slice_input;
        if (s.in == Way::kSlices) share_.slice_places = static_cast<uint32_t>(s.slice_places);
        share_.in_step = s.in == Way::kSlices ? (s.slice_places - 1) * share_.in_piece : s.in_step;
        if (s.out == Way::kWaves) share_.out_piece = wave_place(block);
        if (s.out == Way::kChunks) share_.out_piece = chunk_place(s);
    }

    static constexpr uint64_t kAllDivisions = 48, kMostChunkings = 32, kMostPlaces = 16,
                              kMostSlices = 4;
    /// A least score is exact but for rounding.
    static constexpr double kNearlyAll = 1 - 1e-9;

    const MatmulWork& work_;
    const std::vector<ColumnTile>& tiles_;
    const arch::ChipConfig& chip_;
    const PieceRequest& request_;
    CorePlan& share_;
    const bool gathers_;
    const ImageWindow window_;  ///< of the input as it lies in the buffer
    const ChunkMaker maker_;
    const ProductShape shape_;
    std::optional<ProductCost> cost_;  ///< not needed for what is known
    ProductSchedule best_;
    double best_score_ = INFINITY, best_cycles_ = 0;
    uint64_t tried_ = 0;
    std::optional<uint64_t> wanted_;
};

}  // namespace

double search_score(double cycles, uint64_t arrays, uint64_t block_rows, uint32_t weights_ahead) {
    const double doublings = std::log2(static_cast<double>(arrays * block_rows));
    return cycles * (1 + kSearchMargin * doublings) *
           (weights_ahead > kWeightsAhead ? 1 + kDeepMargin : 1);
}

bool search_product(const Kernel& kernel, const KernelGraph& graph,
                    const std::vector<ColumnTile>& tiles, const arch::ChipConfig& chip,
                    const PieceRequest& request, CorePlan& share) {
    return ProductSearch(kernel, graph, tiles, chip, request, share).run();
}

}  // namespace tandem::compiler
