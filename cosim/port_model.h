// SPDX-License-Identifier: Apache-2.0
// The port contract of rtl/README.md, edge by edge: what the ports of an array have to show for
// what stands at them, whoever drives them and however. Values are those of the model's arithmetic
// (engine/). Knows what is undefined, and which requests are faults of the caller.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cosim/array_arithmetic.h"
#include "cosim/port_edge.h"
#include "engine/mxu_engine.h"

namespace tandem::cosim {

/// What one edge shows.
struct PortsShown {
    bool weight_ready, activation_ready, read_ready;  ///< before it
    bool commit, result, busy;                        ///< after it
    uint32_t commit_address = 0;
    PortRow commit_row{}, result_row{};
};

class PortModel {
  public:
    explicit PortModel(engine::MxuShape shape);

    PortsShown step(const PortEdge& edge);
    /// Before the first edge: these tiles are in the array, complete, and nothing else is (row 0
    /// first; empty: none).
    void resume(std::span<const std::byte> active, std::span<const std::byte> shadow);

    /// A read of this row keeps to the contract: no commit to it is in flight.
    bool readable(uint32_t address) const;
    uint64_t edge() const { return edge_; }    ///< number of the next one
    uint32_t beats() const { return beats_; }  ///< in the shadow plane
    bool tile_complete() const { return beats_ == shape_.rows; }
    bool tile_open() const { return beats_ != 0 && !tile_complete(); }
    bool result_waits() const { return result_waits_; }
    size_t rows_in_flight() const { return flights_.size(); }

  private:
    struct Flight {
        uint64_t commit;  ///< edge
        uint32_t address;
        bool accumulate;
        PortRow sums;
    };

    void reset();
    void commit(PortsShown& shown);
    void accept_row(const PortEdge& edge);

    const engine::MxuShape shape_;
    const engine::MxuTiming timing_;
    ArrayArithmetic arithmetic_;
    uint64_t edge_ = 0;
    uint64_t beat_ready_ = 0, swap_ready_ = 0;  ///< first edges at which they may be accepted
    uint32_t beats_ = 0;                        ///< in the shadow plane
    std::vector<std::byte> shadow_, weights_;   ///< row 0 first; empty: undefined
    uint64_t tile_ = 0;                         ///< number of the one in `weights_`
    std::deque<Flight> flights_;
    std::vector<PortRow> accumulators_;
    bool result_waits_ = false;
    PortRow result_;
};

}  // namespace tandem::cosim
