// SPDX-License-Identifier: Apache-2.0
// The cycles of one core's share of a product in closed form (docs/plan_cost.md): fill, then the
// longest of arrays, drains and memory, chunk by chunk, then the tail. Without the kernel's launch
// and the synchronisation in front of it.
#pragma once

#include "compiler/plan/pieces.h"

namespace tandem::compiler {

/// What no schedule changes.
struct ProductShape {
    uint64_t rows = 0;  ///< of the share
    uint64_t rows_per_line = 1;
    uint64_t tiles = 0;  ///< column tiles
    double k_tiles = 0;  ///< of a column tile, on average
    uint64_t most_k_tiles = 0;
    double passes = 1;
    uint64_t in_bytes = 0;  ///< of the whole share
    uint64_t out_line_bytes = 0;
    uint64_t widest_tile = 0;  ///< columns
    uint64_t out_element_bytes = 1;
    double drain_cost = 1;  ///< passes of the vector unit for a row
};

/// How it is done.
struct ProductSchedule {
    Way in = Way::kStays, out = Way::kStays;
    uint64_t chunks = 1;
    uint64_t chunk_lines = 0;  ///< of the longest one
    uint64_t chunk_input = 0;  ///< bytes of it
    uint64_t in_step = 0;      ///< CorePlan
    uint64_t slice_tiles = 0;
    uint64_t slice_input = 0;  ///< bytes of a slice, if it comes in slices
    uint64_t slice_places = 2;
    uint64_t out_places = 2;  ///< waves
    uint64_t arrays = 1, blocks = 1, rest_blocks = 1;
    uint32_t weights_ahead = 1;  ///< tiles per array that are asked for at most

    uint64_t longest_block(uint64_t chunk_rows, uint64_t tiles) const;
};

/// The machine as one core sees it, in cycles.
class ProductCost {
  public:
    ProductCost(const arch::ChipConfig& chip, const PieceRequest& request,
                const ProductShape& shape);

    double cycles(const ProductSchedule& schedule) const;

  private:
    double tile_cycles(double rows, double arrays, uint32_t ahead) const;
    double drain_cycles(double rows, double arrays) const;
    /// From the end of a wave's products to its results' being in memory.
    double leaving(double rows, double arrays) const;

    /// A memory as this core has it.
    struct Pipe {
        double bytes_per_cycle = 1, latency = 0;  ///< cycles
    };
    const Pipe& pipe(bool in_cmem) const { return in_cmem ? cmem_ : memory_; }
    /// Until bytes of input and output have come and gone, beside weights that take `fetch` cycles;
    /// memories work side by side.
    double carry(double fetch, double input, double output) const;

    const arch::ChipConfig& chip_;
    const PieceRequest& request_;
    const ProductShape& shape_;
    Pipe memory_, cmem_, weights_, in_, out_;
    double sync_ = 0;
    double lead_ = 0;            ///< from the launch to the first product
    double array_latency_ = 0;   ///< from a row's entry to its being drained
    double row_beats_ = 1;       ///< cycles of a row at the array
    double drain_interval_ = 1;  ///< of a row of the widest tile
    double drains_at_a_time_ = 1;
};

}  // namespace tandem::compiler
