// SPDX-License-Identifier: Apache-2.0
#include "cosim/tandem_engine.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "base/output_file.h"
#include "cosim/gtkw.h"

namespace tandem::cosim {

using engine::MxuEvent;

namespace {

/// Minor page faults of this process up to now.
long page_faults() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

/// What was found is told so; cycles that did not happen stay 0.
void count_from(Cycle origin, Divergence& divergence) {
    const auto shift = [&](Cycle& cycle) { cycle -= std::min(cycle, origin); };
    for (Cycle* cycle :
         {&divergence.cycle_tlm, &divergence.cycle_rtl, &divergence.wave_from, &divergence.wave_to})
        shift(*cycle);
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

void TandemEngine::on_failure(Cycle edge, const std::string& what) {
    if (mode_ != Mode::kCompare || divergence_) return;
    Divergence divergence;
    divergence.what = rtl_.assertion_failed() ? "assertion" : "value";
    divergence.note =
        rtl_.assertion_failed() ? fmt::format("assertion of the RTL failed at {}", what) : what;
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

// ---- the checkpoint and its lives ------------------------------------------------------------

void TandemEngine::checkpoint_if_due(Cycle until) {
    using Clock = std::chrono::steady_clock;
    constexpr auto kInterval = std::chrono::milliseconds(500);
    constexpr int kShare = 100;  // of the time may go into checkpoints: 1 / kShare
    if (!options_.keep_checkpoints || mode_ != Mode::kCompare || !rtl_.quiet()) return;
    if (rtl_.wave_open()) return;  // a copy would write to the same file
    const auto start = Clock::now();
    if (checkpoint_.taken() && start < next_checkpoint_) return;
    // Pages that were written since the last checkpoint had to be copied.
    constexpr auto kPageCopy = std::chrono::microseconds(1);
    const long faults = page_faults();
    auto cost = (faults - faults_at_checkpoint_) * Clock::duration(kPageCopy);
    if (!checkpoint_.taken()) cost = {};
    rtl_.skip_quiet(until);  // a life steps through every edge, so it had better begin late
    // A wrong weight that nobody has used yet must lie after the checkpoint, or it could not be
    // found.
    if (!checkpoint_.taken() || planes_are_right())
        if (const auto command = checkpoint_.take()) begin_life(*command);
    faults_at_checkpoint_ = page_faults();
    const auto end = Clock::now();
    cost += end - start;
    next_checkpoint_ = end + std::max<Clock::duration>(kInterval, kShare * cost);
}

bool TandemEngine::planes_are_right() {
    PeOracle oracle(shape(), rtl_.active_tile(), rtl_.shadow_tile());
    return !oracle.check(rtl_.edge(), pes());
}

const PeTable& TandemEngine::pes() {
    if (pes_.pes.empty()) {
        const TandemArrayInfo& info = rtl_.info();
        pes_.element_bytes = info.element_bytes;
        pes_.psum_bytes = info.psum_bytes;
        pes_.tag_bytes = info.tag_bytes;
        for (uint32_t r = 0; r < shape().rows; ++r)
            for (uint32_t c = 0; c < shape().cols; ++c) pes_.pes.push_back(rtl_.pe(r, c));
    }
    return pes_;
}

/// In a revived copy: "diagnose LAST_EDGE" or "record FROM DIVERGENCE LAST PE_ROW PE_COL".
void TandemEngine::begin_life(const std::string& command) {
    std::istringstream in(command);
    std::string verb;
    in >> verb;
    oracle_ = std::make_unique<PeOracle>(shape(), rtl_.active_tile(), rtl_.shadow_tile());
    rtl_.follow_every_edge();
    rtl_.forget_wave();
    if (verb == "diagnose") {
        mode_ = Mode::kDiagnose;
        in >> last_edge_;
        new_oracles();
        return;
    }
    mode_ = Mode::kRecord;
    Cycle from = 0;
    in >> from >> divergence_edge_ >> last_edge_ >> focus_.pe_row >> focus_.pe_col;
    if (options_.model_probes) probes_ = options_.model_probes();
    add_pe_probes();
    rtl_.record({base::part_of(options_.wave_path).string(),
                 std::max(from, rtl_.edge()) - rtl_.origin(), options_.period_fs, probes_});
}

void TandemEngine::new_oracles() {
    oracle_ = std::make_unique<PeOracle>(shape(), rtl_.active_tile(), rtl_.shadow_tile());
    if (mode_ != Mode::kDiagnose || !own_array()) return;
    units_ = std::make_unique<UnitOracle>(shape(), rtl_.active_tile(), rtl_.shadow_tile());
    units_->watch(rtl_.watch_nets());
}

void TandemEngine::on_step(Cycle edge, const TandemArrayPorts& ports) {
    if (units_ == nullptr) return;
    wrong_before_ = units_->before(edge, ports);
    wrong_after_ = units_->after(edge, ports);
}

/// The earliest moment wins: nets before the edge, then PE registers and ports after it.
void TandemEngine::answer_first_wrong(Cycle edge, const std::optional<PeMismatch>& pe) {
    if (wrong_before_) checkpoint_.answer("net " + to_text(*wrong_before_));
    if (pe)
        checkpoint_.answer(fmt::format("pe {} {} {} {} {} {}", static_cast<int>(pe->which),
                                       pe->pe_row, pe->pe_col, pe->cycle, pe->expected,
                                       pe->actual));
    if (wrong_after_) checkpoint_.answer("net " + to_text(*wrong_after_));
    if (edge < last_edge_) return;
    if (units_ == nullptr || !units_->pending()) checkpoint_.answer("none");
    last_edge_ = edge + 1;  // the nets behind a wrong busy_o are judged with the next edge
}

void TandemEngine::on_weight_row(Cycle edge, uint32_t row, const std::byte* data) {
    if (oracle_ != nullptr) oracle_->weight_row(edge, row, data);
}

void TandemEngine::on_activation_row(Cycle edge, const std::byte* data, bool swap) {
    if (oracle_ != nullptr) oracle_->activation_row(edge, data, swap);
}

void TandemEngine::before_edge(Cycle edge) {
    if (mode_ != Mode::kRecord) return;
    const auto psum = oracle_->expected_psum(edge, focus_.pe_row, focus_.pe_col);
    expected_valid_ = psum.has_value();
    if (psum) expected_psum_ = *psum;
}

void TandemEngine::after_edge(Cycle edge, const TandemArrayPorts&) {
    const auto wrong = oracle_->check(edge, pes());
    if (mode_ == Mode::kDiagnose)
        answer_first_wrong(edge, wrong);
    else if (edge >= divergence_edge_)
        rtl_.interrupt();
}

void TandemEngine::finish_record() {
    while (rtl_.edge() <= last_edge_) rtl_.step();
    bool recorded = rtl_.wave_open();
    rtl_.close_wave();
    const auto part = base::part_of(options_.wave_path);
    recorded = recorded && fst_is_complete(part.string()) && base::take_place(options_.wave_path);
    std::error_code error;
    if (!recorded) std::filesystem::remove(part, error);
    checkpoint_.answer(recorded ? "recorded" : "no wave");
}

void TandemEngine::diagnose_and_record() {
    Divergence& divergence = *divergence_;
    if (!checkpoint_.taken()) return;
    // Replays know time only by the RTL's edges.
    const Cycle edge = rtl_.edge() - 1;
    take_answer(checkpoint_.revive(fmt::format("diagnose {}", edge)).value_or(""));
    if (options_.wave_path.empty()) return;
    const Cycle first = divergence.pe    ? divergence.pe->cycle
                        : divergence.net ? divergence.net->cycle
                                         : edge;
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

void TandemEngine::take_answer(const std::string& answer) {
    Divergence& divergence = *divergence_;
    std::istringstream in(answer);
    std::string kind;
    in >> kind;
    if (kind == "pe") {
        PeMismatch pe{};
        int which = 0;
        in >> which >> pe.pe_row >> pe.pe_col >> pe.cycle >> pe.expected >> pe.actual;
        pe.which = static_cast<PeRegister>(which);
        divergence.pe = pe;
        divergence.unit = to_string(Unit::kPe);
        divergence.signal = to_string(pe.which);
        return;
    }
    if (kind == "net") divergence.net = parse_unit_mismatch(in);
    if (divergence.net) {
        const UnitMismatch& net = *divergence.net;
        divergence.unit = to_string(net.unit);
        divergence.signal = net.signal;
        // Its register was right: the output of the PE, or the wire behind it.
        if (net.unit == Unit::kPe) {
            const auto number = [&](uint64_t bits) {
                return shape().dtype == arch::Dtype::kInt8 ? static_cast<int32_t>(bits)
                                                           : static_cast<int64_t>(bits);
            };
            divergence.pe = {PeRegister::kPsum, shape().rows - 1,     net.lane,
                             net.cycle,         number(net.expected), number(net.actual)};
        }
        return;
    }
    if (const auto unit = unit_of_assertion(rtl_.failure())) {
        divergence.unit = to_string(*unit);
        divergence.signal = "assertion";
    }
    divergence.note +=
        (divergence.note.empty() ? "" : "; ") +
        std::string(kind != "none" ? "the replay ended without an answer"
                    : own_array()
                        ? "all nets between the units and all PE registers were right up to there"
                    : rtl_.pe(0, 0).weight != nullptr
                        ? "all PE registers were right up to there: the fault lies outside the PEs"
                        : "only the ports of this array were judged: its inside is not known");
}

/// The PE in question, its neighbours in row and column, and what the model expects of it.
void TandemEngine::add_pe_probes() {
    const uint32_t rows = shape().rows, cols = shape().cols;
    const uint32_t r0 = focus_.pe_row, c0 = focus_.pe_col;
    for (uint32_t r = r0 - std::min(r0, kPeReach); r <= std::min(rows - 1, r0 + kPeReach); ++r)
        pe_probes_.add(rtl_, r, c0);
    for (uint32_t c = c0 - std::min(c0, kPeReach); c <= std::min(cols - 1, c0 + kPeReach); ++c)
        if (c != c0) pe_probes_.add(rtl_, r0, c);
    probes_.insert(probes_.end(), pe_probes_.list().begin(), pe_probes_.list().end());
    expected_scope_ = fmt::format("expected.r{}_c{}", r0, c0);
    probes_.push_back({expected_scope_.c_str(), "psum", &expected_psum_, 32});
    probes_.push_back({expected_scope_.c_str(), "psum_valid", &expected_valid_, 1});
}

}  // namespace tandem::cosim
