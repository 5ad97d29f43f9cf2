// SPDX-License-Identifier: Apache-2.0
// The seam between the vector unit and what makes activations of accumulators: a model, Verilated
// RTL, or both side by side. Above it nobody knows which.
//
// The vector unit's own times (vector_timing.h) decide when a drain reads and when its bytes are
// there; whoever stands behind the seam has to keep pace with them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "arch/generated/isa.h"

namespace tandem::engine {

/// The rows of one `requantise`.
struct RequantiseRows {
    const isa::Requantise& op;
    std::span<const int32_t> sums;  ///< op.rows x array_cols
    uint32_t array_cols;
    uint32_t interval;          ///< cycles between two rows, at least 1
    uint32_t instruction;       ///< index in the program, for reports
    std::span<uint8_t> buffer;  ///< unified buffer; holds the parameters, takes rows x cols int8
};

class RequantiseEngine {
  public:
    virtual ~RequantiseEngine() = default;
    virtual std::string_view name() const = 0;
    /// All addresses lie inside the buffer: callers have checked.
    virtual void requantise(const RequantiseRows& rows) = 0;
};

/// The model: values as arch/numerics.h has them, no time of its own.
class TlmRequantiseEngine final : public RequantiseEngine {
  public:
    std::string_view name() const override { return "tlm"; }
    void requantise(const RequantiseRows& rows) override;
};

/// Edges of `tpu_requantise` (rtl/README.md) for rows of `cols` columns, worked on by `lanes` at a
/// time.
struct RequantiseTiming {
    uint32_t lanes;

    /// Between two rows.
    constexpr uint32_t interval(uint32_t cols) const { return (cols + lanes - 1) / lanes; }
    /// From the edge that accepts a row to that after which it stands at the output.
    constexpr uint32_t latency(uint32_t cols) const { return interval(cols) + 4; }
    /// Cycles that the vector unit has to allow from the read of the last accumulator to the bytes
    /// in the buffer: an edge to accept the row, one to write it.
    constexpr uint32_t drain_latency(uint32_t cols) const { return latency(cols) + 2; }
};

}  // namespace tandem::engine
