// SPDX-License-Identifier: Apache-2.0
#include "systemc/mxu/tlm_mxu_engine.h"

#include <algorithm>

namespace tandem::mxu {

TlmMxuEngine::TlmMxuEngine(MxuShape shape) : shape_(shape) { reset(0); }

void TlmMxuEngine::reset(Cycle cycle) {
    tiles_.clear();
    blocks_.clear();
    reads_.clear();
    events_ = {};
    shadow_free_ = shadow_ready_ = row_port_free_ = read_port_free_ = cycle;
    shadow_full_ = false;
    read_data_.clear();
    accumulators_.assign(size_t{shape_.accumulator_rows} * shape_.cols, 0);
}

void TlmMxuEngine::push_weights(const WeightTile& tile) {
    tiles_.push_back({tile.id, tile.from, {tile.data.begin(), tile.data.end()}});
    resolve();
}

void TlmMxuEngine::push_rows(const RowBlock& block) {
    blocks_.push_back({block, {block.data.begin(), block.data.end()}});
    resolve();
}

void TlmMxuEngine::push_read(const AccumulatorRead& read) {
    const Cycle first = std::max(read.from, read_port_free_);
    const Cycle last = first + Cycle{read.rows - 1} * read.interval;
    read_port_free_ = last + 1;
    reads_.push_back({read.id, read.acc_addr, read.rows});
    emit(last, MxuEvent::Kind::kReadDone, read.id);
}

void TlmMxuEngine::resolve() {
    while (load_next_tile() || start_next_block()) {
    }
}

bool TlmMxuEngine::load_next_tile() {
    if (tiles_.empty() || shadow_full_) return false;
    PendingTile& tile = tiles_.front();
    const Cycle last = std::max(tile.from, shadow_free_) + shape_.rows - 1;
    emit(last, MxuEvent::Kind::kTileLoaded, tile.id);
    shadow_ready_ = last + 1;
    shadow_full_ = true;
    shadow_ = std::move(tile.data);
    tiles_.pop_front();
    return true;
}

bool TlmMxuEngine::start_next_block() {
    if (blocks_.empty() || (blocks_.front().block.swap && !shadow_full_)) return false;
    const PendingBlock pending = std::move(blocks_.front());
    blocks_.pop_front();
    const RowBlock& block = pending.block;
    Cycle first = std::max(block.from, row_port_free_);
    if (block.swap) {
        first = std::max(first, shadow_ready_);
        shadow_free_ = first + 1;
        shadow_full_ = false;
        weights_ = std::move(shadow_);
    }
    row_port_free_ = first + block.rows;
    emit(first, MxuEvent::Kind::kBlockStarted, block.id);
    emit(first + block.rows - 1 + commit_latency(shape_), MxuEvent::Kind::kBlockCommitted,
         block.id);
    if (!pending.data.empty()) multiply(pending);
    if (listener_) {
        const size_t begin = size_t{block.acc_addr} * shape_.cols;
        const size_t count = pending.data.empty() ? 0 : size_t{block.rows} * shape_.cols;
        listener_(
            {block.id, first, block.acc_addr, block.rows, {accumulators_.data() + begin, count}});
    }
    return true;
}

void TlmMxuEngine::multiply(const PendingBlock& pending) {
    const RowBlock& block = pending.block;
    gemm_.multiply(pending.data.data(), block.rows, shape_.rows, weights_.data(), block.k_len,
                   shape_.cols, block.accumulate,
                   accumulators_.data() + size_t{block.acc_addr} * shape_.cols);
}

std::optional<MxuEvent> TlmMxuEngine::advance(Cycle until) {
    if (events_.empty() || events_.top().cycle >= until) return std::nullopt;
    const MxuEvent event = events_.top();
    events_.pop();
    if (event.kind == MxuEvent::Kind::kReadDone) {
        const PendingRead read = reads_.front();
        reads_.pop_front();
        const auto first =
            accumulators_.begin() + static_cast<ptrdiff_t>(size_t{read.acc_addr} * shape_.cols);
        read_data_.assign(first, first + static_cast<ptrdiff_t>(size_t{read.rows} * shape_.cols));
    }
    return event;
}

}  // namespace tandem::mxu
