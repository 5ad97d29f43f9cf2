// SPDX-License-Identifier: Apache-2.0
#include "cosim/port_traffic.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tandem::cosim {

namespace {

template <class Counters>
auto members(Counters& c) {
    return std::array{
        std::pair{"edges", &c.edges},
        std::pair{"rows", &c.rows},
        std::pair{"beats", &c.beats},
        std::pair{"reads", &c.reads},
        std::pair{"resets", &c.resets},
        std::pair{"resets_of_one_edge", &c.resets_of_one_edge},
        std::pair{"resets_with_tile", &c.resets_with_tile},
        std::pair{"resets_with_rows", &c.resets_with_rows},
        std::pair{"resets_with_result", &c.resets_with_result},
        std::pair{"swaps_withdrawn", &c.swaps_withdrawn},
        std::pair{"beats_withdrawn", &c.beats_withdrawn},
        std::pair{"reads_withdrawn", &c.reads_withdrawn},
        std::pair{"swaps_refused", &c.swaps_refused},
        std::pair{"beats_refused", &c.beats_refused},
        std::pair{"reads_refused", &c.reads_refused},
        std::pair{"reads_with_commit", &c.reads_with_commit},
        std::pair{"held_while_written", &c.held_while_written},
        std::pair{"commits_to_the_same", &c.commits_to_the_same},
        std::pair{"longest_hold", &c.longest_hold},
        std::pair{"longest_idle", &c.longest_idle},
        std::pair{"longest_without_reset", &c.longest_without_reset},
        std::pair{"longest_run", &c.longest_run},
    };
}

void put(std::vector<std::byte>& data, size_t index, uint32_t bytes, uint16_t value) {
    std::memcpy(&data[index * bytes], &value, bytes);
}

}  // namespace

std::vector<std::pair<const char*, uint64_t>> PortCounters::list() const {
    std::vector<std::pair<const char*, uint64_t>> found;
    for (const auto& [name, value] : members(*this)) found.emplace_back(name, *value);
    return found;
}

PortCounters& PortCounters::operator+=(const PortCounters& other) {
    const auto mine = members(*this);
    const auto others = members(other);
    for (size_t i = 0; i < mine.size(); ++i) {
        const bool longest = std::string_view(mine[i].first).starts_with("longest");
        *mine[i].second = longest ? std::max(*mine[i].second, *others[i].second)
                                  : *mine[i].second + *others[i].second;
    }
    return *this;
}

PortTraffic::PortTraffic(const engine::MxuShape& shape, uint64_t seed, PortStreamKind kind)
    : shape_(shape),
      kind_(kind),
      negative_(seed % 4 >= 2),
      random_(seed),
      edge_(idle_edge(shape)) {}

// ---- what a phase is about

void PortTraffic::begin_phase() {
    constexpr uint32_t kRates[] = {100, 100, 90, 60, 30, 5};
    const auto rate = [&] { return kRates[below(std::size(kRates))]; };
    phase_ = {.edges = 20 + below(200),
              .weight = rate(),
              .activation = rate(),
              .swap = static_cast<uint32_t>(below(4) == 0 ? 100 : 5 + below(60)),
              .accumulate = static_cast<uint32_t>(below(3) == 0 ? 95 : 40),
              .read = rate(),
              .take = rate(),
              .withdraw = static_cast<uint32_t>(below(3) == 0 ? 0 : 10 + below(50)),
              .ties = below(2) == 0,
              .positive = below(2) == 0};
    phase_.spread = static_cast<uint32_t>(1 + below(below(2) == 0 ? 3 : 64));
    phase_.spread = std::min(phase_.spread, shape_.accumulator_rows);
    const uint32_t room = shape_.accumulator_rows - phase_.spread;
    const uint64_t where = below(3);  // the first rows, the last ones, anywhere
    phase_.base = where == 0 ? 0 : where == 1 ? room : static_cast<uint32_t>(below(room + 1));
    phase_.values = random_style(random_);
    if (kind_ == PortStreamKind::kLong && long_phase_ < kLongPhases) return begin_long_phase();
    switch (below(20)) {
        case 0:  // nothing, but noise
            phase_.edges = 300 + below(1500);
            phase_.weight = phase_.activation = phase_.read = 0;
            break;
        case 1:  // a result is held, and its row goes on
            phase_.edges = 200 + below(600) + 2 * engine::commit_latency(shape_);
            phase_.take = below(2) == 0 ? 0 : 1;
            phase_.activation = 90;
            phase_.withdraw = 40;
            phase_.spread = 1;
            break;
        case 2:
            add_up(300 + below(400));
            break;
        case 3:  // one thing after the other
        case 4:
            phase_.edges = 100 + 3 * engine::commit_latency(shape_) + below(400);
            phase_.alone = true;
            if (below(3) == 0) phase_.weight = 0;
            if (below(2) == 0) phase_.take = 0;
            if (below(3) == 0) phase_.activation = 0;
            break;
        case 5:  // rows without a bubble, and a swap where it does not wait
        case 6:
            phase_.edges = 3 * engine::commit_latency(shape_) + below(200);
            phase_.weight = phase_.activation = 100;
            phase_.withdraw = 0;
            if (below(2) == 0) phase_.swap = 0;
            phase_.polite = true;
            break;
        case 7:  // few requests
            phase_.edges = 1500;
            phase_.withdraw = 0;
            phase_.sparse = below(2) == 0 ? 30 : 1200;
            break;
        default:
            break;
    }
}

