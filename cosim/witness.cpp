// SPDX-License-Identifier: Apache-2.0
#include "cosim/witness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace tandem::cosim {
namespace {

constexpr size_t kMostReads = 64;

std::vector<std::byte> bytes_at(const void* data, size_t count) {
    const auto* first = static_cast<const std::byte*>(data);
    return {first, first + count};
}

PortRow row_at(const void* data, uint32_t cols) {
    PortRow row(cols);
    std::memcpy(row.data(), data, cols * sizeof(int32_t));
    return row;
}

template <class T>
void keep(std::deque<T>& items, size_t most) {
    while (items.size() > most) items.pop_front();
}

}  // namespace

Witness::Witness(engine::MxuShape shape, std::span<const std::byte> active,
                 std::span<const std::byte> shadow)
    : shape_(std::move(shape)),
      arithmetic_(shape_),
      committed_(shape_.accumulator_rows),
      committed_before_(shape_.accumulator_rows),
      expected_(shape_.accumulator_rows) {
    reset();
    if (!active.empty()) {
        tile_ = std::make_shared<WitnessedTile>();
        tile_->data.assign(active.begin(), active.end());
    }
    if (shadow.empty()) return;
    shadow_->data.assign(shadow.begin(), shadow.end());
    beats_ = shape_.rows;
}

/// Accumulator rows keep what they hold.
void Witness::reset() {
    flights_.clear();
    tile_ = tile_before_ = nullptr;
    shadow_ = std::make_shared<WitnessedTile>();
    beats_ = 0;
    late_beat_ = nullptr;
    row_accepted_ = committed_now_ = result_waits_ = false;
    operand_ = {};
    beat_.clear();
    last_row_.clear();
    last_commit_.clear();
}

void Witness::step(uint64_t edge, const TandemArrayPorts& ports) {
    edge_ = edge;
    if (ports.reset) {
        beat_due_ = swap_due_ = edge + 1;
        return reset();
    }
    const PortRow data = row_at(ports.cmt_data, shape_.cols);
    const WitnessedOperand operand = this->operand(ports);
    const std::vector<std::byte> beat = this->beat(ports);
    if (committed_now_ && !rows_.empty()) rows_.back().data_late = data;
    if (row_accepted_ && !flights_.empty()) flights_.back().late = operand;
    if (late_beat_ != nullptr) {
        if (beat.empty())
            shadow_->late.clear();
        else if (!shadow_->late.empty())
            std::memcpy(late_beat_, beat.data(), beat.size());
        late_beat_ = nullptr;
    }
    committed_now_ = row_accepted_ = false;
    note_read(edge, ports);
    if (ports.cmt_valid) note_commit(edge, ports);
    note_handshakes(edge, ports);
    if (ports.act_valid && ports.act_ready) note_row(edge, ports);
    if (ports.wgt_valid && ports.wgt_ready) note_beat(ports);
    data_ = data;
    operand_ = operand;
    beat_ = beat;
}

/// Of beats and rows; the edges that follow a wrong one prove nothing.
void Witness::note_handshakes(uint64_t edge, const TandemArrayPorts& ports) {
    if (!handshake_.empty()) return;
    const bool complete = beats_ == shape_.rows;
    const std::string tile =
        complete ? std::string("whose tile is complete")
                 : fmt::format("whose tile has {} of {} beats", beats_, shape_.rows);
    const auto check = [&](bool valid, bool ready, bool should, const std::string& what) {
        if (valid && ready != should)
            handshake_ = fmt::format("{} {} at edge {}", what,
                                     ready ? "is accepted too early," : "is made to wait", edge);
    };
    if (ports.act_swap)
        check(ports.act_valid, ports.act_ready, complete && edge >= swap_due_,
              "a row with act_swap_i, " + tile + ",");
    else
        check(ports.act_valid, ports.act_ready, true, "a row without act_swap_i");
    if (!handshake_.empty()) return;
    check(ports.wgt_valid, ports.wgt_ready, !complete && edge >= beat_due_,
          "a weight beat, " + tile + ",");
    const engine::MxuTiming timing = engine::timing(shape_);
    if (ports.act_valid && ports.act_ready && ports.act_swap)
        beat_due_ = std::max(beat_due_, edge + 1);
    if (!ports.wgt_valid || !ports.wgt_ready) return;
    beat_due_ = edge + timing.weight_interval;
    swap_due_ = edge + timing.weight_latency;
}

/// What stands with a row at the ports; when its valid is low only if something is said to.
WitnessedOperand Witness::operand(const TandemArrayPorts& ports) const {
    if (ports.act_data == nullptr || !(ports.act_valid || ports.idle_data)) return {};
    return {bytes_at(ports.act_data, shape_.row_bytes()), ports.act_addr,
            ports.act_accumulate != 0};
}

