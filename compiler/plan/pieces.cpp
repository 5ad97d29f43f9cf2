// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/pieces.h"

#include <algorithm>

#include "base/divide.h"
#include "compiler/plan/buffer.h"
#include "compiler/plan/chunks.h"
#include "compiler/plan/product_search.h"

namespace tandem::compiler {

namespace {

using base::divide_up;

/// Room that results take when each wave leaves by itself: two waves, one of which is written out
/// while the next one is drained.
constexpr uint64_t kWavesAtOnce = 2;

class PieceCutter {
  public:
    PieceCutter(const Kernel& kernel, const KernelGraph& graph,
                const std::vector<ColumnTile>& tiles, const arch::ChipConfig& chip,
                const PieceRequest& request, CorePlan& share)
        : kernel_(kernel),
          graph_(graph),
          maker_(kernel, graph),
          tiles_(tiles),
          chip_(chip),
          request_(request),
          share_(share) {}

    bool run() {
        if (share_.lines.empty() || (kernel_.matmul() != nullptr && share_.tiles.empty())) {
            share_.chunks.clear();
            return true;
        }
        share_.in = Way::kStays;
        share_.out = Way::kStays;
        share_.gathers = false;
        share_.slice_tiles = 0;
        share_.dealing = {};
        share_.paced = false;
        share_.out_places = kWavesAtOnce;
        share_.cycles = 0;
        share_.in_piece = share_.out_piece = 0;
        if (kernel_.matmul() == nullptr) return cut_vector();
        if (request_.mode == PlanMode::kSearch)
            return search_product(kernel_, graph_, tiles_, chip_, request_, share_);
        share_.dealing.arrays = chip_.mxu.count;
        const bool fits = cut_product();
        share_.in_step = share_.in_piece;
        return fits;
    }

  private:
    Range input(const Range& lines) const { return maker_.input(lines); }
    uint64_t lines_per_image() const { return maker_.lines_per_image(); }
    bool one_image() const { return maker_.one_image(); }
    uint64_t largest_input(uint64_t lines, size_t operand = 0) const {
        return maker_.largest_input(lines, operand);
    }
    void make_chunks(uint64_t most) { share_.chunks = maker_.chunks(share_.lines, most); }

    /// Bytes of a line of the result on this core.
    uint64_t out_line_bytes() const {
        const MatmulWork& work = *kernel_.matmul();
        uint64_t columns = 0;
        for (uint64_t t = share_.tiles.begin; t < share_.tiles.end; ++t) columns += tiles_[t].n_len;
        return columns * work.window.out_w * work.out_element_bytes;
    }

    uint64_t widest_tile() const {
        uint64_t widest = 0;
        for (uint64_t t = share_.tiles.begin; t < share_.tiles.end; ++t)
            widest = std::max<uint64_t>(widest, tiles_[t].n_len);
        return widest;
    }

    /// A single block where all accumulators have room for it, so that tiles come once. Else
    /// shorter blocks, whose results take less room, where the longest ones leave too little to the
    /// input.
    bool cut_product() {
        const uint64_t rows = share_.lines.size() * kernel_.matmul()->window.out_w;
        if (chip_.mxu.count == 1 && rows > half_accumulators(chip_) &&
            rows <= chip_.mxu.accumulator_rows && cut_product(static_cast<uint32_t>(rows)) &&
            share_.chunks.size() == 1 && share_.dealing.block_rows == rows) {
            share_.dealing.ring = true;
            return true;
        }
        uint32_t most = half_accumulators(chip_);
        while (!cut_product(most)) {
            if (most == 1 || share_.out != Way::kWaves) return false;
            most = std::max(1u, std::min(most, share_.dealing.block_rows) / 2);
        }
        return true;
    }

    bool cut_product(uint32_t most_rows) {
        const MatmulWork& work = *kernel_.matmul();
        const uint64_t element = work.out_element_bytes;
        share_.dealing.block_rows = most_rows;
        share_.in = share_.out = Way::kStays;
        uint64_t room = request_.room;
        if (!request_.out_stays) {
            // Reading the buffer takes a synchronisation where there is one: once for each chunk.
            share_.out = chip_.sequencer.layer_sync ? Way::kChunks : Way::kWaves;
            if (share_.out == Way::kWaves) {
                const uint64_t most = share_.lines.size() * work.window.out_w;
                const uint64_t row = widest_tile() * element * kWavesAtOnce * chip_.mxu.count;
                share_.dealing.block_rows = static_cast<uint32_t>(
                    std::clamp<uint64_t>(room / 4 / std::max<uint64_t>(row, 1), 1,
                                         std::min<uint64_t>(share_.dealing.block_rows, most)));
                share_.out_piece =
                    buffer_aligned(share_.dealing.block_rows * widest_tile() * element);
                const uint64_t area = out_area_bytes(share_);
                if (area > room) return false;
                room -= area;
            }
        }
        if (request_.in_stays) return whole_input(room, true);
        if (whole_input(room, false)) return true;
        CorePlan sliced = share_;  // whole_input() has set its chunks
        const uint64_t chunk_bytes = cut_into_chunks(room) ? moved_by_chunks() : 0;
        if (cut_into_slices(sliced, room) &&
            (chunk_bytes == 0 || moved_by_slices(sliced) < chunk_bytes)) {
            share_ = sliced;
            return true;
        }
        return chunk_bytes != 0;
    }