/// What takes longer than a stream of another kind, one after the other: something to hold, nothing
/// at all, a result that nobody takes, sums beyond 2^31.
void PortTraffic::begin_long_phase() {
    constexpr uint64_t kWait = 8400;  // beyond counters of 13 bits
    switch (long_phase_++) {
        case 0:
            phase_.edges = 4 * engine::commit_latency(shape_) + 300;
            phase_.weight = phase_.activation = phase_.read = 100;
            break;
        case 1:
            phase_.edges = kWait + 2 * engine::commit_latency(shape_);
            phase_.sparse = UINT32_MAX;  // the tile that was begun is loaded, that is all
            phase_.withdraw = 0;
            phase_.take = 100;
            break;
        case 2:
            phase_.edges = kWait + 4 * engine::commit_latency(shape_);
            phase_.weight = phase_.activation = phase_.read = 100;
            phase_.take = 0;
            break;
        default:  // int8: about 2^14 per PE and row, until 2^31 is passed.
            add_up(134'000 / shape_.rows + 2 * shape_.rows + 300);
    }
}

/// Operands of one sign into one accumulator row.
void PortTraffic::add_up(uint64_t edges) {
    phase_.edges = edges;
    phase_.weight = phase_.activation = 100;
    phase_.swap = phase_.withdraw = 0;
    phase_.swaps = 2;
    phase_.accumulate = 100;
    phase_.spread = 1;
    phase_.one_sign = true;
    phase_.negative = negative_;
}

void PortTraffic::fill(std::vector<std::byte>& data, bool are_weights) {
    const uint32_t bytes = shape_.element_bytes();
    const size_t count = data.size() / bytes;
    const bool bf16 = shape_.dtype == arch::Dtype::kBf16;
    if (phase_.one_sign) {
        const bool positive = are_weights && phase_.negative;
        for (size_t i = 0; i < count; ++i) {
            const bool less = below(8) == 0;
            const int int8 = positive ? 0x7f - less : 0x80 + less;
            put(data, i, bytes, static_cast<uint16_t>(bf16 ? (positive ? 0x5d80 : 0xdd80) : int8));
        }
        return;
    }
    if (bf16 && below(kind_ == PortStreamKind::kOperands ? 1 : 4) == 0)
        return fill_bf16(data, are_weights);
    random_values(random_, shape_.dtype, below(5) == 0 ? random_style(random_) : phase_.values,
                  data);
    if (!bf16 || below(6) != 0) return;
    // In large arrays corners are rare, and would not meet.
    random_values(random_, shape_.dtype, ValueStyle::kCorners, std::span(data).first(bytes));
    random_values(random_, shape_.dtype, ValueStyle::kCorners, std::span(data).last(bytes));
}

uint32_t PortTraffic::address() {
    if (phase_.one_sign || chance(90))
        return phase_.base + static_cast<uint32_t>(below(phase_.spread));
    return static_cast<uint32_t>(below(shape_.accumulator_rows));
}

/// What random numbers hardly meet.
void PortTraffic::fill_bf16(std::vector<std::byte>& data, bool are_weights) {
    const size_t count = data.size() / sizeof(uint16_t);
    // Powers of two 12 digits apart, whose sums are ties, or nearly; or differences and products
    // about 2^-126, between zeros of both signs.
    for (size_t i = 0; i < count; ++i) {
        constexpr uint16_t kFractions[] = {0, 0, 0, 1, 0x40, 0x7f};
        constexpr uint16_t kTiny[] = {0x0000, 0x0000, 0x0000, 0x0080, 0x0081, 0x00c0};
        constexpr uint16_t kAboutOne[] = {0x3f80, 0x3f80, 0x3f00, 0x3f7f};
        auto sign = static_cast<uint16_t>(below(2) << 15);
        uint16_t value = 0;
        if (phase_.ties)
            value = static_cast<uint16_t>((127 - 12 * below(3)) << 7) |
                    kFractions[below(std::size(kFractions))];
        else
            value = are_weights ? kAboutOne[below(std::size(kAboutOne))]
                                : kTiny[below(std::size(kTiny))];
        if (phase_.positive && are_weights) sign = 0;
        if (phase_.positive && value == 0) sign = below(4) == 0 ? 0 : 0x8000;
        put(data, i, sizeof value, sign | value);
    }
}

/// Tile after tile, 256 rows for each: in PE(r, c) the weight is the number of the tile plus
/// something, the activation that of the row.
void PortTraffic::offer_all_pairs() {
    constexpr uint64_t kValues = 256;
    const uint64_t beats = counters_.beats, rows = counters_.rows;  // accepted
    for (uint32_t c = 0; c < shape_.cols; ++c) {
        const uint64_t row = shape_.rows - 1 - beats % shape_.rows;
        edge_.weights[c] = static_cast<std::byte>(beats / shape_.rows + 37 * row + 101 * c);
    }
    for (uint32_t r = 0; r < shape_.rows; ++r)
        edge_.activations[r] = static_cast<std::byte>(rows + 59 * r);
    edge_.weight = edge_.activation = edge_.take = true;
    edge_.swap = rows % kValues == 0;
    edge_.accumulate = rows % 2 != 0;
    edge_.address = static_cast<uint32_t>(rows / 2 % shape_.accumulator_rows);
}

// ---- what stands at the ports

const PortEdge& PortTraffic::next(const PortModel& model) {
    if (kind_ == PortStreamKind::kOperands && shape_.dtype == arch::Dtype::kInt8) {
        offer_all_pairs();
        return edge_;
    }
    if (phase_.edges == 0) begin_phase();
    --phase_.edges;
    offer_weights();
    offer_row(model);
    offer_read(model);
    if (phase_.sparse != 0) thin_out(model);
    if (kind_ == PortStreamKind::kLong) meet_the_wrap(model);
    edge_.take = chance(phase_.take);
    // Large arrays need time to be in the middle of something.
    if (reset_edges_ == 0 && kind_ == PortStreamKind::kMixed &&
        below(phase_.alone ? 100 : 100 + engine::commit_latency(shape_)) == 0)
        reset_edges_ = static_cast<uint32_t>(std::max<uint64_t>(1, below(7)));
    const bool begins = reset_edges_ != 0 && !edge_.reset;
    edge_.reset = reset_edges_ != 0;
    if (begins) {
        ++counters_.resets;
        counters_.resets_of_one_edge += reset_edges_ == 1;
        counters_.resets_with_tile += model.tile_open() || model.tile_complete();
        counters_.resets_with_rows += model.rows_in_flight() != 0;
        counters_.resets_with_result += model.result_waits();
    }
    if (edge_.reset) --reset_edges_;
    return edge_;
}

/// A beat that is refused stays, changes, or goes away; without a beat anything stands there.
void PortTraffic::offer_weights() {
    const bool withdraw = weight_waits_ && chance(phase_.withdraw);
    if (weight_waits_ && !withdraw) return;
    fill(edge_.weights, true);
    edge_.weight = chance(phase_.weight) && !(withdraw && chance(50));
    counters_.beats_withdrawn += withdraw && !edge_.weight;
}

void PortTraffic::offer_row(const PortModel& model) {
    const bool withdraw = row_waits_ && chance(phase_.withdraw);
    if (row_waits_ && !withdraw) return;
    const bool swap_waited = row_waits_ && edge_.swap;
    fill(edge_.activations, false);
    edge_.activation = chance(phase_.activation) && !(withdraw && chance(70));
    edge_.swap = phase_.swaps != 0 || chance(phase_.swap) || (!swapped_ && chance(90));
    if (phase_.polite) edge_.swap = edge_.swap && model.tile_complete();
    if (phase_.alone) {
        edge_.activation = model.rows_in_flight() == 0 && phase_.activation != 0 &&
                           chance(model.tile_complete() ? 70 : 2);
        edge_.swap = chance(model.tile_complete() ? 80 : 20);
    }
    // The first row of a sum replaces what may be undefined.
    edge_.accumulate = chance(phase_.accumulate) && !(phase_.one_sign && phase_.swaps != 0);
    edge_.address = address();
    counters_.swaps_withdrawn += swap_waited && !(edge_.activation && edge_.swap);
}

void PortTraffic::offer_read(const PortModel& model) {
    const bool withdraw = read_waits_ && chance(phase_.withdraw);
    // A row that waits at its port is not in flight before it is accepted.
    if (!read_waits_ || withdraw) {
        edge_.read_address = address();
        edge_.read = chance(phase_.read) && !(withdraw && chance(50));
        counters_.reads_withdrawn += withdraw && !edge_.read;
    }
    if (edge_.read && !model.readable(edge_.read_address)) edge_.read = false;
}

/// One request now and then, or several; a tile that was begun goes on.
void PortTraffic::thin_out(const PortModel& model) {
    const uint64_t which = below(phase_.sparse);  // 0 to 2: that port, 3: all
    edge_.weight = model.tile_open() || which == 0 || which == 3;
    edge_.activation = which == 1 || which == 3;
    edge_.swap = edge_.swap && model.tile_complete();
    edge_.read = (which == 2 || which == 3) && model.readable(edge_.read_address);
}

/// Where a counter of 16 bits wraps everything is asked for at once: a tile waits there.
void PortTraffic::meet_the_wrap(const PortModel& model) {
    constexpr uint64_t kWrap = 1 << 16, kSlack = 16;
    const uint64_t left = kWrap - 1 - model.edge() % kWrap;
    if (left > 2 * uint64_t{shape_.rows} + kSlack) return;
    edge_.weight = true;
    edge_.swap = left == 0;
    edge_.activation = edge_.activation || left == 0;
    edge_.read = edge_.read || (left == 0 && model.readable(edge_.read_address));
}

void PortTraffic::note(const PortsShown& shown) {
    ++counters_.edges;
    weight_waits_ = edge_.weight && !shown.weight_ready;
    row_waits_ = edge_.activation && !shown.activation_ready;
    read_waits_ = edge_.read && !shown.read_ready;
    if (edge_.reset) {
        swapped_ = committed_ = false;
        since_reset_ = hold_ = idle_ = run_ = 0;
        return;
    }
    counters_.longest_without_reset = std::max(counters_.longest_without_reset, ++since_reset_);
    counters_.beats_refused += weight_waits_;
    counters_.swaps_refused += row_waits_;
    counters_.reads_refused += read_waits_;
    counters_.beats += edge_.weight && shown.weight_ready;
    if (edge_.activation && shown.activation_ready) {
        ++counters_.rows;
        swapped_ = swapped_ || edge_.swap;
        if (edge_.swap && phase_.swaps != 0) --phase_.swaps;
        run_ = phase_.one_sign && edge_.accumulate ? run_ + 1 : 0;
        counters_.longest_run = std::max(counters_.longest_run, run_);
    }
    if (edge_.read && shown.read_ready) {
        ++counters_.reads;
        counters_.reads_with_commit += shown.commit;
        result_address_ = edge_.read_address;
        hold_ = 0;
    } else if (shown.result) {
        counters_.longest_hold = std::max(counters_.longest_hold, ++hold_);
        counters_.held_while_written += shown.commit && shown.commit_address == result_address_;
    }
    if (shown.commit) {
        counters_.commits_to_the_same += committed_ && last_commit_ == shown.commit_address;
        last_commit_ = shown.commit_address;
    }
    committed_ = shown.commit;
    idle_ = shown.busy || edge_.weight || edge_.activation || edge_.read ? 0 : idle_ + 1;
    counters_.longest_idle = std::max(counters_.longest_idle, idle_);
}

}  // namespace tandem::cosim
