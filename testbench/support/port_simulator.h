// SPDX-License-Identifier: Apache-2.0
// The ports of the MAC array, stepped edge by edge with valid and ready, and plain loops for the
// values. Written from the port contract alone; drives the ports as an engine has to: work of one
// kind in order, nothing before its `from`, valid low in gaps, results not taken while they are
// held.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <vector>

#include "arch/bf16.h"
#include "engine/mxu_engine.h"

namespace tandem::testbench {

class PortSimulator final : public engine::MxuEngine {
  public:
    explicit PortSimulator(engine::MxuShape shape)
        : shape_(shape), accumulators_(shape.accumulator_rows, std::vector<uint32_t>(shape.cols)) {}

    std::string_view name() const override { return "ports"; }
    engine::MxuShape shape() const override { return shape_; }
    void reset(engine::Cycle cycle) override {
        tiles_.clear(), blocks_.clear(), reads_.clear(), flights_.clear(), events_.clear();
        beats_.clear(), reading_.clear(), results_.clear();
        held_ = 0;
        edge_ = beat_ready_ = swap_ready_ = cycle;
    }
    void push_weights(const engine::WeightTile& tile) override {
        tiles_.push_back({tile.id, tile.from, elements(tile.data), counters(tile.gaps), 0});
    }
    void push_rows(const engine::RowBlock& block) override {
        blocks_.push_back({block, elements(block.data), counters(block.gaps), 0});
    }
    void push_read(const engine::AccumulatorRead& read) override {
        reads_.push_back({read, counters(read.holds), 0, read.from});
    }
    std::optional<engine::MxuEvent> advance(engine::Cycle until) override {
        while (events_.empty() && edge_ < until) step();
        if (events_.empty() || events_.front().cycle >= until) return std::nullopt;
        const engine::MxuEvent event = events_.front();
        events_.pop_front();
        if (event.kind == Kind::kReadDone) {
            data_ = results_.front();
            results_.pop_front();
        }
        return event;
    }
    std::span<const int32_t> read_data() const override { return data_; }
    bool busy() const override {
        return !tiles_.empty() || !blocks_.empty() || !reads_.empty() || !flights_.empty() ||
               !events_.empty();
    }

  private:
    using Kind = engine::MxuEvent::Kind;
    using Row = std::vector<int32_t>;       // numbers of int8, bits of bf16
    using Counters = std::deque<uint32_t>;  // edges still to wait, of the beats to come
    struct Tile {
        uint64_t id;
        engine::Cycle from;
        Row data;
        Counters gaps;
        uint32_t done;
    };
    struct Block {
        engine::RowBlock info;
        Row data;
        Counters gaps;
        uint32_t done;
    };
    struct Read {
        engine::AccumulatorRead info;
        Counters holds;
        uint32_t done;
        engine::Cycle next;
    };
    /// A row in the array, or a block without rows behind one.
    struct Flight {
        engine::Cycle commit;
        uint32_t address;
        bool accumulate;
        std::vector<uint32_t> sums;       ///< empty: no row
        std::optional<uint64_t> last_of;  ///< block whose last row it is
    };

    static Counters counters(std::span<const uint32_t> waits) {
        return {waits.begin(), waits.end()};
    }
    Row elements(std::span<const std::byte> data) const {
        Row row;
        for (size_t i = 0; i < data.size(); i += shape_.element_bytes()) {
            const auto low = static_cast<uint8_t>(data[i]);
            row.push_back(shape_.element_bytes() == 1
                              ? int32_t{static_cast<int8_t>(low)}
                              : low | static_cast<uint8_t>(data[i + 1]) << 8);
        }
        return row;
    }
    /// Valid of a beat whose turn has come: low while its gap lasts.
    static bool valid(Counters& gaps) {
        if (gaps.empty() || gaps.front() == 0) return true;
        --gaps.front();
        return false;
    }
    static void next(Counters& gaps) {
        if (!gaps.empty()) gaps.pop_front();
    }

    void step() {
        const size_t known = events_.size();
        pass_empty();
        // Valid and ready as they stand before the edge.
        const bool tile_complete = beats_.size() == shape_.rows;
        const bool weight_valid =
            !tiles_.empty() && tiles_.front().from <= edge_ && valid(tiles_.front().gaps);
        const bool row_valid =
            !blocks_.empty() && blocks_.front().info.from <= edge_ && valid(blocks_.front().gaps);
        const bool swap = row_valid && blocks_.front().info.swap && blocks_.front().done == 0;
        const bool weight_fires = weight_valid && !tile_complete && edge_ >= beat_ready_;
        const bool row_fires = row_valid && (!swap || (tile_complete && edge_ >= swap_ready_));
        const bool read_valid =
            !reads_.empty() && reads_.front().next <= edge_ && unread(reads_.front());
        const bool read_fires = read_valid && held_ == 0;
        const bool held = held_ != 0;

        if (read_fires) read_row();  // the row as it stood before the edge
        if (row_fires && swap) {
            weights_.assign(beats_.rbegin(), beats_.rend());  // row R-1 came first
            beats_.clear();
        }
        if (weight_fires) accept_beat();
        if (row_fires) accept_row();
        commit_rows();
        if (held && --held_ == 0 && !unread(reads_.front())) finish_read();
        std::sort(events_.begin() + static_cast<ptrdiff_t>(known), events_.end());
        ++edge_;
    }

