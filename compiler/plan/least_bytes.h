// SPDX-License-Identifier: Apache-2.0
// The fewest bytes that a matrix product moves between a memory and the chip, whatever the plan.
//
// One weight tile stays in an array from its fetch until the next one; sums live in accumulators
// from their first K tile to their last; rows of the input live in the buffer. From that alone
// (docs/bounds.md has the derivation):
//
//   fetches  at least every tile once, and 1 + outputs * (K tiles - 1) / accumulator rows
//   both     of rows that have gone from the buffer the input comes again, or weights came more
//            often: fetches and bytes of input are traded along a line for every length of a window
#pragma once

#include <cstdint>

namespace tandem::compiler {

/// A product of `rows` x K times K x columns, or several of the same rows.
struct LeastBytesRequest {
    double tiles = 0;               ///< weight tiles, each once
    double sums = 0;                ///< of all column tiles, their K tiles less one
    double rows = 0;                ///< of the output
    double repeat = 1;              ///< so many times, one after the other
    uint64_t tile_bytes = 0;        ///< of a weight tile
    uint64_t accumulator_rows = 0;  ///< of an array
    uint32_t arrays = 1;            ///< of the whole chip
    uint32_t cores = 1;             ///< that share them
    uint64_t buffer_bytes = 0;      ///< of a core
    double input_bytes = 0;         ///< that come through the memory; 0: the input stays
    /// A whole row of the input and its K tiles, where rows have no bytes in common and lie in
    /// the memory of the weights; 0: elsewhere, and the two are bounded apart.
    double row_bytes = 0;
    double k_tiles = 0;
};

struct LeastBytes {
    double loads = 0;    ///< of weight tiles into arrays, whatever is traded
    double fetches = 0;  ///< of weight tiles from the memory
    double input = 0;    ///< bytes
};

LeastBytes least_bytes(const LeastBytesRequest& request);

/// Bytes that every repetition reads anew, as far as the buffers cannot hold them.
double bytes_of_repetitions(double bytes, double repeat, double buffers);

}  // namespace tandem::compiler
