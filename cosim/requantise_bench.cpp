// SPDX-License-Identifier: Apache-2.0
#include "cosim/requantise_bench.h"

#include <fmt/format.h>

#include <algorithm>

namespace tandem::cosim {

void RequantiseModel::step(const RequantiseEdge& edge) {
    const bool accepted = edge.valid && row_ready(edge);
    if (edge.reset) {
        rows_.clear();
        occupied_ = 0;
        return;
    }
    if (!advances(edge)) return;
    if (out() != nullptr) rows_.pop_front();
    for (InWork& row : rows_) --row.due;
    if (occupied_ != 0) --occupied_;
    if (!accepted) return;
    rows_.push_back({edge.row, timing_.latency(edge.row.cols)});
    occupied_ = timing_.interval(edge.row.cols) - 1;
}

std::string RequantiseMismatch::text() const {
    std::string text = fmt::format("edge {}, {}", edge, signal);
    if (col) text += fmt::format(", column {}", *col);
    if (signal != "assertion") text += fmt::format(": expected {}, RTL has {}", expected, actual);
    if (!note.empty()) text += ": " + note;
    return operands.empty() ? text : text + "\n  operands: " + operands;
}

std::optional<RequantiseMismatch> RequantiseBench::run(uint64_t edges,
                                                       RequantiseCounters& counters) {
    for (uint64_t edge = 0; edge < edges; ++edge)
        if (auto found = step(edge, counters)) return found;
    return std::nullopt;
}

std::optional<RequantiseMismatch> RequantiseBench::step(uint64_t edge,
                                                        RequantiseCounters& counters) {
    const RequantiseEdge& at = traffic_.next();
    unit_.set_reset(at.reset);
    unit_.set_valid(at.valid);
    unit_.set_out_ready(at.out_ready);
    unit_.set_row(at.row);
    unit_.settle();
    const bool ready = model_.row_ready(at);
    if (unit_.row_ready() != ready)
        return RequantiseMismatch{.signal = "row_ready_o",
                                  .edge = edge,
                                  .col = {},
                                  .expected = ready,
                                  .actual = unit_.row_ready(),
                                  .operands = {},
                                  .note = {}};
    ++counters.edges;
    counters.rows += at.valid && ready;
    counters.values += at.valid && ready ? at.row.cols : 0;
    counters.stalls += model_.out() != nullptr && !at.out_ready;
    counters.resets += at.reset;
    unit_.edge();
    model_.step(at);
    traffic_.note(ready);
    return compare(edge);
}

std::optional<RequantiseMismatch> RequantiseBench::compare(uint64_t edge) const {
    const auto mismatch = [&](const char* signal, int64_t expected, int64_t actual) {
        return RequantiseMismatch{signal, edge, {}, expected, actual, {}, {}};
    };
    const RequantiseRow* const out = model_.out();
    if (unit_.out_valid() != (out != nullptr))
        return mismatch("out_valid_o", out != nullptr, unit_.out_valid());
    if (unit_.busy() != model_.busy()) return mismatch("busy_o", model_.busy(), unit_.busy());
    if (out != nullptr)
        for (uint32_t col = 0; col < out->cols; ++col)
            if (unit_.out(col) != out->expected(col)) {
                auto found = mismatch("out_data_o", out->expected(col), unit_.out(col));
                found.col = col;
                found.operands = out->operands(col);
                return found;
            }
    if (auto failure = unit_.failure(); !failure.empty()) {
        auto found = mismatch("assertion", 0, 0);
        found.note = std::move(failure);
        return found;
    }
    return std::nullopt;
}

}  // namespace tandem::cosim
