// SPDX-License-Identifier: Apache-2.0
// What every PE register has to hold after every edge, derived from what the array accepted:
// the row accepted at edge t stands in PE(r, c) at edge t + r + c and has been summed up to row r
// one edge later; swaps and weight rows travel along the same diagonals (rtl/README.md). Registers
// that hold nothing anybody will use are not judged.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "cosim/array_abi.h"
#include "cosim/injection.h"
#include "systemc/mxu/mxu_engine.h"

namespace tandem::cosim {

struct PeMismatch {
    PeRegister which;
    uint32_t pe_row;
    uint32_t pe_col;
    mxu::Cycle cycle;  ///< after this edge
    int64_t expected;
    int64_t actual;
};

class PeOracle {
  public:
    using Cycle = mxu::Cycle;
    /// Starts while the array is quiet. Tiles (rows x cols, row 0 first) may be empty: not known.
    PeOracle(mxu::MxuShape shape, const std::vector<int8_t>& active,
             const std::vector<int8_t>& shadow);

    void weight_row(Cycle edge, uint32_t row, const int8_t* data);
    void activation_row(Cycle edge, const int8_t* data, bool swap);
    /// Compares all PEs after `edge`; call once for every edge, in order.
    std::optional<PeMismatch> check(Cycle edge, const TandemArrayState& state);

    /// What PE(r, c).psum will hold after `edge`, before check(edge) is called; nothing: no row
    /// there.
    std::optional<int32_t> expected_psum(Cycle edge, uint32_t r, uint32_t c) const;

  private:
    struct Tile {
        std::vector<int8_t> data;
        std::vector<Cycle> accepted;  ///< edge of each row; kNever: not yet
    };
    struct Row {
        Cycle edge;
        std::vector<int8_t> data;
        std::shared_ptr<Tile> tile;
        std::vector<int32_t> partial;  ///< sum of each column as far as the wavefront has come
    };
    struct Swap {
        Cycle edge;
        std::shared_ptr<Tile> tile;
    };
    static constexpr Cycle kNever = ~Cycle{0};

    std::shared_ptr<Tile> new_tile(const std::vector<int8_t>& data) const;
    size_t index(uint32_t r, uint32_t c) const {
        return size_t{shape_.rows - 1 - r} * shape_.cols + (shape_.cols - 1 - c);
    }
    std::optional<PeMismatch> check_row(Row& row, Cycle edge, const TandemArrayState& state);
    std::optional<PeMismatch> check_planes(Cycle edge, const TandemArrayState& state);
    std::optional<int8_t> expected_weight(Cycle edge, uint32_t r, uint32_t c) const;
    std::optional<int8_t> expected_shadow(Cycle edge, uint32_t r, uint32_t c) const;

    const mxu::MxuShape shape_;
    std::deque<Row> rows_;
    std::deque<Swap> swaps_;                   ///< newest last
    std::deque<std::shared_ptr<Tile>> tiles_;  ///< in the shadow plane, newest last
    bool tile_open_ = false;                   ///< the newest tile still misses rows
};

}  // namespace tandem::cosim
