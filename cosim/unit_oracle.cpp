// SPDX-License-Identifier: Apache-2.0
#include "cosim/unit_oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <istream>
#include <utility>

#include "arch/bf16.h"

namespace tandem::cosim {
namespace {

uint64_t bits_of(const void* data, uint32_t bytes) {
    uint64_t value = 0;
    std::memcpy(&value, data, bytes);
    return value;
}

template <typename Queue>
auto* accepted_at(Queue& queue, engine::Cycle edge) {
    const auto at =
        std::lower_bound(queue.begin(), queue.end(), edge,
                         [](const auto& item, engine::Cycle value) { return item.edge < value; });
    return at != queue.end() && at->edge == edge ? &*at : nullptr;
}

/// Sum of two words of a column: int32 that wraps, or fp32.
int32_t sum(arch::Dtype dtype, int32_t a, int32_t b) {
    const auto x = static_cast<uint32_t>(a), y = static_cast<uint32_t>(b);
    return static_cast<int32_t>(dtype == arch::Dtype::kInt8 ? x + y : bf16::sum(x, y));
}

uint32_t product(arch::Dtype dtype, const std::byte* a, const std::byte* b) {
    if (dtype == arch::Dtype::kInt8)
        return static_cast<uint32_t>(static_cast<int8_t>(bits_of(a, 1)) *
                                     static_cast<int8_t>(bits_of(b, 1)));
    return bf16::product(static_cast<uint16_t>(bits_of(a, 2)),
                         static_cast<uint16_t>(bits_of(b, 2)));
}

}  // namespace

const char* to_string(Unit unit) {
    static constexpr const char* kNames[] = {"control", "weight loader", "skew", "PE",
                                             "accumulators"};
    return kNames[static_cast<size_t>(unit)];
}

std::string to_text(const UnitMismatch& m) {
    return fmt::format("{} {} {} {} {} {}", static_cast<int>(m.unit), m.signal, m.lane, m.cycle,
                       m.expected, m.actual);
}

std::optional<UnitMismatch> parse_unit_mismatch(std::istream& in) {
    UnitMismatch m{};
    int unit = 0;
    if (!(in >> unit >> m.signal >> m.lane >> m.cycle >> m.expected >> m.actual))
        return std::nullopt;
    m.unit = static_cast<Unit>(unit);
    return m;
}

bool never_rests(std::string_view failure) {
    return failure.find("converge") != std::string_view::npos;
}

std::optional<Unit> unit_of_assertion(std::string_view where) {
    static constexpr std::pair<std::string_view, Unit> kFiles[] = {
        {"tpu_mxu_control.sv:", Unit::kControl},
        {"tpu_mxu.sv:", Unit::kControl},
        {"tpu_weight_loader.sv:", Unit::kWeightLoader},
        {"tpu_skew", Unit::kSkew},
        {"tpu_load_chain.sv:", Unit::kSkew},
        {"tpu_deskew.sv:", Unit::kSkew},
        {"tpu_array", Unit::kPe},
        {"tpu_pe.sv:", Unit::kPe},
        {"tpu_sum4.sv:", Unit::kPe},
        {"tpu_accumulators.sv:", Unit::kAccumulators}};
    // Where evaluation does not come to rest is no place in a unit.
    if (never_rests(where)) return std::nullopt;
    where = where.substr(where.rfind('/') + 1);
    for (const auto& [file, unit] : kFiles)
        if (where.starts_with(file)) return unit;
    return std::nullopt;
}

struct UnitOracle::Judge {
    Cycle edge;
    const Listener& listener;
    std::optional<UnitMismatch> found{};

