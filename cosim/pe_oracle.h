// SPDX-License-Identifier: Apache-2.0
// What every PE register has to hold after every edge, derived from what the array accepted: the
// row accepted at edge t stands in PE(r, c) at edge t + r/k + c/k and has been summed up to row r
// one edge later; swaps travel with it, the weight beat of tile row n reaches PE(r, c), r <= n, at
// edge s + r + c/k (rtl/README.md). A tag that should be 0 must be 0; other registers that hold
// nothing anybody will use are not judged.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cosim/array_abi.h"
#include "cosim/injection.h"
#include "engine/mxu_engine.h"

namespace tandem::cosim {

struct PeMismatch {
    PeRegister which;
    uint32_t pe_row;
    uint32_t pe_col;
    engine::Cycle cycle;  ///< after this edge
    // int8 and its sums as numbers, bf16 and fp32 as bit patterns.
    int64_t expected;
    int64_t actual;
};

/// Where the registers of all PEs stand, PE(0,0) first, row by row. What is null is not judged;
/// empty: nothing is.
struct PeTable {
    std::vector<TandemPeRegisters> pes;
    uint32_t element_bytes, psum_bytes, tag_bytes;  ///< of their containers
};
/// `pe` is asked for every PE.
PeTable pe_table(const TandemArrayInfo& info,
                 const std::function<TandemPeRegisters(uint32_t row, uint32_t col)>& pe);

class PeOracle {
  public:
    using Cycle = engine::Cycle;
    /// Starts while the array is quiet. Tiles (rows x cols, row 0 first) may be empty: not known.
    PeOracle(engine::MxuShape shape, std::span<const std::byte> active,
             std::span<const std::byte> shadow);

    void weight_row(Cycle edge, uint32_t row, const std::byte* data);
    void activation_row(Cycle edge, const std::byte* data, bool swap);
    /// Compares all PEs after `edge`; call once for every edge, in order.
    std::optional<PeMismatch> check(Cycle edge, const PeTable& table);

    /// What a register of PE(r, c) has to hold after `edge` (bits), when all that was accepted up
    /// to it has been told and before check(edge); nothing: anything, or there is no such register.
    std::optional<uint32_t> expected(PeRegister which, Cycle edge, uint32_t r, uint32_t c) const;
    /// What PE(r, c).psum will hold after `edge` (bits), before check(edge) is called; nothing: no
    /// row there.
    std::optional<uint32_t> expected_psum(Cycle edge, uint32_t r, uint32_t c) const;

  private:
    /// An element: the number of an int8, the bits of a bf16.
    using Element = int32_t;
    struct Tile {
        std::vector<Element> data;
        std::vector<Cycle> accepted;  ///< edge of each row; kNever: not yet
    };
    struct Row {
        Cycle edge;
        std::vector<Element> data;
        std::shared_ptr<Tile> tile;
        std::vector<uint32_t> partial;  ///< sum of each column as far as the wavefront has come
    };
    struct Swap {
        Cycle edge;
        std::shared_ptr<Tile> tile;
    };
    struct Beat {
        Cycle edge;
        uint32_t row;
    };
    static constexpr Cycle kNever = ~Cycle{0};

    Element element(const std::byte* data, size_t index) const;
    std::vector<Element> elements(const std::byte* data, size_t count) const;
    std::shared_ptr<Tile> new_tile(std::span<const std::byte> data) const;
    size_t index(uint32_t r, uint32_t c) const { return size_t{r} * shape_.cols + c; }
    uint32_t band_end(uint32_t r) const;
    uint32_t add_rows(const Row& row, uint32_t c, uint32_t first, uint32_t last) const;
    uint32_t product(const Row& row, uint32_t r, uint32_t c) const;
    std::optional<PeMismatch> compare(PeRegister which, uint32_t r, uint32_t c, Cycle edge,
                                      uint32_t expected, const PeTable& table) const;
    std::optional<PeMismatch> check_row(Row& row, Cycle edge, const PeTable& table);
    std::optional<PeMismatch> check_planes(Cycle edge, const PeTable& table) const;
    std::optional<PeMismatch> check_tags(Cycle edge, const PeTable& table) const;
    void forget(Cycle edge);
    std::optional<Element> expected_weight(Cycle edge, uint32_t r, uint32_t c) const;
    std::optional<Element> expected_shadow(Cycle edge, uint32_t r, uint32_t c) const;

    const engine::MxuShape shape_;
    std::deque<Row> rows_;
    std::deque<Swap> swaps_;                   ///< newest last
    std::deque<std::shared_ptr<Tile>> tiles_;  ///< in the shadow plane, newest last
    bool tile_open_ = false;                   ///< the newest tile still misses rows
    std::deque<Cycle> swap_tags_;              ///< that may still travel
    std::deque<Beat> load_tags_;
};

}  // namespace tandem::cosim
