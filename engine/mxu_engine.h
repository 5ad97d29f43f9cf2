// SPDX-License-Identifier: Apache-2.0
// The seam between the chip and the MAC array. Above it nobody knows whether the array is a
// transaction-level model, Verilated RTL, or both in lock-step.
//
// Time is the number of a clock edge. Whatever is pushed carries the first edge at which it stands
// at the array's ports; the engine applies the port contract of rtl/README.md and tells what
// happened at which edge. Work of one kind is done in the order in which it was pushed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "arch/chip_config.h"

namespace tandem::engine {

using Cycle = uint64_t;

/// Latencies in edges.
struct MxuTiming {
    Cycle commit_latency;       ///< from the acceptance of a row to its accumulator write
    Cycle weight_interval = 1;  ///< between two weight beats
    Cycle weight_latency = 1;   ///< from the last beat of a tile to the first swap
};

struct MxuShape {
    uint32_t rows;
    uint32_t cols;
    uint32_t accumulator_rows;
    arch::Dtype dtype = arch::Dtype::kInt8;
    uint32_t pipeline = 1;  ///< PEs between two pipeline registers
    bool sum4 = false;      ///< bf16: rows are summed in groups of four
    /// Times that an array of another microarchitecture declares; none: the systolic one's.
    std::optional<MxuTiming> declared = {};

    uint32_t element_bytes() const { return arch::element_bytes(dtype); }
    size_t row_bytes() const { return size_t{rows} * element_bytes(); }   ///< of activations
    size_t beat_bytes() const { return size_t{cols} * element_bytes(); }  ///< of weights
    size_t tile_bytes() const { return rows * beat_bytes(); }
    /// Edges that a wave needs down to row r, or right to column c.
    Cycle row_delay(uint32_t r) const { return r / pipeline; }
    Cycle col_delay(uint32_t c) const { return c / pipeline; }
};

/// The array of a chip.
inline MxuShape shape_of(const arch::ChipConfig::Mxu& mxu) {
    return {.rows = mxu.rows,
            .cols = mxu.cols,
            .accumulator_rows = mxu.accumulator_rows,
            .dtype = mxu.dtype,
            .pipeline = mxu.pipeline,
            .sum4 = mxu.sum4};
}

/// What is declared, or the systolic array's own.
constexpr MxuTiming timing(const MxuShape& shape) {
    if (shape.declared) return *shape.declared;
    const auto bands = [&](uint32_t pes) {
        return (Cycle{pes} + shape.pipeline - 1) / shape.pipeline;
    };
    return {bands(shape.rows) + bands(shape.cols) + 1};
}
constexpr Cycle commit_latency(const MxuShape& shape) { return timing(shape).commit_latency; }

/// Data as engines keep it: copied once, then shared.
using SharedData = std::shared_ptr<const std::byte[]>;

/// Data that `owner` keeps alive and nobody changes is shared, other data copied. Null when there
/// is none.
inline SharedData share(std::span<const std::byte> data, const SharedData& owner = nullptr) {
    if (data.empty()) return nullptr;
    if (owner != nullptr) return SharedData(owner, data.data());
    auto copy = std::make_shared_for_overwrite<std::byte[]>(data.size());
    std::memcpy(copy.get(), data.data(), data.size());
    return copy;
}

/// A weight tile at the weight port: rows x cols elements, row 0 first in memory. The engine pushes
/// row rows-1 first into the array, one row per beat.
struct WeightTile {
    uint64_t id;
    Cycle from;
    std::span<const std::byte> data;  ///< copied or shared; empty: time only
    /// Edges before each beat with valid low: it stands at the port from max(from, acceptance of
    /// the beat before it + 1) + gap. Copied; empty: none.
    std::span<const uint32_t> gaps = {};
    SharedData owner = nullptr;  ///< of the data, or null
};

/// Activation rows, one per edge as long as the array takes them. Zero rows take no edge of the
/// port: started at max(from, first edge at which the port is free), committed there or with the
/// last row of the blocks before it.
struct RowBlock {
    uint64_t id;
    Cycle from;
    uint32_t rows;
    uint32_t k_len;                       ///< elements of a row that may be other than zero
    uint32_t acc_addr;                    ///< accumulator row of the first one
    bool swap;                            ///< the first row switches to the next weight tile
    bool accumulate;                      ///< add to the accumulators instead of overwriting them
    std::span<const std::byte> data;      ///< rows x shape.rows, copied or shared; empty: time only
    std::span<const uint32_t> gaps = {};  ///< as those of a tile, before each row
    SharedData owner = nullptr;           ///< of the data, or null
};

/// Reads accumulator rows, one request every `interval` edges. No row may have a commit in flight.
/// Zero rows take no edge of the port.
struct AccumulatorRead {
    uint64_t id;
    Cycle from;
    uint32_t acc_addr;
    uint32_t rows;
    uint32_t interval;
    /// Edges for which the taker of each result is not ready: the next request is accepted 1 + hold
    /// edges later at the earliest, the read is done at the last acceptance + hold. Copied; empty:
    /// none.
    std::span<const uint32_t> holds = {};
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
    /// The edge of the next event if nothing more is pushed, kNever if there is none; nothing when
    /// only running up to it can tell.
    virtual std::optional<Cycle> next_event() const { return std::nullopt; }
    static constexpr Cycle kNever = ~Cycle{0};
    /// The rows of the last finished read (rows x cols sums: int32, or the bits of fp32), until the
    /// next call of advance().
    /// Empty when only time is modelled.
    virtual std::span<const int32_t> read_data() const = 0;
    /// Work is pending: an event will come.
    virtual bool busy() const = 0;
};

}  // namespace tandem::engine
