// SPDX-License-Identifier: Apache-2.0
// The checkpoint of a TandemEngine and its lives: copies of the process that go through the edges
// again, to find the first wrong register or net, or to record them.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/output_file.h"
#include "cosim/hint.h"
#include "cosim/tandem_engine.h"
#include "cosim/wave_file.h"

namespace tandem::cosim {

namespace {

/// Minor page faults of this process up to now.
long page_faults() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

}  // namespace

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
    if (pes_.pes.empty())
        pes_ = pe_table(rtl_.info(), [this](uint32_t r, uint32_t c) { return rtl_.pe(r, c); });
    return pes_;
}

/// In a revived copy: "diagnose LAST_EDGE", "explain DIVERGENCE" or "record FROM DIVERGENCE LAST
/// PE_ROW PE_COL".
void TandemEngine::begin_life(const std::string& command) {
    std::istringstream in(command);
    std::string verb;
    in >> verb;
    if (verb == "explain") {
        mode_ = Mode::kExplain;
        in >> divergence_edge_;
        witness_ = std::make_unique<Witness>(shape(), rtl_.active_tile(), rtl_.shadow_tile());
        rtl_.follow_every_edge();
        return rtl_.forget_wave();
    }
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
    begin_record(base::part_of(options_.wave_path).string(), from);
}

/// From edge `from` on, counted from the origin, or from now on if that is later.
void TandemEngine::begin_record(const std::string& wave, Cycle from) {
    const FailurePlace place{.shape = shape(),
                             .pe = [this](uint32_t r, uint32_t c) { return rtl_.pe(r, c); },
                             .taps = own_array() ? rtl_.watch_nets() : std::span<const TandemTap>{},
                             .active = rtl_.active_tile(),
                             .shadow = rtl_.shadow_tile(),
                             .pe_row = focus_.pe_row,
                             .pe_col = focus_.pe_col};
    failure_probes_ = std::make_unique<FailureProbes>(place);
    WaveRequest request;
    request.path = wave;
    // The array may be behind the origin, or the origin may not be known yet.
    const Cycle edge = rtl_.edge();
    request.from = rtl_.has_origin() ? std::max(from, edge - std::min(edge, rtl_.origin())) : from;
    request.period_fs = options_.period_fs;
    if (options_.model_probes) request.probes = options_.model_probes();
    const auto probes = failure_probes_->list();
    request.probes.insert(request.probes.end(), probes.begin(), probes.end());
    request.call = [](void* self, const TandemArrayPorts* ports, int rose) {
        static_cast<TandemEngine*>(self)->on_moment(*ports, rose != 0);
    };
    request.user = this;
    rtl_.record(request);
}

void TandemEngine::on_moment(const TandemArrayPorts& ports, bool rose) {
    const Cycle edge = rtl_.edge();
    if (!rose) return failure_probes_->before(edge, ports);
    failure_probes_->after(edge, ports);
    // The model's own row, also where it was added to one from before the checkpoint.
    if (block_ == nullptr) next_row();
    while (block_ != nullptr && expected_edge_ < edge) ++row_, next_row();
    if (block_ == nullptr || edge != expected_edge_) return;
    failure_probes_->expect_commit(block_->acc_addr + row_, {expected_, shape().cols});
    ++row_;
    next_row();
}

void TandemEngine::new_oracles() {
    oracle_ = std::make_unique<PeOracle>(shape(), rtl_.active_tile(), rtl_.shadow_tile());
    if (!own_array()) return;
    units_ = std::make_unique<UnitOracle>(shape(), rtl_.active_tile(), rtl_.shadow_tile());
    units_->watch(rtl_.watch_nets());
}

void TandemEngine::on_step(Cycle edge, const TandemArrayPorts& ports) {
    if (witness_ != nullptr) witness_->step(edge - rtl_.origin(), ports);
    // An edge before the wave begins, or it would have been told of already.
    if (mode_ == Mode::kRecord && !rtl_.wave_open()) {
        on_moment(ports, false);
        on_moment(ports, true);
    }
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

void TandemEngine::after_edge(Cycle edge, const TandemArrayPorts&) {
    if (mode_ == Mode::kDiagnose)
        answer_first_wrong(edge, oracle_->check(edge, pes()));
    else if (edge >= divergence_edge_)
        rtl_.interrupt();
}

void TandemEngine::finish_record() {
    while (rtl_.edge() <= last_edge_) rtl_.step();
    rtl_.close_wave();
    const WaveRecord& wave = rtl_.wave_record();
    const bool recorded = wave.any && finish_wave(rtl_.library(), options_.wave_path);
    checkpoint_.answer(recorded ? fmt::format("recorded {} {}", wave.from, wave.to) : "no wave");
}

/// Rows behind the difference tell more of it.
void TandemEngine::answer_hint() {
    const Cycle last = rtl_.edge() + 100 + 2 * commit_latency_;
    while (rtl_.edge() < last && !rtl_.assertion_failed()) rtl_.step();
    std::string hint = hint_of_rows(*witness_);
    if (hint.empty()) hint = hint_of_reads(*witness_);
    checkpoint_.answer("explained\n" + difference_of_times(*witness_, commit_latency_) + '\n' +
                       hint + '\n');
}

void TandemEngine::ask_for_hint(Cycle edge) {
    if (divergence_->what == "assertion") return;
    const auto answer = checkpoint_.revive(fmt::format("explain {}", edge));
    std::istringstream in(answer.value_or(""));
    std::string verb;
    std::getline(in, verb);
    std::getline(in, divergence_->difference);
    std::getline(in, divergence_->hint);
}

void TandemEngine::diagnose_and_record() {
    Divergence& divergence = *divergence_;
    if (!checkpoint_.taken()) return;
    // Replays know time only by the RTL's edges.
    const Cycle edge = rtl_.edge() - 1;
    take_answer(checkpoint_.revive(fmt::format("diagnose {}", edge)).value_or(""));
    ask_for_hint(edge);
    if (options_.wave_path.empty()) return;
    const Cycle first = divergence.pe    ? divergence.pe->cycle
                        : divergence.net ? divergence.net->cycle
                                         : edge;
    const Cycle from = first - std::min(first, options_.edges_before + rtl_.origin());
    const auto answer = checkpoint_.revive(
        fmt::format("record {} {} {} {} {}", from, edge, edge + options_.edges_after,
                    divergence.pe ? divergence.pe->pe_row : 0,
                    divergence.pe ? divergence.pe->pe_col : divergence.col));
    std::istringstream in(answer.value_or(""));
    std::string recorded;
    if (in >> recorded >> divergence.wave_from >> divergence.wave_to && recorded == "recorded")
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
        return blame(divergence, pe);
    }
    if (kind == "net")
        if (const auto net = parse_unit_mismatch(in)) return blame(divergence, *net, shape());
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

}  // namespace tandem::cosim
