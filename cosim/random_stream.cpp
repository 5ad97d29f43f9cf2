// SPDX-License-Identifier: Apache-2.0
#include "cosim/random_stream.h"

#include <algorithm>

namespace tandem::cosim {

using engine::Cycle;
using engine::MxuEvent;

namespace {

// What may be under way at a time. A swap may wait for its tile, but not a second one: streams
// would mostly wait.
constexpr size_t kMostBlocks = 6, kMostReads = 3;
constexpr uint64_t kMostTiles = 3;
constexpr uint32_t kWindowRows = 128, kMostRows = 96, kMostRowsRead = 24;

template <class Counters>
auto members(Counters& c) {
    return std::array{
        std::pair{"edges", &c.edges},
        std::pair{"rows", &c.rows},
        std::pair{"tiles", &c.tiles},
        std::pair{"blocks", &c.blocks},
        std::pair{"reads", &c.reads},
        std::pair{"rows_read", &c.rows_read},
        std::pair{"tiles_with_gaps", &c.tiles_with_gaps},
        std::pair{"tiles_late", &c.tiles_late},
        std::pair{"tiles_back_to_back", &c.tiles_back_to_back},
        std::pair{"blocks_with_gaps", &c.blocks_with_gaps},
        std::pair{"blocks_empty", &c.blocks_empty},
        std::pair{"blocks_one_row", &c.blocks_one_row},
        std::pair{"blocks_full_depth", &c.blocks_full_depth},
        std::pair{"blocks_partial", &c.blocks_partial},
        std::pair{"blocks_accumulating", &c.blocks_accumulating},
        std::pair{"chains", &c.chains},
        std::pair{"swaps", &c.swaps},
        std::pair{"swaps_at_first_edge", &c.swaps_at_first_edge},
        std::pair{"swaps_while_busy", &c.swaps_while_busy},
        std::pair{"reads_empty", &c.reads_empty},
        std::pair{"results_held", &c.results_held},
        std::pair{"reads_with_rows_in_flight", &c.reads_with_rows_in_flight},
        std::pair{"resets", &c.resets},
        std::pair{"resets_in_flight", &c.resets_in_flight},
        std::pair{"tile_values_full", &c.tile_values[0]},
        std::pair{"tile_values_small", &c.tile_values[1]},
        std::pair{"tile_values_extremes", &c.tile_values[2]},
        std::pair{"tile_values_corners", &c.tile_values[3]},
        std::pair{"tile_values_cancel", &c.tile_values[4]},
        std::pair{"tile_values_zeros", &c.tile_values[5]},
        std::pair{"block_values_full", &c.block_values[0]},
        std::pair{"block_values_small", &c.block_values[1]},
        std::pair{"block_values_extremes", &c.block_values[2]},
        std::pair{"block_values_corners", &c.block_values[3]},
        std::pair{"block_values_cancel", &c.block_values[4]},
        std::pair{"block_values_zeros", &c.block_values[5]},
    };
}

}  // namespace

std::vector<std::pair<const char*, uint64_t>> StreamCounters::list() const {
    std::vector<std::pair<const char*, uint64_t>> found;
    for (const auto& [name, value] : members(*this)) found.emplace_back(name, *value);
    return found;
}

StreamCounters& StreamCounters::operator+=(const StreamCounters& other) {
    const auto mine = members(*this);
    const auto others = members(other);
    for (size_t i = 0; i < mine.size(); ++i) *mine[i].second += *others[i].second;
    return *this;
}

RandomStream::RandomStream(engine::MxuEngine& engine, uint64_t seed, StreamOptions options)
    : engine_(engine),
      shape_(engine.shape()),
      timing_(engine::timing(shape_)),
      options_(options),
      random_(seed),
      written_(shape_.accumulator_rows) {
    window_rows_ = std::min(kWindowRows, shape_.accumulator_rows);
    const uint32_t room = shape_.accumulator_rows - window_rows_;
    const uint64_t where = below(4);  // the first rows, the last ones, anywhere
    window_ = where == 0 ? 0 : where == 1 ? room : static_cast<uint32_t>(below(room + 1));
}

void RandomStream::run(Cycle edges) {
    const Cycle first = now_, end = now_ + edges;
    const Cycle stride = 8 + below(2 * shape_.rows + 56);
    while (now_ < end && !ended()) {
        for (uint64_t i = below(4); i != 0; --i) push_something();
        advance(now_ + 1 + below(stride));
        if (options_.resets) maybe_reset();
    }
    finish();
    counters_.edges += now_ - first;
}

void RandomStream::push_something() {
    switch (below(8)) {
        case 0:
        case 1:
            return push_tile();
        case 2:
        case 3:
            return push_read();
        default:
            return push_block();
    }
}

// ---- work ------------------------------------------------------------------------------------

void RandomStream::push_tile() {
    if (tiles_pushed_ >= tiles_loaded_ + kMostTiles || tiles_pushed_ >= swaps_pushed_ + kMostTiles)
        return;
    ++counters_.tiles;
    if (tiles_pushed_ < swaps_pushed_) ++counters_.tiles_late;
    tile_from_ = later(tile_from_);
    const auto gaps = waits(shape_.rows, 2 * shape_.rows);
    if (!gaps.empty()) ++counters_.tiles_with_gaps;
    const auto data = values(uint64_t{shape_.rows} * shape_.cols, counters_.tile_values);
    engine_.push_weights({next_tile_++, tile_from_, data, gaps});
    ++tiles_pushed_;
}

void RandomStream::push_block() {
    if (blocks_.size() >= kMostBlocks) return;
    const bool first = swaps_pushed_ == 0;  // no weights yet
    const bool swap = first || (swaps_pushed_ <= tiles_pushed_ && chance(50));
    if (!swap && chance(5)) return push_block(window_, 0, false, chance(50));
    Range range = random_range();
    const bool affordable = shape_.accumulator_rows <= 4 * shape_.rows + 64;
    if (chance(affordable ? 3 : 0)) range = {0, 0, shape_.accumulator_rows};
    if (chance(15)) range.rows = 1;
    if (overlaps(reads_, range)) return;
    push_block(range.address, range.rows, swap, defined(range) && chance(60));
}

void RandomStream::push_block(uint32_t address, uint32_t rows, bool swap, bool accumulate) {
    const Range range{next_block_++, address, rows, swap};
    ++counters_.blocks;
    counters_.rows += rows;
    counters_.swaps += swap;
    counters_.blocks_empty += rows == 0;
    counters_.blocks_one_row += rows == 1;
    counters_.blocks_full_depth += rows == shape_.accumulator_rows;
    counters_.blocks_accumulating += accumulate && rows != 0;
    counters_.chains += accumulate && overlaps(blocks_, range);
    block_from_ = later(block_from_);
    auto data = values(uint64_t{rows} * shape_.rows, counters_.block_values);
    uint32_t k_len = shape_.rows;
    if (shape_.rows > 1 && rows != 0 && chance(15)) {
        k_len = 1 + static_cast<uint32_t>(below(shape_.rows - 1));
        ++counters_.blocks_partial;
        const size_t row_bytes = shape_.row_bytes(), used = k_len * shape_.element_bytes();
        for (size_t row = 0; row < rows; ++row)
            std::memset(data_.data() + row * row_bytes + used, 0, row_bytes - used);
    }
    const auto gaps = waits(rows, 40);
    if (!gaps.empty()) ++counters_.blocks_with_gaps;
    engine_.push_rows({range.id, block_from_, rows, k_len, address, swap, accumulate, data, gaps});
    swaps_pushed_ += swap;
    blocks_.push_back(range);
    std::fill_n(written_.begin() + address, rows, true);
}

void RandomStream::push_read() {
    if (reads_.size() >= kMostReads) return;
    Range range = random_range();
    range.rows = std::min(range.rows, kMostRowsRead);
    if (chance(5)) range.rows = 0;
    if (overlaps(blocks_, range) || !defined(range)) return;
    range.id = next_read_++;
    ++counters_.reads;
    counters_.reads_empty += range.rows == 0;
    counters_.rows_read += range.rows;
    counters_.reads_with_rows_in_flight += !blocks_.empty();
    read_from_ = later(read_from_);
    const auto holds = waits(range.rows, 30);
    counters_.results_held += static_cast<uint64_t>(
        std::count_if(holds.begin(), holds.end(), [](uint32_t edges) { return edges != 0; }));
    const uint32_t interval = chance(60) ? 1 : 1 + static_cast<uint32_t>(below(5));
    engine_.push_read({range.id, read_from_, range.address, range.rows, interval, holds});
    reads_.push_back(range);
}

/// After it nothing is known of the array: all is to be loaded and written again.
void RandomStream::maybe_reset() {
    constexpr uint64_t kSteps = 200;
    if (below(kSteps) != 0) return;
    ++counters_.resets;
    if (engine_.busy()) ++counters_.resets_in_flight;
    engine_.reset(now_);
    blocks_.clear();
    reads_.clear();
    tiles_pushed_ = tiles_loaded_ = swaps_pushed_ = 0;
    loaded_ = swapped_ = false;
    written_.assign(written_.size(), false);
}

/// Nothing may wait for ever.
void RandomStream::finish() {
    while (tiles_pushed_ < swaps_pushed_ && !ended()) {
        push_tile();
        advance(now_ + 1);
    }
    while (tiles_pushed_ > swaps_pushed_ + 1 && !ended()) {
        const Range range{0, window_, 1};
        if (!overlaps(reads_, range)) push_block(window_, 1, true, false);
        advance(now_ + 1 + below(64));
    }
    while (engine_.busy()) advance(now_ + 1 + below(256));
}

// ---- time ------------------------------------------------------------------------------------

void RandomStream::advance(Cycle until) {
    for (;;) {
        const auto event = engine_.advance(until);
        now_ = event ? event->cycle + 1 : until;
        if (!event) return;
        note(*event);
        if (now_ >= until) return;
        // What is pushed next may stand at the ports right after this event.
        if (chance(30)) return;
    }
}

void RandomStream::note(const MxuEvent& event) {
    switch (event.kind) {
        case MxuEvent::Kind::kTileLoaded:
            ++tiles_loaded_;
            last_load_ = event.cycle;
            loaded_ = true;
            if (swapped_ &&
                event.cycle == last_swap_ + 1 + Cycle{shape_.rows - 1} * timing_.weight_interval)
                ++counters_.tiles_back_to_back;
            break;
        case MxuEvent::Kind::kBlockStarted: {
            const auto block = std::find_if(blocks_.begin(), blocks_.end(),
                                            [&](const Range& b) { return b.id == event.id; });
            if (block == blocks_.end()) break;
            block->started = true;
            if (!block->swap) break;
            if (loaded_ && event.cycle == last_load_ + timing_.weight_latency)
                ++counters_.swaps_at_first_edge;
            if (blocks_.front().started && blocks_.front().id != block->id)
                ++counters_.swaps_while_busy;
            last_swap_ = event.cycle;
            swapped_ = true;
            break;
        }
        case MxuEvent::Kind::kBlockCommitted:
            if (blocks_.empty()) break;
            rows_committed_ += blocks_.front().rows;
            blocks_.pop_front();
            break;
        case MxuEvent::Kind::kReadDone:
            if (!reads_.empty()) reads_.pop_front();
            break;
    }
}

// ---- choices ---------------------------------------------------------------------------------

RandomStream::Range RandomStream::random_range() {
    const uint32_t most = std::min(window_rows_, kMostRows);
    // Short ones more often: large blocks hide what happens between blocks.
    const auto limit = static_cast<uint32_t>(1 + below(most));
    const auto rows = static_cast<uint32_t>(1 + below(limit));
    return {0, window_ + static_cast<uint32_t>(below(window_rows_ - rows + 1)), rows};
}

bool RandomStream::overlaps(const std::deque<Range>& ranges, const Range& range) {
    return std::any_of(ranges.begin(), ranges.end(), [&](const Range& other) {
        return range.address < other.address + other.rows &&
               other.address < range.address + range.rows;
    });
}

bool RandomStream::defined(const Range& range) const {
    const auto first = written_.begin() + range.address;
    return std::all_of(first, first + range.rows, [](bool written) { return written; });
}

std::span<const std::byte> RandomStream::values(uint64_t count,
                                                std::array<uint64_t, kValueStyles>& styles) {
    const ValueStyle style = random_style(random_);
    ++styles[static_cast<size_t>(style)];
    data_.resize(count * shape_.element_bytes());
    random_values(random_, shape_.dtype, style, data_);
    return data_;
}

/// Gaps or holds: none, one somewhere, now and then a few edges, or at every beat.
std::span<const uint32_t> RandomStream::waits(uint32_t beats, uint32_t longest) {
    if (beats == 0 || chance(55)) return {};
    waits_.assign(beats, 0);
    const uint64_t kind = below(4);
    if (kind < 2) {
        waits_[below(beats)] = 1 + static_cast<uint32_t>(below(kind == 0 ? 4 : longest));
    } else {
        const uint32_t percent = kind == 2 ? 10 : 100;
        const uint64_t most = kind == 2 ? 4 : 2;
        for (uint32_t& wait : waits_)
            if (chance(percent)) wait = static_cast<uint32_t>(below(most + 1));
    }
    return waits_;
}

/// Work of one kind stands at its port from now on, or some time later.
Cycle RandomStream::later(Cycle last) {
    const Cycle delay = chance(75) ? 0 : chance(80) ? below(12) : below(2 * shape_.rows + 16);
    return std::max(last, now_ + delay);
}

}  // namespace tandem::cosim
