// SPDX-License-Identifier: Apache-2.0
// The seam between the chip and the MAC array. Above it nobody knows whether the array is a
// transaction-level model, Verilated RTL, or both in lock-step.
//
// Time is the number of a clock edge. Whatever is pushed carries the first edge at which it stands
// at the array's ports; the engine applies the port contract of rtl/README.md and tells what
// happened at which edge. Work of one kind is done in the order in which it was pushed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tandem::mxu {

using Cycle = uint64_t;

struct MxuShape {
    uint32_t rows;
    uint32_t cols;
    uint32_t accumulator_rows;
};

/// A weight tile at the weight port: rows x cols int8, row 0 first in memory. The engine pushes row
/// rows-1 first into the array, one row per edge.
struct WeightTile {
    uint64_t id;
    Cycle from;
    std::span<const int8_t> data;  ///< copied; empty: time only
};

/// Activation rows, one per edge as long as the array takes them.
struct RowBlock {
    uint64_t id;
    Cycle from;
    uint32_t rows;
    uint32_t k_len;                ///< elements of a row that may be other than zero
    uint32_t acc_addr;             ///< accumulator row of the first one
    bool swap;                     ///< the first row switches to the next weight tile
    bool accumulate;               ///< add to the accumulators instead of overwriting them
    std::span<const int8_t> data;  ///< rows x shape.rows, copied; empty: time only
};

/// Reads accumulator rows, one request every `interval` edges. No row may have a commit in flight.
struct AccumulatorRead {
    uint64_t id;
    Cycle from;
    uint32_t acc_addr;
    uint32_t rows;
    uint32_t interval;
};

struct MxuEvent {
    // In the order in which events of one edge are told.
    enum class Kind : uint8_t {
        kTileLoaded,      ///< the last row of a tile entered the array: its FIFO entry is free
        kBlockStarted,    ///< the first row of a block entered the array
        kBlockCommitted,  ///< the last row of a block is in its accumulator
        kReadDone,        ///< all rows of a read are delivered
    };
    Cycle cycle;  ///< the edge; visible to others from cycle + 1
    Kind kind;
    uint64_t id;
    friend auto operator<=>(const MxuEvent&, const MxuEvent&) = default;
};

class MxuEngine {
  public:
    virtual ~MxuEngine() = default;
    virtual std::string_view name() const = 0;
    virtual MxuShape shape() const = 0;
    /// Drops all work; weights and accumulators become undefined. The edge count goes on at
    /// `cycle`.
    virtual void reset(Cycle cycle) = 0;
    /// `from` must not lie before the edges that are done already.
    virtual void push_weights(const WeightTile& tile) = 0;
    virtual void push_rows(const RowBlock& block) = 0;
    virtual void push_read(const AccumulatorRead& read) = 0;
    /// Works off edges up to but not including `until`, and stops after the edge of the next event.
    /// Events of one edge come one per call, ordered by kind. Nothing: all edges before `until`
    /// done.
    virtual std::optional<MxuEvent> advance(Cycle until) = 0;
    /// The rows of the last finished read (rows x cols int32), until the next call of advance().
    /// Empty when only time is modelled.
    virtual std::span<const int32_t> read_data() const = 0;
    /// Work is pending: an event will come.
    virtual bool busy() const = 0;
};

/// Edges from the one that takes an activation row to the one that writes its accumulator row.
constexpr Cycle commit_latency(const MxuShape& shape) { return Cycle{shape.rows} + shape.cols + 1; }

}  // namespace tandem::mxu
