// SPDX-License-Identifier: Apache-2.0
// Seeded random work for a MAC array: weight tiles, activation blocks and accumulator reads with
// random gaps, sizes, addresses and corner values, within the port contract.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "systemc/mxu/mxu_engine.h"

namespace tandem::cosim {

class RandomStream {
  public:
    RandomStream(mxu::MxuEngine& engine, uint64_t seed);

    /// Pushes and works off `phases` phases: some tiles and blocks into one half of the
    /// accumulators while the other half is read. An engine that finds a difference is not busy any
    /// more, which ends it.
    void run(uint32_t phases);
    uint64_t rows() const { return rows_; }
    mxu::Cycle edges() const { return now_; }

  private:
    void fill_accumulators();
    void push_phase(uint32_t half);
    void push_tile();
    void push_block(uint32_t first_row, uint32_t depth, bool swap);
    void push_rows(uint32_t address, uint32_t rows, bool swap, bool accumulate);
    void push_reads(uint32_t first_row, uint32_t depth);
    void drain();
    uint64_t below(uint64_t bound) { return random_() % bound; }
    mxu::Cycle soon() {
        return now_ + 1 + (below(3) == 0 ? below(2 * engine_.shape().rows + 4) : 0);
    }
    int8_t value();

    mxu::MxuEngine& engine_;
    std::mt19937_64 random_;
    mxu::Cycle now_ = 0;
    mxu::Cycle tile_from_ = 0, block_from_ = 0, read_from_ = 0;
    uint64_t tiles_ = 0, blocks_ = 0, reads_ = 0, rows_ = 0;
    uint32_t style_ = 0;  ///< of values: 0 full range, 1 small, 2 corners
};

}  // namespace tandem::cosim
