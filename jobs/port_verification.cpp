// SPDX-License-Identifier: Apache-2.0
#include "jobs/port_verification.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "cosim/port_contract.h"
#include "cosim/port_vectors.h"
#include "cosim/unit_oracle.h"
#include "jobs/port_hint.h"

namespace tandem::jobs {

namespace {

using cosim::Divergence;
using cosim::PortBench;
using cosim::PortMismatch;
using cosim::PortStream;

/// What the stream of a seed is for: of 50 of them one is long, and one is about operands.
cosim::PortStreamKind kind_of(uint64_t seed) {
    const uint64_t number = seed % 50;
    return number == 0   ? cosim::PortStreamKind::kLong
           : number == 1 ? cosim::PortStreamKind::kOperands
                         : cosim::PortStreamKind::kMixed;
}

uint64_t edges_of(uint64_t seed, const engine::MxuShape& shape) {
    switch (kind_of(seed)) {
        case cosim::PortStreamKind::kLong:
            return 160'000;  // beyond 2^16 after whatever has to come first
        case cosim::PortStreamKind::kOperands:
            return shape.dtype == arch::Dtype::kInt8 ? 66'500 : 10'000;
        case cosim::PortStreamKind::kMixed:
            return 2'500 + 4 * engine::commit_latency(shape);
    }
    return 0;
}

/// What a stream contained; null: not wanted.
struct Wanted {
    cosim::PortCounters* counters = nullptr;
    cosim::PortCoverage* coverage = nullptr;
    std::vector<cosim::PortEdge>* edges = nullptr;
};

/// Up to the first wrong port.
std::optional<PortMismatch> run(const run::LoadedArray& array, uint64_t seed,
                                const Wanted& wanted) {
    PortBench bench(array.shape, array.library, seed);
    cosim::PortTraffic traffic(array.shape, seed, kind_of(seed));
    if (wanted.coverage != nullptr) wanted.coverage->restart();
    std::optional<PortMismatch> found;
    for (uint64_t edge = 0; edge < edges_of(seed, array.shape) && !found; ++edge) {
        const cosim::PortEdge& next = traffic.next(bench.model());
        if (wanted.edges != nullptr) wanted.edges->push_back(next);
        if (wanted.coverage != nullptr) wanted.coverage->before(bench.model());
        found = bench.step(next);
        if (wanted.coverage != nullptr) wanted.coverage->sample(next, bench.shown());
        traffic.note(bench.shown());
    }
    if (wanted.counters != nullptr) *wanted.counters += traffic.counters();
    return found;
}

/// Whose output a port is: what is left when all nets that can be judged were right.
cosim::Unit unit_of_port(const std::string& signal) {
    if (signal == "act_ready_o" || signal == "busy_o") return cosim::Unit::kControl;
    if (signal == "wgt_ready_o") return cosim::Unit::kWeightLoader;
    return cosim::Unit::kAccumulators;
}

void note(Divergence& divergence, const std::string& text) {
    divergence.note += (divergence.note.empty() ? "" : "; ") + text;
}

/// Of a recording, behind the wrong port: it stands in the middle of the picture.
constexpr int kEdgesBehind = 6;

/// The stream once more, around the PE that went wrong or above the column of the port.
void record(const run::LoadedArray& array, const PortStream& stream,
            const cosim::PortDiagnosis& inside, const std::string& wave, Divergence& divergence) {
    PortBench bench(array.shape, array.library, stream.initial);
    const uint32_t row = inside.pe ? inside.pe->pe_row : array.shape.rows - 1,
                   col = inside.pe ? inside.pe->pe_col : divergence.col;
    bench.record(wave, std::pair(row, col));
    replay(stream, bench);
    for (int i = 0; i < kEdgesBehind; ++i) bench.step(cosim::idle_edge(array.shape));
    if (!bench.finish_record())
        return note(divergence, "no waveform: " + wave + " cannot be written");
    divergence.wave = wave;
    divergence.wave_to = divergence.cycle_rtl + kEdgesBehind;
}

/// Once more, with all that a report wants.
Divergence look_into(const run::LoadedArray& array, const PortStream& stream,
                     const PortMismatch& found, const std::string& wave) {
    Divergence divergence;
    divergence.what = found.signal == "assertion" ? "assertion" : "port";
    divergence.port = divergence.signal = found.signal;
    if (cosim::is_of_contract(found.note)) {
        divergence.signal = cosim::rule_of(found.note);
        divergence.port = cosim::port_of(found.note);
    }
    divergence.note = found.note;
    if (cosim::never_rests(found.note))
        divergence.hint = "a combinational loop: nets that wait for themselves at one edge";
    divergence.col = found.col;
    divergence.cycle_tlm = divergence.cycle_rtl = found.edge;
    divergence.expected = found.expected;
    divergence.actual = found.actual;
    const bool ours = array.library->info().form != std::string_view("other");
    PortBench bench(array.shape, array.library, stream.initial);
    if (ours) bench.look_inside();
    replay(stream, bench);
    // After an edge it shows what units tell it before the next one.
    if (found.signal == "busy_o") bench.step(cosim::idle_edge(array.shape));
    const auto inside = bench.diagnosis();
    if (!wave.empty()) record(array, stream, inside, wave, divergence);
    if (!ours) return divergence;
    if (inside.pe) {
        blame(divergence, *inside.pe);
    } else if (inside.net) {
        blame(divergence, *inside.net, array.shape);
    } else if (const auto unit = cosim::unit_of_assertion(found.note)) {
        divergence.unit = to_string(*unit);
    } else {
        divergence.unit = to_string(unit_of_port(found.signal));
    }
    return divergence;
}

/// With the stream of a seed as it was, for more rows tell more; it goes on past the wrong port.
void explain_stream(const run::LoadedArray& array, uint64_t seed, const PortMismatch& found,
                    Divergence& divergence) {
    cosim::PortTraffic traffic(array.shape, seed, kind_of(seed));
    const auto next = [&](const PortBench& bench) {
        if (bench.model().edge() != 0) traffic.note(bench.shown());
        return traffic.next(bench.model());
    };
    explain_port(array, seed, next, found, divergence);
}

std::string text_of(const PortMismatch& found) {
    return fmt::format("{} at edge {}: expected {}, found {}", found.signal, found.edge,
                       found.expected, found.actual);
}

}  // namespace

std::optional<PortFailure> verify_ports(const run::LoadedArray& array, uint64_t seed,
                                        const std::optional<WavePlace>& waves,
                                        cosim::PortCounters& counters,
                                        cosim::PortCoverage& coverage) {
    if (!run(array, seed, {.counters = &counters, .coverage = &coverage})) return std::nullopt;
    PortStream stream{seed, {}};
    const auto first = run(array, seed, {.edges = &stream.edges});
    if (!first) throw std::logic_error("a stream at the ports that failed does not fail again");
    stream = cosim::shrink(stream, *first, array.shape, array.library);
    PortBench bench(array.shape, array.library, stream.initial);
    const auto found = replay(stream, bench);
    if (!found) throw std::logic_error("a small stream at the ports does not fail again");
    const auto place = [&](const char* extension) {
        return waves->place(fmt::format("tandem_verify_ports_seed{}{}", seed, extension));
    };
    const std::string wave = waves ? waves->wave(place(".fst")) : "";
    PortFailure failure{look_into(array, stream, *found, wave), ""};
    explain_stream(array, seed, *first, failure.divergence);
    if (stream.edges.size() <= first->edge) {
        note(failure.divergence, fmt::format("made small: {} edges instead of {}",
                                             stream.edges.size(), first->edge + 1));
        std::string& difference = failure.divergence.difference;
        if (!difference.empty()) difference = "before it was made small: " + difference;
    }
    if (!waves) return failure;
    try {
        write_port_stream(place(".txt"), stream, text_of(*found));
        failure.stream = place(".txt");
    } catch (const UserError& error) {
        note(failure.divergence, error.what());
    }
    return failure;
}

std::optional<PortFailure> replay_ports(const run::LoadedArray& array,
                                        const std::filesystem::path& file,
                                        const std::optional<WavePlace>& waves) {
    const PortStream stream = cosim::read_port_stream(file, array.shape);
    PortBench bench(array.shape, array.library, stream.initial);
    const auto found = replay(stream, bench);
    if (!found) return std::nullopt;
    const std::string wave = waves ? waves->wave(waves->place(file.stem().string() + ".fst")) : "";
    PortFailure failure{look_into(array, stream, *found, wave), file.string()};
    const auto next = [&, at = size_t{0}](const PortBench&) mutable {
        return at < stream.edges.size() ? stream.edges[at++] : cosim::idle_edge(array.shape);
    };
    explain_port(array, stream.initial, next, *found, failure.divergence);
    return failure;
}

void write_vectors(const engine::MxuShape& shape, uint64_t seed,
                   const std::filesystem::path& replay, const std::filesystem::path& file) {
    if (!replay.empty()) {
        const PortStream stream = cosim::read_port_stream(replay, shape);
        return write_port_vectors(file, shape, stream.edges,
                                  "tandem verify --replay " + replay.string());
    }
    cosim::PortModel model(shape);
    cosim::PortTraffic traffic(shape, seed, kind_of(seed));
    std::vector<cosim::PortEdge> edges;
    while (edges.size() < edges_of(seed, shape)) {
        edges.push_back(traffic.next(model));
        traffic.note(model.step(edges.back()));
    }
    write_port_vectors(file, shape, edges, fmt::format("tandem verify --seed {}", seed));
}

}  // namespace tandem::jobs
