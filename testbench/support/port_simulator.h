// SPDX-License-Identifier: Apache-2.0
// The ports of the MAC array, stepped edge by edge with valid and ready, and plain loops for the
// values. Written from the port contract alone; drives the ports as an engine has to: work of one
// kind in order, nothing before its `from`.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "systemc/mxu/mxu_engine.h"

namespace tandem::testbench {

class PortSimulator final : public mxu::MxuEngine {
  public:
    explicit PortSimulator(mxu::MxuShape shape)
        : shape_(shape), accumulators_(shape.accumulator_rows, std::vector<int32_t>(shape.cols)) {}

    std::string_view name() const override { return "ports"; }
    mxu::MxuShape shape() const override { return shape_; }
    void reset(mxu::Cycle cycle) override {
        tiles_.clear(), blocks_.clear(), reads_.clear(), flights_.clear(), events_.clear();
        beats_.clear();
        edge_ = cycle;
    }
    void push_weights(const mxu::WeightTile& tile) override {
        tiles_.push_back({tile.id, tile.from, {tile.data.begin(), tile.data.end()}, 0});
    }
    void push_rows(const mxu::RowBlock& block) override {
        blocks_.push_back({block, {block.data.begin(), block.data.end()}, 0});
    }
    void push_read(const mxu::AccumulatorRead& read) override {
        reads_.push_back({read, 0, read.from});
    }
    std::optional<mxu::MxuEvent> advance(mxu::Cycle until) override {
        while (events_.empty() && edge_ < until) step();
        if (events_.empty() || events_.front().cycle >= until) return std::nullopt;
        const mxu::MxuEvent event = events_.front();
        events_.pop_front();
        if (event.kind == mxu::MxuEvent::Kind::kReadDone) {
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
    using Row = std::vector<int8_t>;
    struct Tile {
        uint64_t id;
        mxu::Cycle from;
        Row data;
        uint32_t done;
    };
    struct Block {
        mxu::RowBlock info;
        Row data;
        uint32_t done;
    };
    struct Read {
        mxu::AccumulatorRead info;
        uint32_t done;
        mxu::Cycle next;
    };
    struct Flight {
        mxu::Cycle commit;
        uint32_t address;
        bool accumulate;
        std::vector<uint32_t> sums;
        std::optional<uint64_t> last_of;  ///< block whose last row it is
    };

    void step() {
        using Kind = mxu::MxuEvent::Kind;
        // Valid and ready as they stand before the edge.
        const bool tile_complete = beats_.size() == shape_.rows;
        const bool weight_valid = !tiles_.empty() && tiles_.front().from <= edge_;
        const bool row_valid = !blocks_.empty() && blocks_.front().info.from <= edge_;
        const bool swap = row_valid && blocks_.front().info.swap && blocks_.front().done == 0;
        const bool weight_fires = weight_valid && !tile_complete;
        const bool row_fires = row_valid && (!swap || tile_complete);
        const bool read_fires = !reads_.empty() && reads_.front().next <= edge_;

        std::vector<Kind> order;
        if (read_fires) read_row();  // the row as it stood before the edge
        if (row_fires && swap) {
            weights_.assign(beats_.rbegin(), beats_.rend());  // row R-1 came first
            beats_.clear();
        }
        if (weight_fires) {
            Tile& tile = tiles_.front();
            const auto first =
                tile.data.begin() +
                static_cast<ptrdiff_t>(size_t{shape_.rows - 1 - tile.done} * shape_.cols);
            beats_.emplace_back(first, first + shape_.cols);
            if (++tile.done == shape_.rows) {
                events_.push_back({edge_, Kind::kTileLoaded, tile.id});
                tiles_.pop_front();
            }
        }
        if (row_fires) accept_row();
        commit_rows();
        if (read_finished_) events_.push_back({edge_, Kind::kReadDone, *read_finished_});
        read_finished_.reset();
        ++edge_;
    }

    void accept_row() {
        Block& block = blocks_.front();
        if (block.done == 0)
            events_.push_back({edge_, mxu::MxuEvent::Kind::kBlockStarted, block.info.id});
        Flight flight{edge_ + shape_.rows + shape_.cols + 1,
                      block.info.acc_addr + block.done,
                      block.info.accumulate,
                      {},
                      {}};
        for (uint32_t c = 0; c < shape_.cols; ++c) {
            uint32_t sum = 0;
            for (uint32_t r = 0; r < shape_.rows; ++r)
                sum += static_cast<uint32_t>(int{block.data[size_t{block.done} * shape_.rows + r]} *
                                             int{weights_[r][c]});
            flight.sums.push_back(sum);
        }
        if (++block.done == block.info.rows) {
            flight.last_of = block.info.id;
            blocks_.pop_front();
        }
        flights_.push_back(flight);
    }

    void commit_rows() {
        if (flights_.empty() || flights_.front().commit != edge_) return;
        const Flight& flight = flights_.front();
        std::vector<int32_t>& row = accumulators_[flight.address];
        for (uint32_t c = 0; c < shape_.cols; ++c)
            row[c] = static_cast<int32_t>((flight.accumulate ? static_cast<uint32_t>(row[c]) : 0) +
                                          flight.sums[c]);
        if (flight.last_of)
            events_.push_back({edge_, mxu::MxuEvent::Kind::kBlockCommitted, *flight.last_of});
        flights_.pop_front();
    }

    void read_row() {
        Read& read = reads_.front();
        const auto& row = accumulators_[read.info.acc_addr + read.done];
        reading_.insert(reading_.end(), row.begin(), row.end());
        read.next = edge_ + read.info.interval;
        if (++read.done != read.info.rows) return;
        read_finished_ = read.info.id;
        results_.push_back(reading_);
        reading_.clear();
        reads_.pop_front();
        if (!reads_.empty() && reads_.front().next <= edge_) reads_.front().next = edge_ + 1;
    }

    const mxu::MxuShape shape_;
    mxu::Cycle edge_ = 0;
    std::deque<Tile> tiles_;
    std::deque<Block> blocks_;
    std::deque<Read> reads_;
    std::deque<Flight> flights_;
    std::deque<mxu::MxuEvent> events_;
    std::vector<Row> beats_, weights_;
    std::vector<std::vector<int32_t>> accumulators_;
    std::vector<int32_t> reading_, data_;
    std::deque<std::vector<int32_t>> results_;
    std::optional<uint64_t> read_finished_;
};

}  // namespace tandem::testbench
