// SPDX-License-Identifier: Apache-2.0
#include "cosim/requantise_engines.h"

#include <cstring>

namespace tandem::cosim {

RtlRequantiseEngine::RtlRequantiseEngine(const RequantiseShape& shape,
                                         std::shared_ptr<const UnitLibrary> library,
                                         RequantiseOptions options)
    : unit_(shape, std::move(library)), options_(std::move(options)), timing_{shape.lanes} {
    unit_.set_out_ready(true);
    unit_.set_reset(true);
    for (int edge = 0; edge < 2; ++edge) {
        unit_.settle();
        unit_.edge();
    }
    unit_.set_reset(false);
}

/// Parameters are those that stand in the buffer before its first byte is written.
void RtlRequantiseEngine::begin(const engine::RequantiseRows& rows) {
    const isa::Requantise& op = rows.op;
    instruction_ = rows.instruction;
    in_.cols = op.cols;
    in_.gemmlowp = op.rounding != 0;
    in_.zero_point = op.zero_point;
    in_.clamp_min = op.clamp_min;
    in_.clamp_max = op.clamp_max;
    in_.sums.resize(op.cols);
    in_.params.resize(op.cols);
    std::memcpy(in_.params.data(), &rows.buffer[op.params_addr],
                in_.params.size() * sizeof(numerics::ChannelParams));
    out_ = in_;
}

void RtlRequantiseEngine::load_sums(const engine::RequantiseRows& rows, uint32_t row,
                                    RequantiseRow& into) {
    std::memcpy(into.sums.data(), &rows.sums[size_t{row} * rows.array_cols],
                into.sums.size() * sizeof(int32_t));
}

void RtlRequantiseEngine::requantise(const engine::RequantiseRows& rows) {
    if (divergence_) return;
    begin(rows);
    const uint64_t start = edge_;
    const auto accepted_at = [&](uint32_t row) { return start + uint64_t{row} * rows.interval; };
    for (uint32_t in = 0, out = 0; out < rows.op.rows; ++edge_) {
        const bool stands = in < rows.op.rows && edge_ == accepted_at(in);
        unit_.set_valid(stands);
        if (stands) {
            load_sums(rows, in, in_);
            unit_.set_row(in_);
        }
        unit_.settle();
        if (stands && !unit_.row_ready())
            return diverge("cycle", in, "row_ready_o", "a row is not accepted when it is read",
                           {edge_, 0});
        unit_.edge();
        in += stands ? 1 : 0;
        if (auto failure = unit_.failure(); !failure.empty())
            return diverge("assertion", out, "assertion", std::move(failure), {edge_, edge_});
        const uint64_t due = accepted_at(out) + timing_.latency(rows.op.cols);
        const bool valid = unit_.out_valid();
        if (valid != (edge_ == due))
            return diverge("cycle", out, "out_valid_o", valid ? "a row is early" : "a row is late",
                           {due, valid ? edge_ : 0});
        if (valid && !take(rows, out++)) return;
    }
}

bool RtlRequantiseEngine::take(const engine::RequantiseRows& rows, uint32_t row) {
    const isa::Requantise& op = rows.op;
    if (options_.compare) load_sums(rows, row, out_);
    uint8_t* const to = &rows.buffer[op.ub_addr + size_t{row} * op.row_stride];
    for (uint32_t col = 0; col < op.cols; ++col) {
        to[col] = static_cast<uint8_t>(unit_.out(col));
        if (!options_.compare) continue;
        const int8_t expected = out_.expected(col);
        if (unit_.out(col) != expected) {
            diverge("value", row, "out_data_o", out_.operands(col), {edge_, edge_});
            divergence_->col = col;
            divergence_->expected = expected;
            divergence_->actual = unit_.out(col);
            return false;
        }
        ++values_compared_;
    }
    return true;
}

void RtlRequantiseEngine::diverge(const char* what, uint32_t row, const char* signal,
                                  std::string note, std::pair<uint64_t, uint64_t> edges) {
    Divergence& found = divergence_.emplace();
    found.what = what;
    found.row = row;
    found.cycle_tlm = edges.first;
    found.cycle_rtl = edges.second;
    found.unit = "requantise";
    found.signal = signal;
    found.note = std::move(note);
    if (options_.on_divergence) options_.on_divergence();
}

}  // namespace tandem::cosim
