// SPDX-License-Identifier: Apache-2.0
// What an array did, kept for a hint (cosim/hint.h): the last activation rows with all that stood
// around them at the ports, what was committed for them, and the last reads. Only a run that is
// repeated after a difference keeps it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cosim/array_abi.h"
#include "cosim/array_arithmetic.h"
#include "engine/mxu_engine.h"

namespace tandem::cosim {

/// A tile as the array accepted it, row 0 first; and what stood at the port one edge before and
/// after its beats (empty: not known of all).
struct WitnessedTile {
    std::vector<std::byte> data, early, late;
    std::shared_ptr<WitnessedTile> next;  ///< null: not loaded whole
};

/// What stands with an activation row at its ports at one edge; empty activations: not known.
struct WitnessedOperand {
    std::vector<std::byte> activations;
    uint32_t address = 0;
    bool accumulate = false;
};

/// An activation row that the array accepted, and what came of it. Rows are empty where they are
/// not known.
struct WitnessedRow {
    uint64_t accepted = 0;              ///< edge
    WitnessedOperand at, early, late;   ///< at that edge, one before, one after
    std::vector<std::byte> row_before;  ///< activations of the row accepted before
    std::shared_ptr<WitnessedTile> tile, tile_before;
    PortRow sums;  ///< as they should be
    // Of the commit.
    uint64_t committed = 0;
    uint32_t address = 0;
    PortRow data;                   ///< as committed
    PortRow data_early, data_late;  ///< on cmt_data_o one edge before and after
    PortRow data_before;            ///< of the commit before
    PortRow base, base_before;      ///< the accumulator row as committed last, and before that
    PortRow expected_base;          ///< the accumulator row as it should be
    PortRow base_of_early, base_of_late;  ///< of the addresses that stood there
};

struct WitnessedRead {
    uint64_t accepted = 0;
    uint32_t address = 0;
    PortRow data;          ///< as first shown
    PortRow expected;      ///< the row as committed before
    PortRow stale;         ///< the row as it stood before its last commit
    PortRow data_before;   ///< of the read before, if that was of another row
    PortRow below, above;  ///< the rows beside it
    bool changed = false;  ///< while it waited
};

class Witness {
  public:
    /// With the tiles that the planes hold; empty: undefined.
    explicit Witness(engine::MxuShape shape, std::span<const std::byte> active = {},
                     std::span<const std::byte> shadow = {});

    /// One edge, after it. Ports are those of the array: accepted is what it accepted.
    void step(uint64_t edge, const TandemArrayPorts& ports);
    void reset();

    const engine::MxuShape& shape() const { return shape_; }
    /// Committed ones in order, at most the last kMostRows.
    const std::deque<WitnessedRow>& rows() const { return rows_; }
    /// Accepted ones that wait for their commit.
    const std::deque<WitnessedRow>& in_flight() const { return flights_; }
    const std::deque<WitnessedRead>& reads() const { return reads_; }
    /// Edges of commits for which there was no row.
    const std::deque<uint64_t>& commits_without_row() const { return lonely_; }
    uint64_t edge() const { return edge_; }  ///< the last one
    /// The first beat or row that waited, or was accepted, against the contract; empty: none.
    const std::string& wrong_handshake() const { return handshake_; }

    static constexpr size_t kMostRows = 400;

  private:
    WitnessedOperand operand(const TandemArrayPorts& ports) const;
    std::vector<std::byte> beat(const TandemArrayPorts& ports) const;
    PortRow accumulator(const std::vector<PortRow>& rows, uint32_t address) const;
    void note_read(uint64_t edge, const TandemArrayPorts& ports);
    void note_commit(uint64_t edge, const TandemArrayPorts& ports);
    void note_row(uint64_t edge, const TandemArrayPorts& ports);
    void note_beat(const TandemArrayPorts& ports);
    void note_handshakes(uint64_t edge, const TandemArrayPorts& ports);
    void swap();

    const engine::MxuShape shape_;
    ArrayArithmetic arithmetic_;
    uint64_t edge_ = 0;
    std::shared_ptr<WitnessedTile> shadow_, tile_, tile_before_;  ///< shadow: complete, or not
    uint32_t beats_ = 0;
    uint64_t tile_number_ = 0;
    // Of the last edge.
    std::vector<std::byte> beat_;
    WitnessedOperand operand_;
    PortRow data_, result_;
    std::byte* late_beat_ = nullptr;  ///< where the beat that stands there now belongs
    bool row_accepted_ = false, committed_now_ = false, result_waits_ = false;
    std::vector<std::byte> last_row_;
    PortRow last_commit_;
    std::deque<WitnessedRow> flights_, rows_;
    std::deque<WitnessedRead> reads_;
    std::deque<uint64_t> lonely_;
    std::string handshake_;
    uint64_t beat_due_ = 0, swap_due_ = 0;  ///< first edges at which they have to be accepted
    std::vector<PortRow> committed_, committed_before_, expected_;  ///< accumulator rows
};

}  // namespace tandem::cosim
