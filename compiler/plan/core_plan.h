// SPDX-License-Identifier: Apache-2.0
// How one core does its share of a kernel: which lines, in which chunks, blocks and areas.
#pragma once

#include <cstdint>
#include <vector>

namespace tandem::compiler {

/// Half open.
struct Range {
    uint64_t begin = 0, end = 0;
    uint64_t size() const { return end - begin; }
    bool empty() const { return begin >= end; }
    bool contains(const Range& other) const {
        return other.empty() || (begin <= other.begin && other.end <= end);
    }
    bool operator==(const Range&) const = default;
};

/// Some columns of a group: one weight tile wide.
struct ColumnTile {
    uint32_t group = 0;
    uint32_t n_start = 0, n_len = 0;  ///< columns of the group
    uint32_t first_tile = 0;          ///< its K tiles among those of the kernel
    uint32_t k_tiles = 0;
};

/// Lines that are worked on at a time and the bytes of the input that they read.
struct Chunk {
    Range lines;
    Range input;  ///< of the gathered images, where the share gathers
};

/// How a kernel's operand comes into the buffer, or its result out of it.
enum class Way : uint8_t {
    kStays,   ///< it is, or stays, in the buffer
    kWhole,   ///< all of the core's part at once
    kChunks,  ///< chunk by chunk
    kSlices,  ///< in: a wave's rows, some K tiles at a time
    kWaves,   ///< out: each wave by itself
};

/// How a product's rows and column tiles are dealt to the arrays (product_grid.h).
struct Dealing {
    uint32_t arrays = 1;       ///< that take part
    uint64_t blocks = 0;       ///< into which a chunk's rows are cut; 0: as block_rows has it
    uint64_t rest_blocks = 0;  ///< of the column tiles that are left over; 0: as block_rows has it
    uint32_t block_rows = 0;   ///< most rows of a block
    bool ring = false;         ///< blocks follow one another round all rows of the accumulators
};

/// One core's share of a kernel, in lines: output rows of images, or what VectorWork says.
struct CorePlan {
    Range lines;
    Range tiles;  ///< column tiles of a product
    Way in = Way::kStays, out = Way::kStays;
    bool gathers = false;        ///< a product's input comes without what no window reads
    std::vector<Chunk> chunks;   ///< of the whole share where nothing goes through in pieces
    uint64_t slice_tiles = 0;    ///< K tiles of a slice
    uint32_t slice_places = 2;   ///< slices that are on their way or in use
    Dealing dealing;             ///< of a product
    uint32_t weights_ahead = 0;  ///< tiles per array that are asked for at most; 0: all that fit
    bool paced = false;          ///< transfers stand among the products where they are wanted
    uint32_t out_places = 2;     ///< waves whose results have room where each leaves by itself
    double cycles = 0;           ///< of a product that was searched: what the closed form says
    uint32_t in_area = 0, out_area = 0;    ///< addresses of what goes through
    uint64_t in_piece = 0, out_piece = 0;  ///< bytes of one of the areas' places
    /// From the first place of what comes to the second: less than a piece where they overlap, so
    /// that a part of a chunk comes before, and the rest when, the one before it is done with.
    uint64_t in_step = 0;
    std::vector<uint64_t> in_places;  ///< of each operand within a piece; of vector kernels
    uint32_t scratch_area = 0;        ///< its address
    uint64_t scratch_bytes = 0;       ///< for the longest chunk
};

}  // namespace tandem::compiler
