// SPDX-License-Identifier: Apache-2.0
#include "cosim/port_bench.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "base/output_file.h"
#include "cosim/port_contract.h"
#include "cosim/wave_file.h"

namespace tandem::cosim {

namespace {

/// Nothing: equal, or undefined.
std::optional<size_t> first_difference(const PortRow& expected, const void* data) {
    if (expected.empty()) return std::nullopt;
    const auto* actual = static_cast<const int32_t*>(data);
    if (std::memcmp(expected.data(), actual, expected.size() * sizeof(int32_t)) == 0)
        return std::nullopt;
    return std::mismatch(expected.begin(), expected.end(), actual).first - expected.begin();
}

}  // namespace

PortBench::PortBench(engine::MxuShape shape, std::shared_ptr<ArrayLibrary> library,
                     uint64_t initial)
    : shape_(shape), library_(std::move(library)), model_(shape) {
    const TandemArrayInfo& info = library_->info();
    if (info.rows != shape.rows || info.cols != shape.cols ||
        info.acc_depth != shape.accumulator_rows)
        throw std::logic_error("the array does not have the shape of the bench");
    array_ = library_->create_random(initial);
    library_->reset(array_);
}

PortBench::~PortBench() { library_->destroy(array_); }

std::optional<PortMismatch> PortBench::step(const PortEdge& edge) {
    edge_ = edge;
    if (!model_.readable(edge_.read_address)) edge_.read = false;
    const uint64_t number = model_.edge();
    const uint32_t beat_row = shape_.rows - 1 - std::min(model_.beats(), shape_.rows - 1);
    ports_ = ports_of(edge_);
    library_->step(array_, &ports_);
    shown_ = model_.step(edge_);
    if (unit_oracle_ != nullptr) judge_inside(number, beat_row);
    return compare(number);
}

std::optional<PortMismatch> PortBench::compare(uint64_t edge) const {
    if (ports_.failure == nullptr) return compare_ports(edge);
    // What the checker of the contract found has a port that says it better.
    if (is_of_contract(ports_.failure))
        if (auto found = compare_ports(edge)) return found;
    return PortMismatch{.signal = "assertion", .edge = edge, .note = ports_.failure};
}

std::optional<PortMismatch> PortBench::compare_ports(uint64_t edge) const {
    const auto flag = [&](const char* signal, uint8_t actual, bool expected) {
        std::optional<PortMismatch> found;
        if ((actual != 0) != expected)
            found = {.signal = signal, .edge = edge, .expected = expected, .actual = actual};
        return found;
    };
    const auto row = [&](const char* signal, const PortRow& expected, const void* data) {
        std::optional<PortMismatch> found;
        if (const auto col = first_difference(expected, data))
            found = {.signal = signal,
                     .edge = edge,
                     .col = static_cast<uint32_t>(*col),
                     .expected = expected[*col],
                     .actual = static_cast<const int32_t*>(data)[*col]};
        return found;
    };
    if (auto found = flag("wgt_ready_o", ports_.wgt_ready, shown_.weight_ready)) return found;
    if (auto found = flag("act_ready_o", ports_.act_ready, shown_.activation_ready)) return found;
    if (auto found = flag("rd_ready_o", ports_.rd_ready, shown_.read_ready)) return found;
    if (auto found = flag("cmt_valid_o", ports_.cmt_valid, shown_.commit)) return found;
    if (shown_.commit && ports_.cmt_addr != shown_.commit_address)
        return PortMismatch{.signal = "cmt_addr_o",
                            .edge = edge,
                            .expected = shown_.commit_address,
                            .actual = ports_.cmt_addr};
    if (auto found = row("cmt_data_o", shown_.commit_row, ports_.cmt_data)) return found;
    if (auto found = flag("res_valid_o", ports_.res_valid, shown_.result)) return found;
    if (auto found = row("res_data_o", shown_.result_row, ports_.res_data)) return found;
    return flag("busy_o", ports_.busy, shown_.busy);
}

// ---- inside Tandem's own array

void PortBench::look_inside() {
    pes_ = pe_table(library_->info(), [this](uint32_t r, uint32_t c) { return pe(r, c); });
    new_oracles();
}

TandemPeRegisters PortBench::pe(uint32_t row, uint32_t col) const {
    TandemPeRegisters registers{};
    library_->pe(array_, row, col, &registers);
    return registers;
}

void PortBench::new_oracles() {
    pe_oracle_ = std::make_unique<PeOracle>(shape_, std::span<const std::byte>{},
                                            std::span<const std::byte>{});
    unit_oracle_ = std::make_unique<UnitOracle>(shape_, std::span<const std::byte>{},
                                                std::span<const std::byte>{});
    unit_oracle_->watch(watch_nets());
}

/// The earliest moment wins: nets before the edge, PE registers after it, then ports and nets.
void PortBench::judge_inside(uint64_t edge, uint32_t beat_row) {
    if (diagnosis_.pe || diagnosis_.net) return;
    if (edge_.reset) return new_oracles();
    const auto before = unit_oracle_->before(edge, ports_);
    const auto after = unit_oracle_->after(edge, ports_);
    if (edge_.weight && shown_.weight_ready)
        pe_oracle_->weight_row(edge, beat_row, edge_.weights.data());
    if (edge_.activation && shown_.activation_ready)
        pe_oracle_->activation_row(edge, edge_.activations.data(), edge_.swap);
    const auto pe = pe_oracle_->check(edge, pes_);
    if (before)
        diagnosis_.net = before;
    else if (pe)
        diagnosis_.pe = pe;
    else if (after)
        diagnosis_.net = after;
}

PortDiagnosis PortBench::diagnosis() const {
    PortDiagnosis all = diagnosis_;
    if (!all.pe && !all.net && unit_oracle_ != nullptr) all.net = unit_oracle_->pending();
    return all;
}

// ---- waveform

bool PortBench::own_array() const { return library_->info().form != std::string_view("other"); }

std::span<const TandemTap> PortBench::watch_nets() {
    library_->watch(array_, 1);
    const TandemTap* first = nullptr;
    const size_t count = library_->taps(array_, &first);
    return {first, count};
}

void PortBench::record(const std::filesystem::path& wave,
                       std::optional<std::pair<uint32_t, uint32_t>> pe) {
    constexpr uint64_t kPeriodFs = 1'000'000;
    wave_ = wave;
    failure_probes_ = std::make_unique<FailureProbes>(
        FailurePlace{.shape = shape_,
                     .pe = [this](uint32_t r, uint32_t c) { return this->pe(r, c); },
                     .taps = own_array() ? watch_nets() : std::span<const TandemTap>{},
                     .pe_row = pe ? pe->first : 0,
                     .pe_col = pe ? pe->second : 0,
                     .whole = !pe});
    const auto probes = failure_probes_->list();
    recording_ = library_->trace_open(array_, base::part_of(wave_).c_str(), model_.edge(),
                                      kPeriodFs, probes.data(), probes.size()) == 0;
    const auto on_moment = [](void* self, const TandemArrayPorts* ports, int rose) {
        const auto* bench = static_cast<PortBench*>(self);
        const uint64_t edge = bench->model_.edge();
        if (rose != 0)
            bench->failure_probes_->after(edge, *ports);
        else
            bench->failure_probes_->before(edge, *ports);
    };
    if (recording_) library_->trace_call(array_, on_moment, this);
}

bool PortBench::finish_record() {
    library_->trace_close(array_);
    recording_ = recording_ && finish_wave(*library_, wave_);
    return recording_;
}

std::optional<PortMismatch> replay(const PortStream& stream, PortBench& bench) {
    for (const PortEdge& edge : stream.edges)
        if (auto found = bench.step(edge)) return found;
    return std::nullopt;
}

}  // namespace tandem::cosim
