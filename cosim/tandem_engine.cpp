// SPDX-License-Identifier: Apache-2.0
#include "cosim/tandem_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <sstream>

namespace tandem::cosim {

using mxu::MxuEvent;

TandemEngine::TandemEngine(mxu::MxuShape shape, std::shared_ptr<ArrayLibrary> library,
                           TandemOptions options)
    : options_(std::move(options)), tlm_(shape), rtl_(shape, std::move(library)) {
    rtl_.set_listener(this);
    tlm_.set_block_listener([this](const mxu::TlmMxuEngine::BlockResult& block) {
        expected_.push_back({block.id,
                             block.first_edge,
                             block.acc_addr,
                             block.rows,
                             {block.sums.begin(), block.sums.end()}});
    });
}

void TandemEngine::reset(Cycle cycle) {
    expected_.clear();
    tlm_.reset(cycle);
    rtl_.reset(cycle);
    if (oracle_ != nullptr)
        oracle_ = std::make_unique<PeOracle>(shape(), rtl_.active_tile(), rtl_.shadow_tile());
}

void TandemEngine::push_weights(const mxu::WeightTile& tile) {
    tlm_.push_weights(tile);
    rtl_.push_weights(tile);
}

void TandemEngine::push_rows(const mxu::RowBlock& block) {
    tlm_.push_rows(block);
    rtl_.push_rows(block);
}

void TandemEngine::push_read(const mxu::AccumulatorRead& read) {
    tlm_.push_read(read);
    rtl_.push_read(read);
}

std::optional<MxuEvent> TandemEngine::advance(Cycle until) {
    if (divergence_) return std::nullopt;
    checkpoint_if_due(until);
    const auto event = rtl_.advance(until);
    if (mode_ == Mode::kRecord && rtl_.edge() > divergence_edge_) finish_record();
    if (mode_ == Mode::kCompare && !divergence_) compare_event(event, until);
    if (!divergence_) return event;
    if (!reported_) {
        reported_ = true;
        diagnose_and_record();
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
    divergence.block = expected_.empty() ? 0 : expected_.front().id;
    divergence.cycle_tlm = tlm ? tlm->cycle : 0;
    divergence.cycle_rtl = rtl ? rtl->cycle : 0;
    diverge(std::move(divergence));
}

/// What was committed right must also be read right.
void TandemEngine::compare_read(const MxuEvent& event) {
    const auto model = tlm_.read_data(), rtl = rtl_.read_data();
    const auto [a, b] = std::mismatch(model.begin(), model.end(), rtl.begin(), rtl.end());
    if (a == model.end() && b == rtl.end()) return;
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

void TandemEngine::on_failure(Cycle edge, const char* where) {
    if (mode_ != Mode::kCompare || divergence_) return;
    Divergence divergence;
    divergence.what = "assertion";
    divergence.note = fmt::format("assertion of the RTL failed at {}", where);
    divergence.block = expected_.empty() ? 0 : expected_.front().id;
    divergence.cycle_rtl = divergence.cycle_tlm = edge;
    diverge(std::move(divergence));
}

void TandemEngine::on_commit(Cycle edge, uint32_t address, const int32_t* row) {
    if (mode_ == Mode::kCompare) compare_row(edge, address, row);
}

void TandemEngine::compare_row(Cycle edge, uint32_t address, const int32_t* row) {
    if (divergence_) return;
    Divergence divergence;
    divergence.cycle_rtl = edge;
    if (expected_.empty()) {
        divergence.what = "order";
        divergence.note = "the RTL commits a row that the model does not know";
        return diverge(std::move(divergence));
    }
    ExpectedBlock& block = expected_.front();
    const uint32_t cols = shape().cols;
    const int32_t* expected = block.sums.data() + size_t{block.next_row} * cols;
    divergence.block = block.id;
    divergence.row = block.next_row;
    divergence.cycle_tlm = block.first_edge + block.next_row + mxu::commit_latency(shape());
    const bool same = std::memcmp(expected, row, cols * sizeof(int32_t)) == 0;
    if (!same) {
        divergence.col =
            static_cast<uint32_t>(std::mismatch(expected, expected + cols, row).first - expected);
        divergence.what = "value";
        divergence.expected = expected[divergence.col];
        divergence.actual = row[divergence.col];
        return diverge(std::move(divergence));
    }
    if (edge != divergence.cycle_tlm || address != block.acc_addr + block.next_row) {
        divergence.what = edge != divergence.cycle_tlm ? "cycle" : "order";
        divergence.expected = block.acc_addr + block.next_row;
        divergence.actual = address;
        return diverge(std::move(divergence));
    }
    ++rows_compared_;
    if (++block.next_row == block.rows) expected_.pop_front();
}

void TandemEngine::diverge(Divergence divergence) {
    divergence_ = std::move(divergence);
    rtl_.interrupt();
}

// ---- the checkpoint and its lives ------------------------------------------------------------

void TandemEngine::checkpoint_if_due(Cycle until) {
    constexpr auto kInterval = std::chrono::milliseconds(500);
    if (!options_.keep_checkpoints || mode_ != Mode::kCompare || !rtl_.quiet()) return;
    const auto now = std::chrono::steady_clock::now();
    if (checkpoint_.taken() && now - last_checkpoint_ < kInterval) return;
    last_checkpoint_ = now;
    rtl_.skip_quiet(until);  // a life steps through every edge, so it had better begin late
    // A wrong weight that nobody has used yet must lie after the checkpoint, or it could not be
    // found.
    if (checkpoint_.taken() && !planes_are_right()) return;
    if (const auto command = checkpoint_.take()) begin_life(*command);
}

bool TandemEngine::planes_are_right() {
    PeOracle oracle(shape(), rtl_.active_tile(), rtl_.shadow_tile());
    return !oracle.check(rtl_.edge(), rtl_.state());
}

/// In a revived copy: "diagnose LAST_EDGE" or "record FROM DIVERGENCE LAST PE_ROW PE_COL".
void TandemEngine::begin_life(const std::string& command) {
    std::istringstream in(command);
    std::string verb;
    in >> verb;
    oracle_ = std::make_unique<PeOracle>(shape(), rtl_.active_tile(), rtl_.shadow_tile());
    if (verb == "diagnose") {
        mode_ = Mode::kDiagnose;
        in >> last_edge_;
        return;
    }
    mode_ = Mode::kRecord;
    Cycle from = 0;
    in >> from >> divergence_edge_ >> last_edge_ >> focus_.pe_row >> focus_.pe_col;
    if (options_.model_probes) probes_ = options_.model_probes();
    add_pe_probes();
    rtl_.record({options_.wave_path, std::max(from, rtl_.edge()), options_.period_ps, probes_});
}

void TandemEngine::on_weight_row(Cycle edge, uint32_t row, const int8_t* data) {
    if (oracle_ != nullptr) oracle_->weight_row(edge, row, data);
}

void TandemEngine::on_activation_row(Cycle edge, uint64_t, const int8_t* data, bool swap) {
    if (oracle_ != nullptr) oracle_->activation_row(edge, data, swap);
}

void TandemEngine::before_edge(Cycle edge) {
    if (mode_ != Mode::kRecord) return;
    const auto psum = oracle_->expected_psum(edge, focus_.pe_row, focus_.pe_col);
    expected_valid_ = psum.has_value();
    if (psum) expected_psum_ = static_cast<uint32_t>(*psum);
}

void TandemEngine::after_edge(Cycle edge) {
    const auto wrong = oracle_->check(edge, rtl_.state());
    if (mode_ == Mode::kDiagnose) {
        if (wrong)
            checkpoint_.answer(fmt::format("pe {} {} {} {} {} {}", static_cast<int>(wrong->which),
                                           wrong->pe_row, wrong->pe_col, wrong->cycle,
                                           wrong->expected, wrong->actual));
        if (edge >= last_edge_) checkpoint_.answer("none");
    } else if (edge >= divergence_edge_) {
        rtl_.interrupt();
    }
}

void TandemEngine::finish_record() {
    while (rtl_.edge() <= last_edge_) rtl_.step();
    const bool recorded = rtl_.wave_open();
    rtl_.close_wave();
    checkpoint_.answer(recorded ? "recorded" : "no wave");
}

void TandemEngine::diagnose_and_record() {
    Divergence& divergence = *divergence_;
    if (!checkpoint_.taken()) return;
    // Replays know time only by the RTL's edges.
    const Cycle edge = rtl_.edge() - 1;
    const auto answer = checkpoint_.revive(fmt::format("diagnose {}", edge));
    std::istringstream in(answer.value_or(""));
    std::string kind;
    in >> kind;
    if (kind == "pe") {
        PeMismatch pe{};
        int which = 0;
        in >> which >> pe.pe_row >> pe.pe_col >> pe.cycle >> pe.expected >> pe.actual;
        pe.which = static_cast<PeRegister>(which);
        divergence.pe = pe;
    } else {
        divergence.note +=
            (divergence.note.empty() ? "" : "; ") +
            std::string(
                kind == "none"
                    ? "all PE registers were right up to there: the fault lies outside the PEs"
                    : "the replay ended without an answer");
    }
    if (options_.wave_path.empty()) return;
    const Cycle first = divergence.pe ? divergence.pe->cycle : edge;
    divergence.wave_from = first > options_.edges_before ? first - options_.edges_before : 0;
    divergence.wave_to = edge + options_.edges_after;
    const auto recorded = checkpoint_.revive(
        fmt::format("record {} {} {} {} {}", divergence.wave_from, edge, divergence.wave_to,
                    divergence.pe ? divergence.pe->pe_row : 0,
                    divergence.pe ? divergence.pe->pe_col : divergence.col));
    if (recorded == "recorded")
        divergence.wave = options_.wave_path;
    else
        divergence.note += (divergence.note.empty() ? "" : "; ") +
                           fmt::format("no waveform: {} cannot be written", options_.wave_path);
}

/// The PE in question, its neighbours in row and column, and what the model expects of it.
void TandemEngine::add_pe_probes() {
    const TandemArrayState state = rtl_.state();
    const auto [rows, cols, depth] = shape();
    const auto at = [](const void* plane, size_t index, uint32_t bytes) {
        return static_cast<const uint8_t*>(plane) + index * bytes;
    };
    const auto add_pe = [&](uint32_t r, uint32_t c) {
        const size_t index = size_t{rows - 1 - r} * cols + (cols - 1 - c);
        const char* scope = probe_names_.emplace_back(fmt::format("pe.r{}_c{}", r, c)).c_str();
        probes_.push_back(
            {scope, "activation", at(state.activation, index, state.activation_bytes), 8});
        probes_.push_back({scope, "weight", at(state.weight, index, state.weight_bytes), 8});
        probes_.push_back({scope, "shadow", at(state.shadow, index, state.weight_bytes), 8});
        probes_.push_back({scope, "psum", at(state.psum, index, state.psum_bytes), 32});
    };
    constexpr uint32_t kReach = 2;
    const uint32_t r0 = focus_.pe_row, c0 = focus_.pe_col;
    for (uint32_t r = r0 - std::min(r0, kReach); r <= std::min(rows - 1, r0 + kReach); ++r)
        add_pe(r, c0);
    for (uint32_t c = c0 - std::min(c0, kReach); c <= std::min(cols - 1, c0 + kReach); ++c)
        if (c != c0) add_pe(r0, c);
    const char* scope = probe_names_.emplace_back(fmt::format("expected.r{}_c{}", r0, c0)).c_str();
    probes_.push_back({scope, "psum", &expected_psum_, 32});
    probes_.push_back({scope, "psum_valid", &expected_valid_, 1});
}

}  // namespace tandem::cosim
