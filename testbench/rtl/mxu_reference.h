// SPDX-License-Identifier: Apache-2.0
// What tpu_mxu must do, written from its port contract alone: plain loops for the values (int8 by
// integers, bf16 by MPFR), plain edge numbers for the time. It has no registers, waves or planes,
// and shares no code with others.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "arch/dtype.h"
#include "testbench/numerics/mpfr_oracle.h"

namespace tandem::testbench {

/// The bits of an activation or a weight: an int8 in the low byte, or a bf16.
using Element = uint16_t;
using Elements = std::vector<Element>;
using Tile = std::vector<Elements>;
/// The bits of results: int32 or fp32.
using Sums = std::vector<uint32_t>;

/// Parameters of one array. What stands at its ports does not depend on the form.
struct ArrayParameters {
    unsigned rows, cols;
    arch::Dtype dtype = arch::Dtype::kInt8;
    unsigned pipeline = 1;
    bool sum4 = false;
    std::string form = "flat";

    bool bf16() const { return dtype == arch::Dtype::kBf16; }
    /// Pipeline registers between the port and row or column i, beside the skew.
    unsigned delay(unsigned i) const { return i / pipeline; }
    /// Edges from the acceptance of a row to its commit.
    unsigned commit_latency() const { return delay(rows - 1) + 1 + delay(cols - 1) + 1 + 1; }

    /// "7x5_bf16_k4_sum4_grid".
    std::string name() const {
        return std::to_string(rows) + "x" + std::to_string(cols) + "_" +
               std::string(to_string(dtype)) +
               (pipeline > 1 ? "_k" + std::to_string(pipeline) : "") + (sum4 ? "_sum4" : "") + "_" +
               form;
    }
};

/// One activation row at the port.
struct ActRow {
    Elements data;
    bool swap = false;
    bool accumulate = false;
    unsigned addr = 0;
};

/// Inputs of one edge. An empty optional is a low valid.
struct Stimulus {
    std::optional<Elements> weight;
    std::optional<ActRow> activation;
    std::optional<unsigned> read;
    bool res_ready = true;
};

struct Expected {
    bool wgt_ready, act_ready, rd_ready;  // before the edge
    bool cmt_valid, res_valid, busy;      // after it
    unsigned cmt_addr;
    Sums cmt_data, res_data;
};

inline MpfrOracle& bf16_oracle() {
    static MpfrOracle oracle;
    return oracle;
}

/// Sum of activation[r] * tile[r][col] over the rows first..last-1, in order, onto `partial`. With
/// sum4 `first` is the first row of a group of four.
inline uint32_t column_sum(const ArrayParameters& array, const Elements& activation,
                           const Tile& tile, unsigned col, unsigned first, unsigned last,
                           uint32_t partial = 0) {
    if (array.bf16()) {
        Elements rows(activation.begin(), activation.begin() + last), weights(last);
        for (unsigned r = first; r < last; ++r) weights[r] = tile[r][col];
        return bf16_oracle().column_sum_from(partial, first, rows, weights, array.sum4);
    }
    for (unsigned r = first; r < last; ++r)
        partial += static_cast<uint32_t>(int{static_cast<int8_t>(activation[r])} *
                                         int{static_cast<int8_t>(tile[r][col])});
    return partial;
}

inline Sums multiply(const ArrayParameters& array, const Elements& activation, const Tile& tile) {
    Sums out(array.cols);
    for (unsigned c = 0; c < array.cols; ++c)
        out[c] = tile.empty() ? 0 : column_sum(array, activation, tile, c, 0, array.rows);
    return out;
}

class MxuReference {
  public:
    explicit MxuReference(ArrayParameters array) : array_(std::move(array)) {}

    Expected step(const Stimulus& in) {
        Expected out{};
        out.wgt_ready = loading_.size() < array_.rows;
        out.act_ready = !(in.activation && in.activation->swap) || loading_.size() == array_.rows;
        out.rd_ready = !result_ || in.res_ready;

        // Read: the row as it stood before this edge.
        if (in.res_ready) result_.reset();
        if (in.read && out.rd_ready) result_ = accumulators_.at(*in.read);

        // Commit, in order.
        if (!in_flight_.empty() && in_flight_.front().edge == edge_) {
            const Flight& due = in_flight_.front();
            Sums& row = accumulators_[due.addr];
            if (due.accumulate) {
                for (unsigned c = 0; c < array_.cols; ++c)
                    row[c] = array_.bf16() ? bf16_oracle().sum(row[c], due.sums[c])
                                           : row[c] + due.sums[c];
            } else {
                row = due.sums;
            }
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
            in_flight_.push_back({edge_ + array_.commit_latency(), in.activation->addr,
                                  in.activation->accumulate,
                                  multiply(array_, in.activation->data, tile_)});
        }
        if (in.weight && out.wgt_ready) loading_.push_back(*in.weight);

        out.res_valid = result_.has_value();
        if (result_) out.res_data = *result_;
        out.busy = !in_flight_.empty() || (!loading_.empty() && loading_.size() < array_.rows);
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
        Sums sums;
    };
    ArrayParameters array_;
    uint64_t edge_ = 0;
    Tile tile_, loading_;
    std::deque<Flight> in_flight_;
    std::map<unsigned, Sums> accumulators_;
    std::optional<Sums> result_;
};

}  // namespace tandem::testbench
