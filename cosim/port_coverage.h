// SPDX-License-Identifier: Apache-2.0
// What traffic at the ports of an array has met: cover groups of stimulus and response, sampled at
// every edge. What cannot happen with the array's sizes and latencies is left out.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "cosim/cover_group.h"
#include "cosim/port_model.h"

namespace tandem::cosim {

class PortCoverage {
  public:
    explicit PortCoverage(const engine::MxuShape& shape);

    /// Before the model's step with this edge: in which state it is met.
    void before(const PortModel& model);
    /// After it.
    void sample(const PortEdge& edge, const PortsShown& shown);
    /// A new stream: nothing is known of the array.
    void restart();
    PortCoverage& operator+=(const PortCoverage& other);

    const std::vector<CoverGroup>& groups() const { return groups_; }

  private:
    /// Order of groups_.
    enum Group : uint8_t {
        kBeat,
        kRow,
        kRead,
        kTogether,
        kTile,
        kStreaming,
        kHold,
        kIdle,
        kReset,
        kInReset,
        kAfterReset,
        kAddress,
        kOperands,
        kSum,
    };
    struct Flight {
        uint32_t address;
        bool accumulate;
    };
    /// What an edge did to a request: bins of several points.
    enum Answer : uint8_t { kNone, kAccepted, kRefused, kWithdrawn };

    void build_groups();
    void sample_reset(const PortEdge& edge);
    void sample_weights(const PortEdge& edge, Answer beat);
    void sample_rows(const PortEdge& edge, Answer row);
    void sample_reads(const PortEdge& edge, const PortsShown& shown, Answer read);
    void sample_commit(const PortsShown& shown);
    void sample_idle(const PortEdge& edge, const PortsShown& shown, Answer row);
    void end_run();
    size_t address_bin(uint32_t address) const;
    size_t class_of(const std::vector<std::byte>& data, size_t index) const;

    const engine::MxuShape shape_;
    const engine::MxuTiming timing_;
    std::vector<CoverGroup> groups_;

    // Before the edge.
    size_t tile_state_ = 0;  ///< none, partial, complete
    bool in_flight_ = false, result_waits_ = false;
    // Since the last reset.
    bool beat_waited_ = false, swap_waited_ = false, read_waited_ = false;
    bool first_edge_ = false, was_reset_ = false;
    std::deque<Flight> flights_;
    std::optional<uint32_t> last_row_, last_commit_, last_read_;  ///< addresses
    uint64_t result_address_ = 0, hold_ = 0, hold_writes_ = 0, idle_ = 0, run_ = 0, run_swaps_ = 0;
    // Of the tile in the shadow plane.
    uint64_t tile_age_ = 0;  ///< edges since it is complete
    bool tile_gaps_ = false, swap_early_ = false;
    // Classes of two weights, in the PE of the first beat and in that of the last; none: unknown.
    std::array<std::optional<size_t>, 2> shadow_, weight_;
    std::vector<std::optional<int32_t>> sums_;  ///< column 0 of the accumulators
    // Of the reset that stands.
    uint64_t reset_edges_ = 0;
    std::array<size_t, 3> reset_state_{};  ///< tile, rows in flight, result
};

}  // namespace tandem::cosim