    uint64_t longest_chunk() const {
        uint64_t longest = 0;
        for (const Chunk& chunk : share_.chunks) longest = std::max(longest, chunk.lines.size());
        return longest;
    }

    /// One chunk of all lines, or one of each image.
    bool whole_input(uint64_t room, bool stays) {
        make_chunks(share_.lines.size());
        share_.in = stays ? Way::kStays : Way::kWhole;
        share_.in_piece = stays ? 0 : buffer_aligned(input(share_.lines).size());
        if (share_.out != Way::kChunks) return share_.in_piece <= room;
        share_.out_piece = buffer_aligned(out_line_bytes() * longest_chunk());
        if (share_.in_piece + out_area_bytes(share_) <= room) return true;
        return stays && cut_into_chunks(room);
    }

    /// The longest chunks of which two inputs and two outputs fit. Whole images where one fits.
    bool cut_into_chunks(uint64_t room) {
        const bool in_moves = !request_.in_stays, out_moves = share_.out == Way::kChunks;
        const auto needed = [&](uint64_t lines) {
            uint64_t bytes = 0;
            if (in_moves) bytes += 2 * buffer_aligned(largest_input(lines));
            if (out_moves) bytes += 2 * buffer_aligned(out_line_bytes() * lines);
            return bytes;
        };
        const uint64_t low = most_lines([&](uint64_t lines) { return needed(lines) <= room; });
        if (low == 0) return false;
        make_chunks(low);
        share_.in = in_moves ? Way::kChunks : Way::kStays;
        share_.in_piece = in_moves ? buffer_aligned(largest_input(low)) : 0;
        if (out_moves) share_.out_piece = buffer_aligned(out_line_bytes() * low);
        return true;
    }

    /// The most lines that fit, of whole images where there are several; 0: not even one.
    template <class Fits>
    uint64_t most_lines(const Fits& fits) const {
        uint64_t low = 0, high = share_.lines.size();
        if (one_image()) high = std::min(high, lines_per_image());
        while (low < high) {
            const uint64_t middle = low + (high - low + 1) / 2;
            if (fits(middle))
                low = middle;
            else
                high = middle - 1;
        }
        return low > lines_per_image() ? low - low % lines_per_image() : low;
    }

    /// Input bytes of one K tile, for all rows of a wave.
    uint64_t tile_input_bytes(const CorePlan& share) const {
        const uint64_t rows = share.lines.size() * kernel_.matmul()->window.out_w;
        const uint64_t blocks =
            row_blocks(rows, share.tiles.size(), share.dealing.block_rows, chip_);
        const uint64_t rest = share.tiles.size() % chip_.mxu.count;
        const uint64_t together =
            rest == 0 ? 1 : std::min(blocks, divide_up(chip_.mxu.count, rest) + 1);
        return together * divide_up(rows, blocks) * chip_.row_bytes() * kernel_.matmul()->passes;
    }

    bool cut_into_slices(CorePlan& share, uint64_t room) const {
        const MatmulWork& work = *kernel_.matmul();
        if (!maker_.has_slices()) return false;
        if (share.out == Way::kChunks) {
            // All results leave together.
            share.out_piece = buffer_aligned(out_line_bytes() * share.lines.size());
            if (share.out_piece >= room) return false;
            room -= share.out_piece;
        }
        const uint64_t k_tiles = divide_up(work.window.channels, chip_.mxu.rows);
        const uint64_t of_tile = buffer_aligned(tile_input_bytes(share));
        // An instruction's window is at most so wide.
        const uint64_t widest = std::max<uint64_t>(65535 / chip_.row_bytes(), 1);
        share.slice_tiles = std::min({room / 2 / of_tile, k_tiles, widest});
        if (share.slice_tiles == 0) return false;
        share.in = Way::kSlices;
        share.in_piece = share.slice_tiles * of_tile;
        share.chunks = {{share.lines, input(share.lines)}};
        return true;
    }