    void pass_empty() {
        while (!blocks_.empty() && blocks_.front().info.rows == 0 &&
               blocks_.front().info.from <= edge_) {
            const uint64_t id = blocks_.front().info.id;
            events_.push_back({edge_, Kind::kBlockStarted, id});
            if (flights_.empty())
                events_.push_back({edge_, Kind::kBlockCommitted, id});
            else
                flights_.push_back({flights_.back().commit, 0, false, {}, id});
            blocks_.pop_front();
        }
        while (!reads_.empty() && reads_.front().info.rows == 0 && reads_.front().next <= edge_)
            finish_read();
    }

    void accept_beat() {
        const engine::MxuTiming timing = engine::timing(shape_);
        Tile& tile = tiles_.front();
        next(tile.gaps);
        const auto first =
            tile.data.begin() +
            static_cast<ptrdiff_t>(size_t{shape_.rows - 1 - tile.done} * shape_.cols);
        beats_.emplace_back(first, first + shape_.cols);
        beat_ready_ = edge_ + timing.weight_interval;
        if (++tile.done != shape_.rows) return;
        swap_ready_ = edge_ + timing.weight_latency;
        events_.push_back({edge_, Kind::kTileLoaded, tile.id});
        tiles_.pop_front();
    }

    void accept_row() {
        Block& block = blocks_.front();
        next(block.gaps);
        if (block.done == 0) events_.push_back({edge_, Kind::kBlockStarted, block.info.id});
        Flight flight{edge_ + engine::commit_latency(shape_),
                      block.info.acc_addr + block.done,
                      block.info.accumulate,
                      {},
                      {}};
        const int32_t* row = block.data.data() + size_t{block.done} * shape_.rows;
        for (uint32_t c = 0; c < shape_.cols; ++c) flight.sums.push_back(column_sum(row, c));
        if (++block.done == block.info.rows) {
            flight.last_of = block.info.id;
            blocks_.pop_front();
        }
        flights_.push_back(flight);
    }

    uint32_t column_sum(const int32_t* row, uint32_t c) const {
        uint32_t sum = 0;
        const auto product = [&](uint32_t r) {
            return bf16::product(static_cast<uint16_t>(row[r]),
                                 static_cast<uint16_t>(weights_[r][c]));
        };
        if (shape_.dtype == arch::Dtype::kInt8) {
            for (uint32_t r = 0; r < shape_.rows; ++r)
                sum += static_cast<uint32_t>(row[r] * weights_[r][c]);
        } else if (!shape_.sum4) {
            for (uint32_t r = 0; r < shape_.rows; ++r) sum = bf16::sum(sum, product(r));
        } else {
            for (uint32_t r = 0; r < shape_.rows; r += 4) {
                std::array<uint32_t, 4> group{};
                for (uint32_t i = r; i < std::min(r + 4, shape_.rows); ++i)
                    group[i - r] = product(i);
                sum = bf16::sum(sum, bf16::sum4(group));
            }
        }
        return sum;
    }

    void commit_rows() {
        while (!flights_.empty() && flights_.front().commit == edge_) {
            const Flight& flight = flights_.front();
            std::vector<uint32_t>& row = accumulators_[flight.address];
            for (uint32_t c = 0; c < flight.sums.size(); ++c)
                row[c] = !flight.accumulate                   ? flight.sums[c]
                         : shape_.dtype == arch::Dtype::kInt8 ? row[c] + flight.sums[c]
                                                              : bf16::sum(row[c], flight.sums[c]);
            if (flight.last_of) events_.push_back({edge_, Kind::kBlockCommitted, *flight.last_of});
            flights_.pop_front();
        }
    }

    static bool unread(const Read& read) { return read.done < read.info.rows; }

    void read_row() {
        Read& read = reads_.front();
        const auto& row = accumulators_[read.info.acc_addr + read.done];
        for (const uint32_t sum : row) reading_.push_back(static_cast<int32_t>(sum));
        read.next = edge_ + read.info.interval;
        ++read.done;
        // The taker is ready again `hold` edges later.
        held_ = read.holds.empty() ? 0 : read.holds.front();
        next(read.holds);
        if (held_ == 0 && !unread(read)) finish_read();
    }

    void finish_read() {
        const bool took_an_edge = reads_.front().info.rows != 0;
        events_.push_back({edge_, Kind::kReadDone, reads_.front().info.id});
        results_.push_back(reading_);
        reading_.clear();
        reads_.pop_front();
        if (took_an_edge && !reads_.empty())
            reads_.front().next = std::max(reads_.front().next, edge_ + 1);
    }

    const engine::MxuShape shape_;
    engine::Cycle edge_ = 0, beat_ready_ = 0, swap_ready_ = 0;
    std::deque<Tile> tiles_;
    std::deque<Block> blocks_;
    std::deque<Read> reads_;
    std::deque<Flight> flights_;
    std::deque<engine::MxuEvent> events_;
    std::vector<Row> beats_, weights_;
    std::vector<std::vector<uint32_t>> accumulators_;
    std::vector<int32_t> reading_, data_;
    std::deque<std::vector<int32_t>> results_;
    uint32_t held_ = 0;  ///< edges for which the last result is not taken yet
};

}  // namespace tandem::testbench
