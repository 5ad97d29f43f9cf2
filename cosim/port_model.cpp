// SPDX-License-Identifier: Apache-2.0
#include "cosim/port_model.h"

#include <algorithm>
#include <cstring>

namespace tandem::cosim {

PortModel::PortModel(engine::MxuShape shape)
    : shape_(std::move(shape)),
      timing_(engine::timing(shape_)),
      arithmetic_(shape_),
      shadow_(shape_.tile_bytes()),
      accumulators_(shape_.accumulator_rows) {}

PortsShown PortModel::step(const PortEdge& edge) {
    PortsShown shown{};
    if (edge.reset) {
        reset();
        ++edge_;
        return shown;
    }
    shown.weight_ready = !tile_complete() && edge_ >= beat_ready_;
    shown.activation_ready = !edge.swap || (tile_complete() && edge_ >= swap_ready_);
    shown.read_ready = !result_waits_ || edge.take;

    if (edge.take) result_waits_ = false;
    if (edge.read && shown.read_ready) {
        result_ = accumulators_[edge.read_address];  // the row as it stands before this edge
        result_waits_ = true;
    }
    commit(shown);
    if (edge.activation && shown.activation_ready) accept_row(edge);
    if (edge.weight && shown.weight_ready) {
        // Row rows-1 comes first.
        std::memcpy(&shadow_[(shape_.rows - 1 - beats_) * shape_.beat_bytes()], edge.weights.data(),
                    shape_.beat_bytes());
        ++beats_;
        beat_ready_ = edge_ + timing_.weight_interval;
        swap_ready_ = edge_ + timing_.weight_latency;
    }
    shown.result = result_waits_;
    if (result_waits_) shown.result_row = result_;
    shown.busy = !flights_.empty() || tile_open();
    ++edge_;
    return shown;
}

void PortModel::resume(std::span<const std::byte> active, std::span<const std::byte> shadow) {
    weights_.assign(active.begin(), active.end());
    if (!active.empty()) ++tile_;
    if (shadow.empty()) return;
    shadow_.assign(shadow.begin(), shadow.end());
    beats_ = shape_.rows;
}

/// Accumulator rows keep what they hold.
void PortModel::reset() {
    flights_.clear();
    beats_ = 0;
    weights_.clear();
    result_waits_ = false;
    beat_ready_ = swap_ready_ = edge_ + 1;
}

void PortModel::commit(PortsShown& shown) {
    if (flights_.empty() || flights_.front().commit != edge_) return;
    Flight flight = std::move(flights_.front());
    flights_.pop_front();
    PortRow& row = accumulators_[flight.address];
    if (flight.accumulate)
        arithmetic_.add(row, flight.sums);
    else
        row = std::move(flight.sums);
    shown.commit = true;
    shown.commit_address = flight.address;
    shown.commit_row = row;
}

void PortModel::accept_row(const PortEdge& edge) {
    if (edge.swap) {
        weights_ = shadow_;
        beats_ = 0;
        beat_ready_ = std::max(beat_ready_, edge_ + 1);
        ++tile_;
    }
    flights_.push_back({edge_ + timing_.commit_latency, edge.address, edge.accumulate,
                        arithmetic_.sums(edge.activations, weights_, tile_)});
}

bool PortModel::readable(uint32_t address) const {
    return std::ranges::none_of(flights_,
                                [&](const Flight& flight) { return flight.address == address; });
}

}  // namespace tandem::cosim