    // Bytes that go through the device memory's port, in double against overflow.
    double weight_bytes() const {
        double k_tiles = 0;
        for (uint64_t t = share_.tiles.begin; t < share_.tiles.end; ++t)
            k_tiles += tiles_[t].k_tiles;
        return k_tiles * static_cast<double>(chip_.tile_bytes());
    }
    uint64_t blocks_of(uint64_t lines) const {
        return row_blocks(lines * kernel_.matmul()->window.out_w, share_.tiles.size(),
                          share_.dealing.block_rows, chip_);
    }
    uint64_t moved_by_chunks() const {
        const uint64_t longest = share_.chunks.front().lines.size();
        const double fetches =
            tiles_[share_.tiles.begin].k_tiles > 1 ? static_cast<double>(blocks_of(longest)) : 1.0;
        const double bytes = static_cast<double>(input(share_.lines).size()) +
                             weight_bytes() * static_cast<double>(share_.chunks.size()) * fetches;
        return static_cast<uint64_t>(bytes) + 1;
    }
    uint64_t moved_by_slices(const CorePlan& sliced) const {
        const uint64_t blocks = blocks_of(sliced.lines.size());
        const double readings = static_cast<double>(waves(blocks, sliced.tiles.size(), chip_)) /
                                static_cast<double>(blocks);
        return static_cast<uint64_t>(static_cast<double>(input(sliced.lines).size()) *
                                         std::max(readings, 1.0) +
                                     weight_bytes() * static_cast<double>(blocks)) +
               1;
    }

    /// Everything at once, or pieces of lines with room for two of all that moves.
    bool cut_vector() {
        share_.in = request_.in_stays ? Way::kStays : Way::kChunks;
        share_.out = request_.out_stays ? Way::kStays : Way::kChunks;
        const uint64_t most = most_lines([&](uint64_t lines) {
            place_piece(lines);
            return 2 * (share_.in_piece + share_.out_piece) + share_.scratch_bytes <= request_.room;
        });
        if (most == 0) return false;
        make_chunks(most);
        place_piece(most);
        return true;
    }

    /// Sizes of a chunk of so many lines.
    void place_piece(uint64_t lines) {
        share_.in_places.clear();
        share_.in_piece = share_.out_piece = 0;
        for (size_t i = 0; !request_.in_stays && i < kernel_.inputs.size(); ++i) {
            share_.in_places.push_back(share_.in_piece);
            share_.in_piece += buffer_aligned(largest_input(lines, i));
        }
        if (!request_.out_stays)
            share_.out_piece = buffer_aligned(result_room(kernel_, graph_, {0, lines}));
        const VectorWork& work = *kernel_.vector();
        share_.scratch_bytes = scratch_offset(work, work.scratch_line_bytes.size(), lines);
    }

    const Kernel& kernel_;
    const KernelGraph& graph_;
    const ChunkMaker maker_;
    const std::vector<ColumnTile>& tiles_;
    const arch::ChipConfig& chip_;
    const PieceRequest& request_;
    CorePlan& share_;
};

}  // namespace

bool cut_into_pieces(const Kernel& kernel, const KernelGraph& graph,
                     const std::vector<ColumnTile>& tiles, const arch::ChipConfig& chip,
                     const PieceRequest& request, CorePlan& share) {
    return PieceCutter(kernel, graph, tiles, chip, request, share).run();
}

bool gathers_input(const Kernel& kernel, const KernelGraph& graph, const PieceRequest& request) {
    if (request.mode != PlanMode::kSearch || request.in_stays) return false;
    const MatmulWork& work = *kernel.matmul();
    const Value& value = graph.values[kernel.inputs[0]];
    // What an application states of the host's bytes says nothing of pixels.
    const bool stated =
        value.is_input && value.home == Memory::kHost && graph.host_input_bytes != 0;
    return work.passes == 1 && !stated && (work.window.skips_lines() || work.window.skips_pixels());
}

uint64_t in_area_bytes(const CorePlan& share) {
    const bool one =
        share.in == Way::kWhole || (share.in == Way::kChunks && share.chunks.size() < 2);
    if (share.in == Way::kStays) return 0;
    if (share.in == Way::kSlices) return share.slice_places * share.in_piece;
    // What overlaps is of products that are searched.
    const uint64_t step = share.paced && share.in == Way::kChunks ? share.in_step : share.in_piece;
    return share.in_piece + (one ? 0 : step);
}

uint64_t out_area_bytes(const CorePlan& share) {
    switch (share.out) {
        case Way::kWaves:
            return share.out_piece * share.out_places * share.dealing.arrays;
        case Way::kChunks:
            return share.out_piece * (share.chunks.size() > 1 ? 2 : 1);
        default:
            return 0;
    }
}

}  // namespace tandem::compiler
