// SPDX-License-Identifier: Apache-2.0
// What tpu_mxu must do, written from its port contract alone: plain loops for the values, plain
// edge numbers for the time. It has no registers, waves or planes, and shares no code with others.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

namespace tandem::testbench {

using Row8 = std::vector<int8_t>;
using Row32 = std::vector<int32_t>;
using Matrix8 = std::vector<Row8>;

/// One activation row at the port.
struct ActRow {
    Row8 data;
    bool swap = false;
    bool accumulate = false;
    unsigned addr = 0;
};

/// Inputs of one edge. An empty optional is a low valid.
struct Stimulus {
    std::optional<Row8> weight;
    std::optional<ActRow> activation;
    std::optional<unsigned> read;
    bool res_ready = true;
};

struct Expected {
    bool wgt_ready, act_ready, rd_ready;  // before the edge
    bool cmt_valid, res_valid, busy;      // after it
    unsigned cmt_addr;
    Row32 cmt_data, res_data;
};

/// out[c] = sum over r of activation[r] * tile[r][c], modulo 2^32.
inline Row32 multiply(const Row8& activation, const Matrix8& tile) {
    Row32 out(tile.empty() ? 0 : tile[0].size());
    for (std::size_t c = 0; c < out.size(); ++c) {
        uint32_t sum = 0;
        for (std::size_t r = 0; r < tile.size(); ++r)
            sum += static_cast<uint32_t>(int{activation[r]} * int{tile[r][c]});
        out[c] = static_cast<int32_t>(sum);
    }
    return out;
}

class MxuReference {
  public:
    MxuReference(unsigned rows, unsigned cols) : rows_(rows), cols_(cols) {}

    Expected step(const Stimulus& in) {
        Expected out{};
        out.wgt_ready = loading_.size() < rows_;
        out.act_ready = !(in.activation && in.activation->swap) || loading_.size() == rows_;
        out.rd_ready = !result_ || in.res_ready;

        // Read: the row as it stood before this edge.
        if (in.res_ready) result_.reset();
        if (in.read && out.rd_ready) result_ = accumulators_.at(*in.read);

        // Commit: Rows + Cols + 1 edges after acceptance, in order.
        if (!in_flight_.empty() && in_flight_.front().edge == edge_) {
            const Flight& due = in_flight_.front();
            Row32& row = accumulators_[due.addr];
            if (!due.accumulate) row.assign(cols_, 0);
            row.resize(cols_);
            for (unsigned c = 0; c < cols_; ++c)
                row[c] = static_cast<int32_t>(static_cast<uint32_t>(row[c]) +
                                              static_cast<uint32_t>(due.sums[c]));
            out.cmt_valid = true;
            out.cmt_addr = due.addr;
            out.cmt_data = row;
            in_flight_.pop_front();
        }

        // The swapped tile is the one that was complete before this edge.
        if (in.activation && out.act_ready) {
            if (in.activation->swap) {
                tile_.assign(loading_.rbegin(), loading_.rend());  // row Rows-1 came first
                loading_.clear();
            }
            in_flight_.push_back({edge_ + rows_ + cols_ + 1, in.activation->addr,
                                  in.activation->accumulate, multiply(in.activation->data, tile_)});
        }
        if (in.weight && out.wgt_ready) loading_.push_back(*in.weight);

        out.res_valid = result_.has_value();
        if (result_) out.res_data = *result_;
        out.busy = !in_flight_.empty() || (!loading_.empty() && loading_.size() < rows_);
        ++edge_;
        return out;
    }

    void reset() {
        edge_ = 0;
        loading_.clear();
        in_flight_.clear();
        result_.reset();
    }

    /// True when `addr` holds something and nothing more is on its way to it: it may be read.
    bool readable(unsigned addr) const {
        for (const Flight& flight : in_flight_)
            if (flight.addr == addr) return false;
        return accumulators_.count(addr) != 0;
    }

    /// True when `addr` holds something, or will when all rows in flight are committed.
    bool written(unsigned addr) const {
        for (const Flight& flight : in_flight_)
            if (flight.addr == addr) return true;
        return accumulators_.count(addr) != 0;
    }

    uint64_t edge() const { return edge_; }  ///< number of the next edge

  private:
    struct Flight {
        uint64_t edge;  ///< at which it is committed
        unsigned addr;
        bool accumulate;
        Row32 sums;
    };
    unsigned rows_, cols_;
    uint64_t edge_ = 0;
    Matrix8 tile_, loading_;
    std::deque<Flight> in_flight_;
    std::map<unsigned, Row32> accumulators_;
    std::optional<Row32> result_;
};

}  // namespace tandem::testbench
