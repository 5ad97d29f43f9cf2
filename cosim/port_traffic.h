// SPDX-License-Identifier: Apache-2.0
// Seeded traffic at the ports of a MAC array, without mercy but within the contract: valids come
// and go before they are accepted, data and flags move while their valid is low, results are held
// while their row is written again, resets of any length stand in the middle of it.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "cosim/port_model.h"
#include "cosim/random_values.h"

namespace tandem::cosim {

struct PortCounters {
    uint64_t edges = 0, rows = 0, beats = 0, reads = 0, resets = 0;
    uint64_t swaps_withdrawn = 0;  ///< offered, not accepted, gone at the next edge
    uint64_t beats_withdrawn = 0;
    uint64_t reads_withdrawn = 0;
    uint64_t swaps_refused = 0, beats_refused = 0, reads_refused = 0;  ///< edges
    uint64_t reads_with_commit = 0;    ///< accepted at an edge that commits to another row
    uint64_t held_while_written = 0;   ///< edges at which the row of a waiting result is committed
    uint64_t commits_to_the_same = 0;  ///< as the edge before
    uint64_t resets_with_tile = 0, resets_with_rows = 0, resets_with_result = 0;
    uint64_t resets_of_one_edge = 0;
    uint64_t longest_hold = 0, longest_idle = 0, longest_without_reset = 0;  ///< edges
    uint64_t longest_run = 0;  ///< rows added to one accumulator row with operands of one sign

    /// All of them, by name.
    std::vector<std::pair<const char*, uint64_t>> list() const;
    PortCounters& operator+=(const PortCounters& other);
};

/// What a stream is for.
enum class PortStreamKind : uint8_t {
    kMixed,
    kLong,      ///< no reset; sums go beyond 2^31
    kOperands,  ///< no reset; int8: all pairs of operands in every PE; bf16: ties, products near
                ///< 2^-126
};

class PortTraffic {
  public:
    PortTraffic(const engine::MxuShape& shape, uint64_t seed, PortStreamKind kind);

    /// What stands at the ports at the next edge, given what the contract says of the state before
    /// it; `model` is then stepped with it.
    const PortEdge& next(const PortModel& model);
    /// What the ports showed for it.
    void note(const PortsShown& shown);
    const PortCounters& counters() const { return counters_; }

  private:
    /// For some edges: chances in percent that a port is active, and what its data are.
    struct Phase {
        uint64_t edges = 0;
        uint32_t weight = 0, activation = 0, swap = 0, accumulate = 0, read = 0, take = 0;
        uint32_t withdraw = 0;  ///< percent of the edges that refuse
        bool ties = false;      ///< bf16, among what random numbers hardly meet
        bool positive = false;  ///< weights, and most zeros negative: sums are -0
        uint32_t spread = 0;    ///< accumulator rows in use, from `base` on
        uint32_t base = 0;
        bool one_sign = false;  ///< operands that add up
        bool negative = false;  ///< to a negative sum
        bool alone = false;     ///< a row only where none is in flight
        bool polite = false;    ///< a swap only where it does not wait
        uint32_t sparse = 0;    ///< edges for four requests; 0: as many as the chances say
        uint32_t swaps = 0;     ///< to begin with, whatever the chances
        ValueStyle values = ValueStyle::kFull;
    };

    /// Of a long stream, before the others.
    static constexpr uint32_t kLongPhases = 4;

    void begin_phase();
    void begin_long_phase();
    void add_up(uint64_t edges);
    void fill(std::vector<std::byte>& data, bool are_weights);
    void fill_bf16(std::vector<std::byte>& data, bool are_weights);
    void offer_all_pairs();
    void offer_weights();
    void offer_row(const PortModel& model);
    void offer_read(const PortModel& model);
    void thin_out(const PortModel& model);
    void meet_the_wrap(const PortModel& model);
    uint32_t address();
    uint64_t below(uint64_t bound) { return random_() % bound; }
    bool chance(uint32_t percent) { return below(100) < percent; }

    const engine::MxuShape shape_;
    const PortStreamKind kind_;
    const bool negative_;  ///< sums of one sign
    std::mt19937_64 random_;
    Phase phase_;
    PortEdge edge_;
    // What waits at its port.
    bool weight_waits_ = false, row_waits_ = false, read_waits_ = false;
    uint32_t reset_edges_ = 0;
    bool swapped_ = false;     ///< weights are known
    uint32_t long_phase_ = 0;  ///< of a long stream, that comes next
    PortCounters counters_;
    uint32_t last_commit_ = 0;
    bool committed_ = false;
    uint64_t hold_ = 0, idle_ = 0, since_reset_ = 0, run_ = 0;
    uint32_t result_address_ = 0;
};

}  // namespace tandem::cosim
