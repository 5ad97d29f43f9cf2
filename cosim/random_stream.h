// SPDX-License-Identifier: Apache-2.0
// Seeded random work for a MAC array: weight tiles, activation blocks, accumulator reads and resets
// within the port contract, with every kind of back-pressure on every handshake. It counts what it
// did, so that a report can tell what a run has covered.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <random>
#include <utility>
#include <vector>

#include "cosim/random_values.h"
#include "engine/mxu_engine.h"

namespace tandem::cosim {

struct StreamCounters {
    uint64_t edges = 0, rows = 0, tiles = 0, blocks = 0, reads = 0, rows_read = 0;
    // Weights
    uint64_t tiles_with_gaps = 0;
    uint64_t tiles_late = 0;          ///< pushed after the block that swaps to them
    uint64_t tiles_back_to_back = 0;  ///< first beat right after a swap, no gap
    // Activations
    uint64_t blocks_with_gaps = 0;
    uint64_t blocks_empty = 0;  ///< no rows
    uint64_t blocks_one_row = 0;
    uint64_t blocks_full_depth = 0;  ///< all accumulator rows
    uint64_t blocks_partial = 0;     ///< zeros behind some element of every row
    uint64_t blocks_accumulating = 0;
    uint64_t chains = 0;  ///< accumulating onto a row that is still in flight
    uint64_t swaps = 0;
    uint64_t swaps_at_first_edge = 0;  ///< one weight_latency after the last beat
    uint64_t swaps_while_busy = 0;     ///< rows of the tile before are in flight
    // Results
    uint64_t reads_empty = 0;
    uint64_t results_held = 0;
    uint64_t reads_with_rows_in_flight = 0;  ///< other rows
    // Resets
    uint64_t resets = 0;
    uint64_t resets_in_flight = 0;  ///< with rows, a tile, or a read under way
    std::array<uint64_t, kValueStyles> tile_values{}, block_values{};

    /// All of them, by name.
    std::vector<std::pair<const char*, uint64_t>> list() const;
    StreamCounters& operator+=(const StreamCounters& other);
};

struct StreamOptions {
    bool resets = true;
};

class RandomStream {
  public:
    RandomStream(engine::MxuEngine& engine, uint64_t seed, StreamOptions options = {});

    /// Works for about that many edges. An engine that finds a difference is not busy any more,
    /// which ends it.
    void run(engine::Cycle edges);
    const StreamCounters& counters() const { return counters_; }
    /// Activation rows that were committed completely with their block.
    uint64_t rows() const { return rows_committed_; }
    engine::Cycle edges() const { return now_; }

  private:
    struct Range {
        uint64_t id;
        uint32_t address, rows;
        bool swap = false, started = false;
    };

    void push_something();
    void push_tile();
    void push_block();
    void push_block(uint32_t address, uint32_t rows, bool swap, bool accumulate);
    void push_read();
    void maybe_reset();
    void advance(engine::Cycle until);
    void note(const engine::MxuEvent& event);
    void finish();
    bool outstanding() const { return !blocks_.empty() || !reads_.empty(); }
    bool ended() const { return outstanding() && !engine_.busy(); }

    Range random_range();
    static bool overlaps(const std::deque<Range>& ranges, const Range& range);
    bool defined(const Range& range) const;
    std::span<const std::byte> values(uint64_t count, std::array<uint64_t, kValueStyles>& styles);
    std::span<const uint32_t> waits(uint32_t beats, uint32_t longest);
    engine::Cycle later(engine::Cycle last);
    uint64_t below(uint64_t bound) { return random_() % bound; }
    bool chance(uint32_t percent) { return below(100) < percent; }

    engine::MxuEngine& engine_;
    const engine::MxuShape shape_;
    const engine::MxuTiming timing_;
    const StreamOptions options_;
    std::mt19937_64 random_;
    StreamCounters counters_;
    engine::Cycle now_ = 0;  ///< first edge that is not done
    engine::Cycle tile_from_ = 0, block_from_ = 0, read_from_ = 0;
    uint64_t next_tile_ = 0, next_block_ = 0, next_read_ = 0, rows_committed_ = 0;
    uint32_t window_ = 0, window_rows_ = 0;  ///< accumulator rows that most work is about
    // Since the last reset.
    uint64_t tiles_pushed_ = 0, tiles_loaded_ = 0, swaps_pushed_ = 0;
    std::deque<Range> blocks_, reads_;  ///< not committed, not done
    std::vector<bool> written_;         ///< accumulator rows that hold something known
    engine::Cycle last_load_ = 0, last_swap_ = 0;
    bool loaded_ = false, swapped_ = false;
    std::vector<std::byte> data_;
    std::vector<uint32_t> waits_;
};

}  // namespace tandem::cosim
