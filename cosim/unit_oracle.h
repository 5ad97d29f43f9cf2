// SPDX-License-Identifier: Apache-2.0
// What the nets between the units of the MAC array have to carry before every edge, derived from
// what its ports accepted (rtl/README.md): a row accepted at edge t stands at the array's left
// border, lane r, for edge t + floor(r/k), leaves the array at edge t + ceil(rows/k) +
// ceil(cols/k), and so on. Nothing here steps registers or waves; a net that carries nothing
// anybody will use is not judged. The first wrong net names the unit that drives it.
//
// One edge has two moments: nets are judged as they stand before it, the ports' registered outputs
// (and the PE registers of PeOracle) as they stand after it. Nets before edge e+1 and registers
// after edge e are one state; a fault in a PE shows in its register first, since it is looked at
// first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cosim/array_abi.h"
#include "engine/mxu_engine.h"

namespace tandem::cosim {

/// In the order of the data flow.
enum class Unit : uint8_t { kControl, kWeightLoader, kSkew, kPe, kAccumulators };
const char* to_string(Unit unit);

struct UnitMismatch {
    Unit unit;
    std::string signal;   ///< net or port, e.g. "act_skewed"
    uint32_t lane;        ///< row or column of the array, 0 for what has no lanes
    engine::Cycle cycle;  ///< before this edge, or after it (cmt_*, res_*, busy_o)
    uint64_t expected;    ///< bit patterns
    uint64_t actual;
};

/// As one line of words, for a pipe.
std::string to_text(const UnitMismatch& mismatch);
std::optional<UnitMismatch> parse_unit_mismatch(std::istream& in);
/// Whether a model that Verilator built gave up because an edge never came to rest.
bool never_rests(std::string_view failure);
/// The unit in whose source file an assertion ("file:line") stands; nothing: in none of them.
std::optional<Unit> unit_of_assertion(std::string_view where);

class UnitOracle {
  public:
    using Cycle = engine::Cycle;
    /// Starts while the array is quiet. Tiles (rows x cols, row 0 first) may be empty: not known.
    UnitOracle(engine::MxuShape shape, std::span<const std::byte> active,
               std::span<const std::byte> shadow);

    /// The nets to be judged; `taps` must outlive the oracle. Names that are missing are not
    /// judged.
    void watch(std::span<const TandemTap> taps);
    /// Accumulator rows that are known from the start (rows x cols).
    void accumulators(std::span<const int32_t> rows);

    /// Told of everything that is judged: signal, lane, and what it has to be.
    using Listener = std::function<void(const char* signal, uint32_t lane, uint64_t expected)>;
    void set_listener(Listener listener) { listener_ = std::move(listener); }

    /// What stood before `edge`; `ports` after its step. Call for every edge, in order.
    std::optional<UnitMismatch> before(Cycle edge, const TandemArrayPorts& ports);
    /// What stands after `edge`; call after before().
    std::optional<UnitMismatch> after(Cycle edge, const TandemArrayPorts& ports);
    /// A wrong busy_o after the last edge, which is otherwise told before the next one.
    const std::optional<UnitMismatch>& pending() const { return busy_; }

  private:
    struct Row {
        Cycle edge;
        bool swap, accumulate;
        uint32_t address;
        std::vector<std::byte> data;
        std::vector<int32_t> sums;  ///< of its columns; empty: its weights are not known
    };
    struct Beat {
        Cycle edge;
        uint32_t row;  ///< of the tile
        std::vector<std::byte> data;
    };
    struct Net {
        const TandemTap* tap = nullptr;
        explicit operator bool() const { return tap != nullptr; }
        uint64_t field(size_t first_bit, uint32_t bits) const;
    };
    /// Collects the first mismatch of one moment.
    struct Judge;

    void judge_handshakes(Judge& judge, const TandemArrayPorts& ports) const;
    void accept(Cycle edge, const TandemArrayPorts& ports);
    void judge_enables(Judge& judge) const;
    void judge_skew(Judge& judge) const;
    void judge_results(Judge& judge) const;
    void judge_commit(Judge& judge, const TandemArrayPorts& ports);
    void judge_read(Judge& judge, const TandemArrayPorts& ports);
    void forget(Cycle edge);

    bool tile_partial() const { return beats_ != 0 && !tile_complete(); }
    bool tile_complete() const { return beats_ == shape_.rows; }
    /// The row, or the beat, that was accepted `ago` edges before `edge`; null: none was.
    const Row* row_at(Cycle edge, Cycle ago) const;
    const Beat* beat_at(Cycle edge, Cycle ago) const;
    Cycle row_delay(uint32_t r) const { return r / shape_.pipeline; }
    Cycle col_delay(uint32_t c) const { return c / shape_.pipeline; }
    std::vector<int32_t> column_sums(const std::byte* row) const;
    std::vector<int32_t> leaving(const Row& row) const;
    std::vector<int32_t> committed(const Row& row, const TandemArrayPorts& ports) const;

    const engine::MxuShape shape_;
    const uint32_t element_bytes_;
    const Cycle transit_;  ///< edges from the acceptance of a row to the one at which it leaves
    const Cycle memory_;   ///< what was accepted earlier than this is nowhere any more

    Net tile_complete_, tile_partial_, wgt_fire_, load_, act_fire_, swap_;
    Net rows_active_, swap_active_, load_active_;
    Net act_skewed_, swap_skewed_, wgt_skewed_, load_skewed_;
    Net bottom_, emit_, row_, wr_valid_, wr_accumulate_, wr_addr_;

    Listener listener_;
    /// busy_o after the last edge: judged with the nets before the next one, behind the loader's.
    std::optional<UnitMismatch> busy_;
    uint32_t beats_ = 0;  ///< accepted since the last swap
    std::vector<std::byte> filling_, weights_;
    std::deque<Row> rows_;
    std::deque<Beat> history_;
    std::vector<std::vector<int32_t>> accumulators_;  ///< empty: not known
    bool result_waits_ = false;
    std::vector<int32_t> result_;   ///< empty: not known
    std::vector<int32_t> leaving_;  ///< written at this edge, as it left the array
};

}  // namespace tandem::cosim