    void expect(Unit unit, const char* signal, uint32_t lane, uint64_t expected, uint64_t actual) {
        if (listener) listener(signal, lane, expected);
        if (!found && expected != actual) found = {unit, signal, lane, edge, expected, actual};
    }
    void expect(Unit unit, const char* signal, const Net& net, uint64_t expected) {
        if (net) expect(unit, signal, 0, expected, net.field(0, net.tap->bits));
    }
};

uint64_t UnitOracle::Net::field(size_t first_bit, uint32_t bits) const {
    const auto* words = static_cast<const uint32_t*>(tap->data);
    uint64_t value = words[first_bit / 32] >> (first_bit % 32);
    for (uint32_t got = 32 - first_bit % 32; got < bits; got += 32)
        value |= uint64_t{words[(first_bit + got) / 32]} << got;
    return bits < 64 ? value & ((uint64_t{1} << bits) - 1) : value;
}

UnitOracle::UnitOracle(engine::MxuShape shape, std::span<const std::byte> active,
                       std::span<const std::byte> shadow)
    : shape_(shape),
      element_bytes_(arch::element_bytes(shape.dtype)),
      transit_(row_delay(shape.rows - 1) + col_delay(shape.cols - 1) + 2),
      memory_(std::max<Cycle>(transit_, shape.rows + col_delay(shape.cols)) + 2),
      beats_(shadow.empty() ? 0 : shape.rows),
      filling_(shadow.begin(), shadow.end()),
      weights_(active.begin(), active.end()),
      accumulators_(shape.accumulator_rows) {
    filling_.resize(size_t{shape.rows} * shape.cols * element_bytes_);
}

void UnitOracle::watch(std::span<const TandemTap> taps) {
    const std::pair<const char*, Net*> nets[] = {{"tile_complete", &tile_complete_},
                                                 {"tile_partial", &tile_partial_},
                                                 {"wgt_fire", &wgt_fire_},
                                                 {"load", &load_},
                                                 {"act_fire", &act_fire_},
                                                 {"swap", &swap_},
                                                 {"rows_active", &rows_active_},
                                                 {"swap_active", &swap_active_},
                                                 {"load_active", &load_active_},
                                                 {"act_skewed", &act_skewed_},
                                                 {"swap_skewed", &swap_skewed_},
                                                 {"wgt_skewed", &wgt_skewed_},
                                                 {"load_skewed", &load_skewed_},
                                                 {"bottom", &bottom_},
                                                 {"emit", &emit_},
                                                 {"row", &row_},
                                                 {"wr_valid", &wr_valid_},
                                                 {"wr_accumulate", &wr_accumulate_},
                                                 {"wr_addr", &wr_addr_}};
    for (const TandemTap& tap : taps)
        for (const auto& [name, net] : nets)
            if (std::string_view(tap.name) == name) net->tap = &tap;
}

void UnitOracle::accumulators(std::span<const int32_t> rows) {
    for (size_t i = 0; i < accumulators_.size() && (i + 1) * shape_.cols <= rows.size(); ++i)
        accumulators_[i].assign(rows.begin() + static_cast<ptrdiff_t>(i * shape_.cols),
                                rows.begin() + static_cast<ptrdiff_t>((i + 1) * shape_.cols));
}

std::optional<UnitMismatch> UnitOracle::before(Cycle edge, const TandemArrayPorts& ports) {
    Judge judge{edge, listener_};
    judge_handshakes(judge, ports);
    accept(edge, ports);
    judge_enables(judge);
    judge_skew(judge);
    judge_results(judge);
    const Row* leaves = row_at(edge, transit_ + 1);
    leaving_ = leaves != nullptr ? leaving(*leaves) : std::vector<int32_t>{};
    return judge.found;
}

std::optional<UnitMismatch> UnitOracle::after(Cycle edge, const TandemArrayPorts& ports) {
    Judge judge{edge, listener_};
    judge_read(judge, ports);  // gives the row as it stood before this edge
    judge_commit(judge, ports);
    const bool row_inside = !rows_.empty() && edge - rows_.back().edge <= transit_;
    Judge busy{edge, listener_};
    busy.expect(Unit::kControl, "busy_o", 0, row_inside || tile_partial(), ports.busy);
    busy_ = busy.found;
    forget(edge);
    return judge.found;
}

// ---- ports and enables -------------------------------------------------------------------------

void UnitOracle::judge_handshakes(Judge& judge, const TandemArrayPorts& ports) const {
    const bool complete = tile_complete();
    const bool beat = ports.wgt_valid != 0 && !complete;
    judge.expect(Unit::kWeightLoader, "tile_complete", tile_complete_, complete);
    judge.expect(Unit::kWeightLoader, "tile_partial", tile_partial_, tile_partial());
    if (!judge.found) judge.found = busy_;
    judge.expect(Unit::kWeightLoader, "wgt_ready_o", 0, !complete, ports.wgt_ready);
    judge.expect(Unit::kWeightLoader, "wgt_fire", wgt_fire_, beat);
    judge.expect(Unit::kWeightLoader, "load", load_, beat ? shape_.rows - beats_ : 0);

    const bool ready = ports.act_swap == 0 || complete;
    const bool row = ports.act_valid != 0 && ready;
    judge.expect(Unit::kControl, "act_ready_o", 0, ready, ports.act_ready);
    judge.expect(Unit::kControl, "act_fire", act_fire_, row);
    judge.expect(Unit::kControl, "swap", swap_, row && ports.act_swap != 0);

    judge.expect(Unit::kAccumulators, "rd_ready_o", 0, !result_waits_ || ports.res_ready != 0,
                 ports.rd_ready);
}

/// What the contract lets in at this edge, whatever the array's own handshakes say.
void UnitOracle::accept(Cycle edge, const TandemArrayPorts& ports) {
    const auto* weights = static_cast<const std::byte*>(ports.wgt_data);
    const auto* data = static_cast<const std::byte*>(ports.act_data);
    const bool complete = tile_complete();
    if (ports.wgt_valid != 0 && !complete) {
        const size_t bytes = size_t{shape_.cols} * element_bytes_;
        const uint32_t row = shape_.rows - ++beats_;
        std::copy_n(weights, bytes, filling_.begin() + static_cast<ptrdiff_t>(row * bytes));
        history_.push_back({edge, row, {weights, weights + bytes}});
    }
    if (ports.act_valid != 0 && (ports.act_swap == 0 || complete)) {
        if (ports.act_swap != 0) weights_ = filling_, beats_ = 0;
        rows_.push_back({edge,
                         ports.act_swap != 0,
                         ports.act_accumulate != 0,
                         ports.act_addr,
                         {data, data + size_t{shape_.rows} * element_bytes_},
                         column_sums(data)});
    }
}

/// Registers may be clocked for longer than needed, but not for a shorter time: tags until the
/// last PE has forgotten them.
void UnitOracle::judge_enables(Judge& judge) const {
    const Cycle now = judge.edge;
    const Cycle cols = col_delay(shape_.cols - 1);
    const auto within = [&](Cycle accepted, Cycle last) { return now - accepted <= last; };
    if (!rows_.empty() && within(rows_.back().edge, transit_))
        judge.expect(Unit::kControl, "rows_active", rows_active_, 1);
    const auto swap =
        std::find_if(rows_.rbegin(), rows_.rend(), [](const Row& r) { return r.swap; });
    if (swap != rows_.rend() && within(swap->edge, row_delay(shape_.rows - 1) + cols + 1))
        judge.expect(Unit::kControl, "swap_active", swap_active_, 1);
    if (!history_.empty() && within(history_.back().edge, history_.back().row + cols + 1))
        judge.expect(Unit::kControl, "load_active", load_active_, 1);
}

// ---- nets around the PEs -----------------------------------------------------------------------

void UnitOracle::judge_skew(Judge& judge) const {
    const Cycle now = judge.edge;
    const uint32_t bytes = element_bytes_;
    for (uint32_t r = 0; r < shape_.rows; ++r) {
        const Row* row = row_at(now, row_delay(r));
        if (act_skewed_ && row != nullptr)
            judge.expect(Unit::kSkew, "act_skewed", r, bits_of(&row->data[r * bytes], bytes),
                         act_skewed_.field(size_t{r} * bytes * 8, bytes * 8));
        if (swap_skewed_)
            judge.expect(Unit::kSkew, "swap_skewed", r, row != nullptr && row->swap,
                         swap_skewed_.field(r, 1));
        const Beat* beat = beat_at(now, r);
        if (load_skewed_)
            judge.expect(Unit::kSkew, "load_skewed", r, beat != nullptr && beat->row >= r,
                         load_skewed_.field(r, 1));
    }
    for (uint32_t c = 0; c < shape_.cols && wgt_skewed_; ++c)
        if (const Beat* beat = beat_at(now, col_delay(c)))
            judge.expect(Unit::kSkew, "wgt_skewed", c, bits_of(&beat->data[c * bytes], bytes),
                         wgt_skewed_.field(size_t{c} * bytes * 8, bytes * 8));
}

void UnitOracle::judge_results(Judge& judge) const {
    const Cycle now = judge.edge;
    for (uint32_t c = 0; c < shape_.cols && bottom_; ++c) {
        const Row* row = row_at(now, row_delay(shape_.rows - 1) + col_delay(c) + 2);
        if (row != nullptr && !row->sums.empty())
            judge.expect(Unit::kPe, "bottom", c, static_cast<uint32_t>(row->sums[c]),
                         bottom_.field(size_t{c} * 32, 32));
    }
    judge.expect(Unit::kControl, "emit", emit_, row_at(now, transit_) != nullptr);

    const Row* row = row_at(now, transit_ + 1);
    judge.expect(Unit::kControl, "wr_valid", wr_valid_, row != nullptr);
    if (row == nullptr) return;
    for (uint32_t c = 0; c < shape_.cols && row_ && !row->sums.empty(); ++c)
        judge.expect(Unit::kSkew, "row", c, static_cast<uint32_t>(row->sums[c]),
                     row_.field(size_t{c} * 32, 32));
    judge.expect(Unit::kControl, "wr_accumulate", wr_accumulate_, row->accumulate);
    judge.expect(Unit::kControl, "wr_addr", wr_addr_, row->address);
}

// ---- accumulators ------------------------------------------------------------------------------

void UnitOracle::judge_read(Judge& judge, const TandemArrayPorts& ports) {
    const bool fires = ports.rd_valid != 0 && (!result_waits_ || ports.res_ready != 0);
    if (fires) result_ = accumulators_.at(ports.rd_addr);
    result_waits_ = fires || (result_waits_ && ports.res_ready == 0);
    judge.expect(Unit::kAccumulators, "res_valid_o", 0, result_waits_, ports.res_valid);
    if (!result_waits_) return;
    const auto* actual = static_cast<const uint32_t*>(ports.res_data);
    for (uint32_t c = 0; c < result_.size(); ++c)
        judge.expect(Unit::kAccumulators, "res_data_o", c, static_cast<uint32_t>(result_[c]),
                     actual[c]);
}

void UnitOracle::judge_commit(Judge& judge, const TandemArrayPorts& ports) {
    const Row* row = row_at(judge.edge, transit_ + 1);
    judge.expect(Unit::kAccumulators, "cmt_valid_o", 0, row != nullptr, ports.cmt_valid);
    if (row == nullptr) return;
    judge.expect(Unit::kAccumulators, "cmt_addr_o", 0, row->address, ports.cmt_addr);
    std::vector<int32_t> expected = committed(*row, ports);
    const auto* actual = static_cast<const uint32_t*>(ports.cmt_data);
    for (uint32_t c = 0; c < expected.size(); ++c)
        judge.expect(Unit::kAccumulators, "cmt_data_o", c, static_cast<uint32_t>(expected[c]),
                     actual[c]);
    accumulators_.at(row->address) = std::move(expected);
}

/// The row as it left the array, right or wrong: the accumulators answer for nothing before them.
std::vector<int32_t> UnitOracle::leaving(const Row& row) const {
    if (!row_) return row.sums;
    std::vector<int32_t> values(shape_.cols);
    for (uint32_t c = 0; c < shape_.cols; ++c)
        values[c] = static_cast<int32_t>(row_.field(size_t{c} * 32, 32));
    return values;
}

/// An accumulator row that was not known is from now on what the array says.
std::vector<int32_t> UnitOracle::committed(const Row& row, const TandemArrayPorts& ports) const {
    std::vector<int32_t> values = leaving_;
    const std::vector<int32_t>& old = accumulators_.at(row.address);
    if (values.empty() || (row.accumulate && old.empty())) {
        const auto* actual = static_cast<const int32_t*>(ports.cmt_data);
        return {actual, actual + shape_.cols};
    }
    for (uint32_t c = 0; c < shape_.cols && row.accumulate; ++c)
        values[c] = sum(shape_.dtype, old[c], values[c]);
    return values;
}

// ---- what was accepted -------------------------------------------------------------------------

const UnitOracle::Row* UnitOracle::row_at(Cycle edge, Cycle ago) const {
    return edge < ago ? nullptr : accepted_at(rows_, edge - ago);
}

const UnitOracle::Beat* UnitOracle::beat_at(Cycle edge, Cycle ago) const {
    return edge < ago ? nullptr : accepted_at(history_, edge - ago);
}

void UnitOracle::forget(Cycle edge) {
    while (!rows_.empty() && rows_.front().edge + memory_ < edge) rows_.pop_front();
    while (!history_.empty() && history_.front().edge + memory_ < edge) history_.pop_front();
}

std::vector<int32_t> UnitOracle::column_sums(const std::byte* row) const {
    if (weights_.empty()) return {};
    const uint32_t bytes = element_bytes_, group = shape_.sum4 ? 4 : 1;
    std::vector<int32_t> sums(shape_.cols);
    for (uint32_t c = 0; c < shape_.cols; ++c)
        for (uint32_t first = 0; first < shape_.rows; first += group) {
            std::array<uint32_t, 4> terms{};
            for (uint32_t i = 0; i < group && first + i < shape_.rows; ++i)
                terms[i] = product(shape_.dtype, row + size_t{first + i} * bytes,
                                   &weights_[(size_t{first + i} * shape_.cols + c) * bytes]);
            const int32_t term = shape_.sum4 ? static_cast<int32_t>(bf16::sum4(terms))
                                             : static_cast<int32_t>(terms[0]);
            sums[c] = sum(shape_.dtype, sums[c], term);
        }
    return sums;
}

}  // namespace tandem::cosim