std::vector<std::byte> Witness::beat(const TandemArrayPorts& ports) const {
    if (ports.wgt_data == nullptr || !(ports.wgt_valid || ports.idle_data)) return {};
    return bytes_at(ports.wgt_data, shape_.beat_bytes());
}

PortRow Witness::accumulator(const std::vector<PortRow>& rows, uint32_t address) const {
    return address < rows.size() ? rows[address] : PortRow();
}

void Witness::note_read(uint64_t edge, const TandemArrayPorts& ports) {
    const PortRow result = row_at(ports.res_data, shape_.cols);
    const bool accepted = ports.rd_valid && ports.rd_ready;
    if (result_waits_ && !accepted && ports.res_valid && !reads_.empty() && result != result_)
        reads_.back().changed = true;
    if (accepted) {
        WitnessedRead read;
        read.accepted = edge;
        read.address = ports.rd_addr;
        read.data = result;
        read.expected = accumulator(committed_, ports.rd_addr);
        read.below = accumulator(committed_, ports.rd_addr - 1);
        read.above = accumulator(committed_, ports.rd_addr + 1);
        read.stale = accumulator(committed_before_, ports.rd_addr);
        if (!reads_.empty() && reads_.back().address != ports.rd_addr)
            read.data_before = reads_.back().data;
        reads_.push_back(std::move(read));
        keep(reads_, kMostReads);
    }
    result_waits_ = ports.res_valid != 0;
    result_ = result;
}

void Witness::note_commit(uint64_t edge, const TandemArrayPorts& ports) {
    if (flights_.empty()) {
        lonely_.push_back(edge);
        return keep(lonely_, kMostReads);
    }
    WitnessedRow row = std::move(flights_.front());
    flights_.pop_front();
    row.committed = edge;
    row.address = ports.cmt_addr;
    row.data = row_at(ports.cmt_data, shape_.cols);
    row.data_early = data_;
    row.data_before = last_commit_;
    row.base = accumulator(committed_, row.at.address);
    row.base_before = accumulator(committed_before_, row.at.address);
    row.base_of_early = accumulator(committed_, row.early.address);
    row.base_of_late = accumulator(committed_, row.late.address);
    row.expected_base = accumulator(expected_, row.at.address);
    if (row.at.address < expected_.size()) {
        PortRow& expected = expected_[row.at.address];
        if (row.at.accumulate)
            arithmetic_.add(expected, row.sums);
        else
            expected = row.sums;
    }
    if (row.address < committed_.size()) {
        committed_before_[row.address] = std::move(committed_[row.address]);
        committed_[row.address] = row.data;
    }
    last_commit_ = row.data;
    rows_.push_back(std::move(row));
    keep(rows_, kMostRows);
    committed_now_ = true;
}

void Witness::note_row(uint64_t edge, const TandemArrayPorts& ports) {
    if (ports.act_swap) swap();
    WitnessedRow row;
    row.accepted = edge;
    row.at = operand(ports);
    row.early = operand_;
    row.row_before = last_row_;
    row.tile = tile_;
    row.tile_before = tile_before_;
    if (tile_ != nullptr)
        row.sums = arithmetic_.sums(row.at.activations, tile_->data, tile_number_);
    last_row_ = row.at.activations;
    flights_.push_back(std::move(row));
    row_accepted_ = true;
}

void Witness::swap() {
    const bool complete = beats_ == shape_.rows;
    if (tile_ != nullptr && complete) tile_->next = shadow_;
    tile_before_ = std::move(tile_);
    tile_ = complete ? std::exchange(shadow_, std::make_shared<WitnessedTile>()) : nullptr;
    late_beat_ = nullptr;
    beats_ = 0;
    ++tile_number_;
}

void Witness::note_beat(const TandemArrayPorts& ports) {
    if (beats_ == shape_.rows) return;
    WitnessedTile& tile = *shadow_;
    if (beats_ == 0)
        for (auto* data : {&tile.data, &tile.early, &tile.late}) data->resize(shape_.tile_bytes());
    const size_t at = (shape_.rows - 1 - beats_) * shape_.beat_bytes();
    std::memcpy(&tile.data[at], ports.wgt_data, shape_.beat_bytes());
    if (beat_.empty())
        tile.early.clear();
    else if (!tile.early.empty())
        std::memcpy(&tile.early[at], beat_.data(), beat_.size());
    if (!tile.late.empty()) late_beat_ = &tile.late[at];
    ++beats_;
}

}  // namespace tandem::cosim
