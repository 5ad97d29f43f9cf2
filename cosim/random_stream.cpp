// SPDX-License-Identifier: Apache-2.0
#include "cosim/random_stream.h"

#include <algorithm>

namespace tandem::cosim {

RandomStream::RandomStream(mxu::MxuEngine& engine, uint64_t seed)
    : engine_(engine), random_(seed) {}

void RandomStream::run(uint32_t phases) {
    fill_accumulators();
    uint32_t half = 0;
    for (uint32_t phase = 0; phase < phases; ++phase, half ^= 1) {
        push_phase(half);
        drain();
    }
}

// Accumulators hold nothing known before they are overwritten once.
void RandomStream::fill_accumulators() {
    push_tile();
    push_rows(0, engine_.shape().accumulator_rows, true, false);
    drain();
}

// Writes go to one half of the accumulators, reads come from the other one, which is quiet.
void RandomStream::push_phase(uint32_t half) {
    const uint32_t depth = std::max(1u, engine_.shape().accumulator_rows / 2);
    const uint32_t first_row = half * (engine_.shape().accumulator_rows - depth);
    style_ = static_cast<uint32_t>(below(3));
    const uint32_t tiles = 1 + static_cast<uint32_t>(below(3));
    for (uint32_t tile = 0; tile < tiles; ++tile) {
        push_tile();
        const uint32_t blocks = 1 + static_cast<uint32_t>(below(2));
        for (uint32_t block = 0; block < blocks; ++block) push_block(first_row, depth, block == 0);
    }
    if (engine_.shape().accumulator_rows > 1)
        push_reads(engine_.shape().accumulator_rows - depth - first_row, depth);
}

int8_t RandomStream::value() {
    static constexpr int8_t kCorners[] = {-128, -127, -1, 0, 1, 127};
    if (style_ == 2) return kCorners[below(6)];
    const auto full = static_cast<int8_t>(random_());
    return style_ == 1 ? static_cast<int8_t>(full % 4) : full;
}

void RandomStream::push_tile() {
    std::vector<int8_t> data(size_t{engine_.shape().rows} * engine_.shape().cols);
    std::generate(data.begin(), data.end(), [&] { return value(); });
    tile_from_ = std::max(tile_from_, soon());
    engine_.push_weights({tiles_++, tile_from_, data});
}

void RandomStream::push_block(uint32_t first_row, uint32_t depth, bool swap) {
    constexpr uint64_t kMostRows = 96;
    const uint64_t limit = std::min<uint64_t>(depth, kMostRows);
    const uint64_t kind = below(8);
    const auto rows = static_cast<uint32_t>(kind == 0 ? 1 : kind == 1 ? limit : 1 + below(limit));
    push_rows(static_cast<uint32_t>(first_row + below(depth - rows + 1)), rows, swap,
              below(2) == 0);
}

void RandomStream::push_rows(uint32_t address, uint32_t rows, bool swap, bool accumulate) {
    std::vector<int8_t> data(size_t{rows} * engine_.shape().rows);
    std::generate(data.begin(), data.end(), [&] { return value(); });
    block_from_ = std::max(block_from_, soon());
    engine_.push_rows(
        {blocks_++, block_from_, rows, engine_.shape().rows, address, swap, accumulate, data});
    rows_ += rows;
}

void RandomStream::push_reads(uint32_t first_row, uint32_t depth) {
    const uint32_t reads = 1 + static_cast<uint32_t>(below(2));
    for (uint32_t i = 0; i < reads; ++i) {
        const auto rows = static_cast<uint32_t>(1 + below(std::min<uint64_t>(depth, 32)));
        const auto address = static_cast<uint32_t>(first_row + below(depth - rows + 1));
        read_from_ = std::max(read_from_, soon());
        engine_.push_read(
            {reads_++, read_from_, address, rows, 1 + static_cast<uint32_t>(below(3))});
    }
}

void RandomStream::drain() {
    while (engine_.busy()) {
        const mxu::Cycle until = now_ + 1 + below(64);
        const auto event = engine_.advance(until);
        now_ = event ? std::max(now_, event->cycle) : until;
    }
}

}  // namespace tandem::cosim
