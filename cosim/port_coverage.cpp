// SPDX-License-Identifier: Apache-2.0
#include "cosim/port_coverage.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "arch/bf16.h"

namespace tandem::cosim {

namespace {

const CoverPoint kTileState{"tile", {"none", "partial", "complete"}};
constexpr size_t kNoTile = 0, kPartial = 1, kComplete = 2;

CoverPoint flag(const char* name) { return {name, {"no", "yes"}}; }

/// Bins of numbers: below the first limit, below the second, ...
size_t bin_of(uint64_t value, std::initializer_list<uint64_t> limits) {
    return static_cast<size_t>(
        std::ranges::count_if(limits, [&](uint64_t limit) { return value >= limit; }));
}

size_t int8_class(int8_t value) {
    return value == -128 ? 0 : value < 0 ? 1 : value == 0 ? 2 : value < 127 ? 3 : 4;
}

/// Of an fp32; what was bf16 has subnormals.
size_t float_class(uint32_t bits) {
    const uint32_t exponent = bits >> bf16::kFractionBits & 0xff;
    if ((bits & bf16::kMagnitude) == 0) return bits == 0 ? 0 : 1;
    if (exponent == 0) return 2;
    if (exponent == 255) return bf16::is_nan(bits) ? 7 : 6;
    return exponent == 1 ? 3 : exponent == 254 ? 5 : 4;
}

const std::vector<std::string> kInt8Classes{"-128", "negative", "0", "positive", "127"};
const std::vector<std::string> kFloatClasses{
    "+0", "-0", "subnormal", "least exponent", "normal", "greatest exponent", "infinity", "NaN"};

}  // namespace

PortCoverage::PortCoverage(const engine::MxuShape& shape)
    : shape_(shape), timing_(engine::timing(shape)) {
    build_groups();
    restart();
}

void PortCoverage::build_groups() {
    using Bins = CoverGroup::Bins;
    const bool one_row = shape_.rows == 1, one_address = shape_.accumulator_rows == 1;
    const bool slow_beats = timing_.weight_interval > 1, slow_swap = timing_.weight_latency > 1;
    const bool int8 = shape_.dtype == arch::Dtype::kInt8;
    const CoverPoint row{"row", {"none", "plain", "swap accepted", "swap refused"}};
    const CoverPoint answer_of_beat{"beat", {"none", "accepted", "refused", "withdrawn"}};
    const CoverPoint read{"read", {"none", "accepted", "refused", "withdrawn"}};
    const auto tile_can = [=](size_t state) { return state != kPartial || !one_row; };

    groups_ = {
        {"beat",
         {kTileState, answer_of_beat, row},
         [=](const Bins& b) {
             if (!tile_can(b[0]) || (b[2] == 2 && b[0] != kComplete)) return false;
             if (b[2] == 3 && b[0] == kComplete && !slow_swap) return false;
             if (b[1] == kAccepted) return b[0] != kComplete;
             if (b[1] == kRefused) return b[0] == kComplete || (b[0] == kPartial && slow_beats);
             // The last edge refused it: the tile was complete, and may just have been swapped in.
             if (b[1] == kWithdrawn && b[0] == kNoTile) return b[2] != 2;
             return b[1] != kWithdrawn || b[0] == kComplete || slow_beats;
         }},
        {"row",
         {flag("swap"),
          flag("accumulate"),
          {"accumulator row", {"not in flight", "in flight", "of the row before"}},
          flag("rows in flight")},
         [](const Bins& b) { return b[2] == 0 || b[3] == 1; }},
        {"read",
         {{"result", {"none", "taken", "held"}},
          read,
          {"commit", {"none", "another row", "the result's row"}}},
         [=](const Bins& b) {
             const bool waits = b[0] != 0;
             if (b[2] == 2 && !waits) return false;
             if (b[2] == 1 && waits && one_address) return false;
             if (b[1] == kAccepted && b[0] == 2) return false;
             if (b[1] == kRefused && b[0] != 2) return false;
             // A row in flight is not read; with one accumulator row every commit is to that one.
             if ((b[1] == kAccepted || b[1] == kRefused) && b[2] != 0 && one_address) return false;
             return b[1] != kWithdrawn || waits;
         }},
        {"together",
         {flag("beat"), flag("row"), flag("read"), flag("commit"), flag("result taken")},
         [=](const Bins& b) { return !(one_address && b[2] == 1 && b[3] == 1); }},
        {"tile",
         {{"beats", {"back to back", "with gaps"}},
          {"swap", {"at the first edge", "within 16 edges", "later"}},
          {"offered early", {"no", "yes"}},
          flag("rows in flight")},
         [=](const Bins& b) { return !(one_row && b[0] == 1); }},
        {"streaming",
         {{"rows without a bubble", {"1", "up to the latency", "more"}},
          {"swaps among them", {"0", "1", "more"}}},
         [](const Bins& b) { return b[0] != 0 || b[1] != 2; }},
        {"hold",
         {{"edges", {"1", "2 to 15", "16 to 255", "256 and more"}},
          {"its row written", {"never", "once", "more often"}}},
         [latency = timing_.commit_latency](const Bins& b) {
             // The row of a read has no commit in flight.
             constexpr std::array<uint64_t, 4> kMost{1, 15, 255, ~uint64_t{0}};
             return b[1] == 0 || kMost[b[0]] >= latency + b[1] - 1;
         }},
        {"idle",
         {{"edges", {"1", "2 to 15", "16 to 255", "256 and more"}},
          {"ended by", {"a beat", "a row", "a read", "several"}}}},
        {"reset",
         {{"edges", {"1", "2", "3 and more"}},
          kTileState,
          flag("rows in flight"),
          flag("result waits")},
         [=](const Bins& b) { return tile_can(b[1]); }},
        {"in_reset",
         {flag("beat"), {"row", {"none", "plain", "swap"}}, flag("read"), flag("take")}},
        {"after_reset", {flag("beat"), {"row", {"none", "plain", "swap refused"}}, flag("read")}},
        {"address",
         {{"accumulator row", {"first", "between", "last"}},
          {"event", {"commit", "read"}},
          {"the one before", {"the same", "another"}}},
         [=, between = shape_.accumulator_rows > 2](const Bins& b) {
             return one_address ? b[0] == 0 && b[2] == 0 : b[0] != 1 || between;
         }},
        {"operands",
         {{"activation", int8 ? kInt8Classes : kFloatClasses},
          {"weight", int8 ? kInt8Classes : kFloatClasses}}},
    };
    if (int8)
        groups_.push_back(
            {"sum", {{"commit", {"replaces", "adds", "wraps above", "wraps below"}}}});
    else
        groups_.push_back(
            {"sum",
             {{"commit", {"replaces", "adds"}}, {"sum", kFloatClasses}},
             // One product added to +0 is never -0.
             [=](const Bins& b) { return b[1] != 2 && (!one_row || b[0] + b[1] != 1); }});
}

void PortCoverage::restart() {
    sums_.assign(shape_.accumulator_rows, std::nullopt);
    reset_edges_ = 0;
    was_reset_ = first_edge_ = false;
    flights_.clear();
    beat_waited_ = swap_waited_ = read_waited_ = tile_gaps_ = swap_early_ = false;
    last_row_ = last_commit_ = last_read_ = std::nullopt;
    hold_ = hold_writes_ = idle_ = run_ = run_swaps_ = tile_age_ = 0;
    shadow_ = weight_ = {};
}

PortCoverage& PortCoverage::operator+=(const PortCoverage& other) {
    for (size_t i = 0; i < groups_.size(); ++i) groups_[i] += other.groups_[i];
    return *this;
}

void PortCoverage::before(const PortModel& model) {
    tile_state_ = model.tile_complete() ? kComplete : model.tile_open() ? kPartial : kNoTile;
    in_flight_ = model.rows_in_flight() != 0;
    result_waits_ = model.result_waits();
}

void PortCoverage::sample(const PortEdge& edge, const PortsShown& shown) {
    if (edge.reset) return sample_reset(edge);
    first_edge_ = reset_edges_ != 0;
    if (first_edge_) {
        groups_[kReset].sample(
            {bin_of(reset_edges_, {2, 3}), reset_state_[0], reset_state_[1], reset_state_[2]});
        groups_[kAfterReset].sample(
            {edge.weight, edge.activation ? 1u + edge.swap : 0u, edge.read});
        reset_edges_ = 0;
    }
    const auto answer = [](bool valid, bool ready, bool waited) {
        return valid ? ready ? kAccepted : kRefused : waited ? kWithdrawn : kNone;
    };
    const Answer beat = answer(edge.weight, shown.weight_ready, beat_waited_);
    const Answer row = answer(edge.activation, shown.activation_ready, swap_waited_);
    const Answer read = answer(edge.read, shown.read_ready, read_waited_);
    beat_waited_ = beat == kRefused;
    swap_waited_ = row == kRefused;
    read_waited_ = read == kRefused;
    groups_[kTogether].sample({beat == kAccepted, row == kAccepted, read == kAccepted, shown.commit,
                               result_waits_ && edge.take});
    groups_[kBeat].sample({tile_state_, beat,
                           row == kAccepted  ? 1u + edge.swap
                           : row == kRefused ? 3u
                                             : 0u});
    sample_idle(edge, shown, row);
    sample_reads(edge, shown, read);
    if (shown.commit) sample_commit(shown);
    sample_rows(edge, row);
    sample_weights(edge, beat);
}

void PortCoverage::sample_reset(const PortEdge& edge) {
    if (reset_edges_ == 0) {
        const std::array<size_t, 3> state{tile_state_, in_flight_, result_waits_};
        end_run();
        auto sums = std::move(sums_);  // accumulators have no reset
        restart();
        sums_ = std::move(sums);
        reset_state_ = state;
    }
    ++reset_edges_;
    groups_[kInReset].sample(
        {edge.weight, edge.activation ? 1u + edge.swap : 0u, edge.read, edge.take});
}

void PortCoverage::sample_weights(const PortEdge& edge, Answer beat) {
    if (tile_state_ == kComplete) ++tile_age_;
    if (tile_state_ == kPartial && beat != kAccepted) tile_gaps_ = true;
    if (beat != kAccepted) return;
    if (tile_state_ == kNoTile) {
        tile_gaps_ = false;
        shadow_[0] = class_of(edge.weights, 0);
    }
    tile_age_ = 0;
    shadow_[1] = class_of(edge.weights, shape_.cols - 1);
}

void PortCoverage::sample_rows(const PortEdge& edge, Answer row) {
    swap_early_ = swap_early_ || (row == kRefused && tile_state_ != kComplete);
    if (row != kAccepted) return end_run();
    if (edge.swap) {
        groups_[kTile].sample({tile_gaps_,
                               tile_age_ + 1 == timing_.weight_latency ? 0u
                               : tile_age_ < 16                        ? 1u
                                                                       : 2u,
                               swap_early_, in_flight_});
        weight_ = shadow_;
        swap_early_ = false;
    }
    const bool in_flight = std::ranges::any_of(
        flights_, [&](const Flight& flight) { return flight.address == edge.address; });
    const size_t place = in_flight && last_row_ == edge.address ? 2 : in_flight ? 1 : 0;
    groups_[kRow].sample({edge.swap, edge.accumulate, place, !flights_.empty()});
    for (size_t i = 0; i < weight_.size(); ++i)
        if (weight_[i])
            groups_[kOperands].sample(
                {class_of(edge.activations, i == 0 ? shape_.rows - 1 : 0), *weight_[i]});
    flights_.push_back({edge.address, edge.accumulate});
    last_row_ = edge.address;
    ++run_;
    run_swaps_ += edge.swap;
}

void PortCoverage::sample_reads(const PortEdge& edge, const PortsShown& shown, Answer read) {
    const bool same = shown.commit && result_waits_ && shown.commit_address == result_address_;
    groups_[kRead].sample({!result_waits_ ? 0u
                           : edge.take    ? 1u
                                          : 2u,
                           read,
                           same           ? 2u
                           : shown.commit ? 1u
                                          : 0u});
    if (result_waits_) {
        ++hold_;
        hold_writes_ += same;
        if (edge.take)
            groups_[kHold].sample({bin_of(hold_, {2, 16, 256}), bin_of(hold_writes_, {1, 2})});
    }
    if (read != kAccepted) return;
    hold_ = hold_writes_ = 0;
    result_address_ = edge.read_address;
    groups_[kAddress].sample(
        {address_bin(edge.read_address), 1,
         last_read_.value_or(edge.read_address) == edge.read_address ? 0u : 1u});
    last_read_ = edge.read_address;
}

void PortCoverage::sample_commit(const PortsShown& shown) {
    const uint32_t address = shown.commit_address;
    groups_[kAddress].sample(
        {address_bin(address), 0, last_commit_.value_or(address) == address ? 0u : 1u});
    last_commit_ = address;
    const bool accumulate = flights_.front().accumulate;
    flights_.pop_front();
    std::optional<int32_t>& old = sums_[address];
    if (shown.commit_row.empty()) {
        old.reset();
        return;
    }
    const int32_t sum = shown.commit_row[0];
    if (shape_.dtype == arch::Dtype::kBf16) {
        groups_[kSum].sample({accumulate, float_class(std::bit_cast<uint32_t>(sum))});
    } else if (!accumulate || !old) {
        groups_[kSum].sample({accumulate});
    } else {
        // A row's own sum is far from the ends of the range.
        const auto added = static_cast<int32_t>(static_cast<uint32_t>(sum) - *old);
        groups_[kSum].sample({added > 0 && sum < *old ? 2u : added < 0 && sum > *old ? 3u : 1u});
    }
    old = sum;
}

void PortCoverage::sample_idle(const PortEdge& edge, const PortsShown& shown, Answer row) {
    const int active = edge.weight + edge.activation + edge.read;
    if (active == 0) {
        idle_ = shown.busy ? 0 : idle_ + 1;
        return;
    }
    if (idle_ != 0 && row != kRefused)
        groups_[kIdle].sample({bin_of(idle_, {2, 16, 256}), active > 1        ? 3u
                                                            : edge.activation ? 1u
                                                            : edge.read       ? 2u
                                                                              : 0u});
    idle_ = 0;
}

void PortCoverage::end_run() {
    if (run_ != 0)
        groups_[kStreaming].sample(
            {bin_of(run_, {2, timing_.commit_latency + 1}), bin_of(run_swaps_, {1, 2})});
    run_ = run_swaps_ = 0;
}

size_t PortCoverage::address_bin(uint32_t address) const {
    return address == 0 ? 0 : address + 1 == shape_.accumulator_rows ? 2 : 1;
}

size_t PortCoverage::class_of(const std::vector<std::byte>& data, size_t index) const {
    if (shape_.dtype == arch::Dtype::kInt8) return int8_class(static_cast<int8_t>(data[index]));
    uint16_t bits = 0;
    std::memcpy(&bits, &data[index * sizeof bits], sizeof bits);
    return float_class(uint32_t{bits} << 16);
}

}  // namespace tandem::cosim
