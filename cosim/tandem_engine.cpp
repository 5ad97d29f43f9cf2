// SPDX-License-Identifier: Apache-2.0
#include "cosim/tandem_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cosim/port_contract.h"

namespace tandem::cosim {

using engine::MxuEvent;

namespace {

/// What was found is told so; cycles that did not happen stay 0.
void count_from(Cycle origin, Divergence& divergence) {
    const auto shift = [&](Cycle& cycle) { cycle -= std::min(cycle, origin); };
    for (Cycle* cycle : {&divergence.cycle_tlm, &divergence.cycle_rtl}) shift(*cycle);
    if (divergence.pe) shift(divergence.pe->cycle);
    if (divergence.net) shift(divergence.net->cycle);
}

}  // namespace

TandemEngine::TandemEngine(engine::MxuShape shape, std::shared_ptr<ArrayLibrary> library,
                           TandemOptions options)
    : options_(std::move(options)),
      tlm_(shape),
      rtl_(shape, std::move(library)),
      commit_latency_(engine::commit_latency(shape)),
      row_bytes_(shape.cols * sizeof(int32_t)) {
    rtl_.set_listener(this);
}

void TandemEngine::reset(Cycle cycle) {
    block_ = nullptr;
    tlm_.reset(cycle);
    rtl_.reset(cycle);
    if (oracle_ != nullptr) new_oracles();
    if (witness_ != nullptr) witness_->reset();
    if (failure_probes_ != nullptr) failure_probes_->reset();
}

void TandemEngine::push_weights(const engine::WeightTile& tile) {
    const auto data = engine::share(tile.data, tile.owner);
    tlm_.push_weights(tile, data);
    rtl_.push_weights(tile, data);
}

void TandemEngine::push_rows(const engine::RowBlock& block) {
    const auto data = engine::share(block.data, block.owner);
    tlm_.push_rows(block, data);
    rtl_.push_rows(block, data);
}

void TandemEngine::push_read(const engine::AccumulatorRead& read) {
    tlm_.push_read(read);
    rtl_.push_read(read);
}

std::optional<MxuEvent> TandemEngine::advance(Cycle until) {
    if (divergence_) return std::nullopt;
    checkpoint_if_due(until);
    const auto event = rtl_.advance(until);
    // After a failed assertion the run goes on no further, in a life as well.
    const bool failed = !rtl_.failure().empty();
    if (mode_ == Mode::kDiagnose && failed) {
        if (units_ != nullptr && units_->pending()) rtl_.step();
        checkpoint_.answer("none");
    }
    if (mode_ == Mode::kExplain && (failed || rtl_.edge() > divergence_edge_)) answer_hint();
    if (mode_ == Mode::kRecord && (failed || rtl_.edge() > divergence_edge_)) finish_record();
    if (mode_ == Mode::kCompare && !divergence_) compare_event(event, until);
    if (!divergence_) return event;
    if (!reported_) {
        reported_ = true;
        diagnose_and_record();
        count_from(rtl_.origin(), *divergence_);
        if (options_.on_divergence) options_.on_divergence(*divergence_);
    }
    return std::nullopt;
}

void TandemEngine::compare_event(const std::optional<MxuEvent>& rtl, Cycle until) {
    const auto tlm = tlm_.advance(rtl ? rtl->cycle + 1 : until);
    if (rtl == tlm) {
        if (rtl && rtl->kind == MxuEvent::Kind::kReadDone) compare_read(*rtl);
        return;
    }
    // The earlier of the two is the first that the other one does not know.
    const bool tlm_first = tlm && (!rtl || *tlm < *rtl);
    const MxuEvent& first = tlm_first ? *tlm : *rtl;
    static constexpr const char* kNames[] = {"weight tile loaded", "first row of a block accepted",
                                             "last row of a block committed",
                                             "accumulator rows read"};
    Divergence divergence;
    divergence.what = "cycle";
    divergence.note =
        fmt::format("event \"{}\" #{} only in the {}", kNames[static_cast<size_t>(first.kind)],
                    first.id, tlm_first ? "model" : "RTL");
    divergence.block = block_in_work();
    divergence.cycle_tlm = tlm ? tlm->cycle : 0;
    divergence.cycle_rtl = rtl ? rtl->cycle : 0;
    diverge(std::move(divergence));
}

/// What was committed right must also be read right.
void TandemEngine::compare_read(const MxuEvent& event) {
    const auto model = tlm_.read_data(), rtl = rtl_.read_data();
    if (model.size() == rtl.size() &&
        (rtl.empty() || std::memcmp(model.data(), rtl.data(), model.size_bytes()) == 0))
        return;
    const auto [a, b] = std::mismatch(model.begin(), model.end(), rtl.begin(), rtl.end());
    const auto at = static_cast<uint32_t>(a - model.begin());
    Divergence divergence;
    divergence.what = "value";
    divergence.note =
        fmt::format("accumulator read #{}, row {} of it", event.id, at / shape().cols);
    divergence.row = at / shape().cols;
    divergence.col = at % shape().cols;
    divergence.cycle_tlm = divergence.cycle_rtl = event.cycle;
    if (a != model.end() && b != rtl.end()) {
        divergence.expected = *a;
        divergence.actual = *b;
    }
    diverge(std::move(divergence));
}

void TandemEngine::on_failure(Cycle edge, const std::string& what, const char* port) {
    if (mode_ != Mode::kCompare || divergence_) return;
    Divergence divergence;
    divergence.what = rtl_.assertion_failed() ? "assertion" : "value";
    divergence.note =
        rtl_.assertion_failed() ? fmt::format("assertion of the RTL failed at {}", what) : what;
    divergence.of_ports = is_of_contract(what) || !rtl_.assertion_failed();
    divergence.port = port;
    divergence.signal = rule_of(what);
    divergence.block = block_in_work();
    divergence.cycle_rtl = divergence.cycle_tlm = edge;
    diverge(std::move(divergence));
}

void TandemEngine::on_commit(Cycle edge, uint32_t address, const int32_t* row) {
    if (mode_ != Mode::kCompare || divergence_) return;
    if (block_ == nullptr) next_row();
    if (block_ == nullptr || edge != expected_edge_ || address != block_->acc_addr + row_ ||
        std::memcmp(expected_, row, row_bytes_) != 0)
        return explain_row(edge, address, row);
    ++rows_compared_;
    ++row_;
    next_row();
}

/// What the RTL has to commit next.
void TandemEngine::next_row() {
    if (block_ != nullptr && row_ == block_->rows) block_ = nullptr;
    if (block_ == nullptr) {
        block_ = tlm_.next_block();
        row_ = 0;
    }
    if (block_ == nullptr) return;
    expected_ = block_->sums.data() + size_t{row_} * shape().cols;
    expected_edge_ = block_->edge(row_) + commit_latency_;
}

uint64_t TandemEngine::block_in_work() {
    if (block_ == nullptr) next_row();
    return block_ == nullptr ? 0 : block_->id;
}

/// The row is not what the model has.
void TandemEngine::explain_row(Cycle edge, uint32_t address, const int32_t* row) {
    Divergence divergence;
    divergence.cycle_rtl = edge;
    if (block_ == nullptr) {
        divergence.what = "order";
        divergence.note = "the RTL commits a row that the model does not know";
        return diverge(std::move(divergence));
    }
    const uint32_t cols = shape().cols;
    divergence.block = block_->id;
    divergence.row = row_;
    divergence.cycle_tlm = expected_edge_;
    const auto col = std::mismatch(expected_, expected_ + cols, row).first - expected_;
    if (col != cols) {
        divergence.what = "value";
        divergence.col = static_cast<uint32_t>(col);
        divergence.expected = expected_[col];
        divergence.actual = row[col];
    } else {
        divergence.what = edge != expected_edge_ ? "cycle" : "order";
        divergence.expected = block_->acc_addr + row_;
        divergence.actual = address;
    }
    diverge(std::move(divergence));
}

void TandemEngine::diverge(Divergence divergence) {
    divergence_ = std::move(divergence);
    rtl_.interrupt();
}

}  // namespace tandem::cosim
