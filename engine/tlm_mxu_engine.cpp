// SPDX-License-Identifier: Apache-2.0
#include "engine/tlm_mxu_engine.h"

#include <algorithm>

namespace tandem::engine {
namespace {

uint32_t at(std::span<const uint32_t> waits, uint32_t index) {
    return index < waits.size() ? waits[index] : 0;
}

}  // namespace

TlmMxuEngine::TlmMxuEngine(MxuShape shape) : shape_(shape), timing_(timing(shape)) { reset(0); }

void TlmMxuEngine::reset(Cycle cycle) {
    tiles_.clear();
    blocks_.clear();
    timed_.clear();
    computed_ = {};
    reads_.clear();
    events_ = {};
    weight_port_free_ = weight_ready_ = swap_ready_ = row_port_free_ = read_port_free_ = cycle;
    last_commit_ = 0;
    shadow_full_ = false;
    shadow_ = weights_ = nullptr;
    read_data_ = {};
    accumulators_.assign(element(shape_.accumulator_rows), 0);
}

void TlmMxuEngine::push_weights(const WeightTile& tile, SharedData data) {
    tiles_.push_back({tile.id, tile.from, std::move(data), {tile.gaps.begin(), tile.gaps.end()}});
    resolve();
}

void TlmMxuEngine::push_rows(const RowBlock& block, SharedData data) {
    blocks_.push_back({block, std::move(data), {block.gaps.begin(), block.gaps.end()}});
    blocks_.back().block.data = {};
    blocks_.back().block.gaps = {};
    blocks_.back().block.owner = nullptr;
    resolve();
}

void TlmMxuEngine::push_read(const AccumulatorRead& read) {
    Cycle done = std::max(read.from, read_port_free_);
    if (read.holds.empty() && read.rows != 0) {
        done += Cycle{read.rows - 1} * std::max(1u, read.interval);
    } else {
        for (uint32_t row = 0; row < read.rows; ++row) {
            const Cycle held = done + at(read.holds, row);
            done = row + 1 == read.rows ? held : std::max(done + read.interval, held + 1);
        }
    }
    if (read.rows != 0) read_port_free_ = done + 1;
    reads_.push_back({read.id, read.acc_addr, read.rows});
    emit(done, MxuEvent::Kind::kReadDone, read.id);
}

void TlmMxuEngine::resolve() {
    while (load_next_tile() || start_next_block()) {
    }
}

bool TlmMxuEngine::load_next_tile() {
    if (tiles_.empty() || shadow_full_) return false;
    PendingTile& tile = tiles_.front();
    const Cycle last = last_beat(tile);
    emit(last, MxuEvent::Kind::kTileLoaded, tile.id);
    weight_port_free_ = last + 1;
    weight_ready_ = last + timing_.weight_interval;
    swap_ready_ = last + timing_.weight_latency;
    shadow_full_ = true;
    shadow_ = std::move(tile.data);
    tiles_.pop_front();
    return true;
}

Cycle TlmMxuEngine::last_beat(const PendingTile& tile) const {
    Cycle accepted =
        std::max(std::max(tile.from, weight_port_free_) + at(tile.gaps, 0), weight_ready_);
    if (tile.gaps.empty()) return accepted + (shape_.rows - 1) * timing_.weight_interval;
    for (uint32_t beat = 1; beat < shape_.rows; ++beat)
        accepted += std::max(timing_.weight_interval, Cycle{1} + at(tile.gaps, beat));
    return accepted;
}

bool TlmMxuEngine::start_next_block() {
    if (blocks_.empty() || (blocks_.front().block.swap && !shadow_full_)) return false;
    PendingBlock pending = std::move(blocks_.front());
    blocks_.pop_front();
    const RowBlock& block = pending.block;
    if (block.rows != 0) {
        start_rows(pending);
        return true;
    }
    const Cycle started = std::max(block.from, row_port_free_);
    emit(started, MxuEvent::Kind::kBlockStarted, block.id);
    emit(std::max(started, last_commit_), MxuEvent::Kind::kBlockCommitted, block.id);
    return true;
}

void TlmMxuEngine::start_rows(PendingBlock& pending) {
    const RowBlock& block = pending.block;
    Cycle first = std::max(block.from, row_port_free_) + at(pending.gaps, 0);
    if (block.swap) {
        first = std::max(first, swap_ready_);
        weight_ready_ = std::max(weight_ready_, first + 1);
        shadow_full_ = false;
        weights_ = std::move(shadow_);
        ++tiles_used_;
    }
    Cycle last = first + block.rows - 1;
    std::vector<Cycle> edges;
    if (!pending.gaps.empty()) {
        edges = {first};
        for (uint32_t row = 1; row < block.rows; ++row)
            edges.push_back(edges.back() + 1 + at(pending.gaps, row));
        last = edges.back();
    }
    row_port_free_ = last + 1;
    last_commit_ = last + timing_.commit_latency;
    emit(first, MxuEvent::Kind::kBlockStarted, block.id);
    emit(last_commit_, MxuEvent::Kind::kBlockCommitted, block.id);
    timed_.push_back(
        {block, std::move(pending.data), weights_, tiles_used_, first, std::move(edges)});
}

const TlmMxuEngine::BlockResult* TlmMxuEngine::next_block() {
    if (timed_.empty()) return nullptr;
    computed_ = std::move(timed_.front());
    timed_.pop_front();
    multiply(computed_);
    const RowBlock& block = computed_.block;
    const size_t count = computed_.data == nullptr ? 0 : element(block.rows);
    result_ = {block.id,        block.acc_addr,
               block.rows,      computed_.first_edge,
               computed_.edges, {accumulators_.data() + element(block.acc_addr), count}};
    if (listener_) listener_(result_);
    return &result_;
}

void TlmMxuEngine::multiply(const TimedBlock& timed) {
    if (timed.data == nullptr || timed.weights == nullptr) return;
    const RowBlock& block = timed.block;
    int32_t* sums = accumulators_.data() + element(block.acc_addr);
    if (shape_.dtype == arch::Dtype::kInt8)
        return gemm_int8_.multiply(reinterpret_cast<const int8_t*>(timed.data.get()), block.rows,
                                   shape_.rows,
                                   reinterpret_cast<const int8_t*>(timed.weights.get()),
                                   block.k_len, shape_.cols, block.accumulate, sums, timed.tile);
    // Weights beyond k_len need not be zero: -x, infinity and NaN times +0 show in the sum.
    gemm_bf16_.multiply(reinterpret_cast<const uint16_t*>(timed.data.get()), block.rows,
                        shape_.rows, reinterpret_cast<const uint16_t*>(timed.weights.get()),
                        shape_.rows, shape_.rows, shape_.cols, block.accumulate, sums, shape_.sum4,
                        timed.tile);
}

std::optional<MxuEvent> TlmMxuEngine::advance(Cycle until) {
    if (events_.empty() || events_.top().cycle >= until) return std::nullopt;
    const MxuEvent event = events_.top();
    events_.pop();
    if (event.kind == MxuEvent::Kind::kBlockCommitted)
        while (!timed_.empty() && timed_.front().block.id <= event.id) next_block();
    if (event.kind == MxuEvent::Kind::kReadDone) {
        const PendingRead read = reads_.front();
        reads_.pop_front();
        read_data_ = {accumulators_.data() + element(read.acc_addr), element(read.rows)};
    }
    return event;
}

}  // namespace tandem::engine
