// SPDX-License-Identifier: Apache-2.0
#include "jobs/verification.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/stopwatch.h"
#include "cosim/tandem_engine.h"
#include "jobs/port_coverage_files.h"
#include "jobs/port_verification.h"
#include "jobs/progress.h"
#include "jobs/whole_wave.h"

namespace tandem::jobs {
namespace {

using cosim::Divergence;
using nlohmann::json;

/// Edges of a stream: several tiles at any size, and 1000 streams within about a minute.
engine::Cycle stream_edges(const engine::MxuShape& shape) {
    constexpr engine::Cycle kMost = 4000, kTiles = 6, kSlack = 200;
    const double pes = static_cast<double>(shape.rows) * shape.cols;
    const double affordable = (shape.dtype == arch::Dtype::kInt8 ? 4e8 : 3.5e7) / pes;
    const engine::Cycle least = kTiles * (shape.rows + engine::commit_latency(shape)) + kSlack;
    return std::max(least, static_cast<engine::Cycle>(std::min<double>(affordable, kMost)));
}

/// What to flip in the stream with this seed; a seeded injection hits one of the stream's rows.
std::optional<cosim::Injection> injection(const VerifyRequest& a, const engine::MxuShape& shape,
                                          uint64_t seed) {
    if (a.inject.empty()) return std::nullopt;
    const auto injection_seed = cosim::parse_injection_seed(a.inject);
    if (!injection_seed) return cosim::parse_injection(a.inject, shape);
    engine::TlmMxuEngine model(shape);
    cosim::RandomStream stream(model, seed);
    stream.run(stream_edges(shape));
    return cosim::random_injection(*injection_seed, shape,
                                   std::max<uint64_t>(1, stream.counters().rows));
}

void run_stream(cosim::TandemEngine& engine, const VerifyRequest& a, uint64_t seed,
                Verification& done) {
    if (const auto flip = injection(a, engine.shape(), seed)) engine.rtl().inject(*flip);
    cosim::RandomStream stream(engine, seed);
    stream.run(stream_edges(engine.shape()));
    done.counters += stream.counters();
    if (engine.rtl().injected()) done.injected = engine.rtl().injected();
}

std::optional<WavePlace> places(const VerifyRequest& a) {
    if (!a.waves) return std::nullopt;
    return WavePlace{*a.waves, a.wave};
}

/// The stream once more, with what diagnosis needs.
Divergence diagnose(const run::LoadedArray& array, const VerifyRequest& a, Verification& done,
                    const Divergence& found) {
    cosim::TandemOptions options;
    if (const auto waves = places(a))
        options.wave_path =
            waves->wave(waves->place(fmt::format("tandem_verify_seed{}.fst", done.seed)));
    cosim::TandemEngine engine(array.shape, array.library, options);
    Verification again;
    run_stream(engine, a, done.seed, again);
    if (engine.divergence()) return *engine.divergence();
    done.alone = false;
    Divergence without = found;
    without.note += (without.note.empty() ? "" : "; ") +
                    std::string(
                        "the stream alone shows nothing, and has no waveform: what the streams "
                        "before it left in the array matters");
    return without;
}

void add_save_file(Verification& done, const run::LoadedArray& array) {
    Divergence& found = *done.divergence;
    if (found.wave.empty()) return;
    try {
        done.gtkw = show_wave(array, found.wave, &found);
    } catch (const UserError& error) {
        found.note += (found.note.empty() ? "" : "; ") + std::string(error.what());
    }
}

/// Nothing was found, and a wave was asked for.
void record_whole(Verification& done, const run::LoadedArray& array, const VerifyRequest& a) {
    const bool replayed = !a.replay.empty();
    if (a.wave.empty() || (!replayed && a.streams != 1)) return;
    const bool recorded =
        replayed ? record_port_stream(array, cosim::read_port_stream(a.replay, array.shape), a.wave)
                 : record_random_stream(array, a.seed, stream_edges(array.shape), a.wave);
    if (!recorded) {
        done.not_written = a.wave + ": cannot be written";
        return;
    }
    done.whole_wave = a.wave;
    try {
        done.gtkw = show_wave(array, a.wave, nullptr);
    } catch (const UserError& error) {
        done.not_written = error.what();
    }
}

json divergence_json(const Divergence& d, const Verification& done, const engine::MxuShape& shape,
                     const std::string& again) {
    json out = {{"kind", d.what},
                {"seed", done.seed},
                {"block", d.block},
                {"row", d.row},
                {"col", d.col},
                {"expected", d.expected},
                {"actual", d.actual},
                {"cycle_tlm", d.cycle_tlm},
                {"cycle_rtl", d.cycle_rtl},
                {"note", d.note},
                {"wave", d.wave},
                {"gtkw", done.gtkw},
                {"rerun", again}};
    if (shape.dtype == arch::Dtype::kBf16 && d.what == "value") {
        out["expected_text"] = cosim::sum_text(shape.dtype, d.expected);
        out["actual_text"] = cosim::sum_text(shape.dtype, d.actual);
    }
    out["unit"] = d.unit.empty() ? json() : json(d.unit);
    out["signal"] = d.signal.empty() ? json() : json(d.signal);
    out["port"] = d.port.empty() ? json() : json(d.port);
    out["difference"] = d.difference.empty() ? json() : json(d.difference);
    out["hint"] = d.hint.empty() ? json() : json(d.hint);
    for (const char* key :
         {"pe_row", "pe_col", "pe_register", "pe_cycle", "pe_expected", "pe_actual"})
        out[key] = nullptr;
    if (d.pe) {
        out["pe_row"] = d.pe->pe_row;
        out["pe_col"] = d.pe->pe_col;
        out["pe_register"] = cosim::to_string(d.pe->which);
        out["pe_cycle"] = d.pe->cycle;
        out["pe_expected"] = d.pe->expected;
        out["pe_actual"] = d.pe->actual;
    }
    if (!d.wave.empty())
        out["wave_window"] = {{"from_cycle", d.wave_from}, {"to_cycle", d.wave_to}};
    return out;
}

}  // namespace

/// One engine for all streams, reset before each: an array of its own for every stream would cost
/// more than the stream. It has no checkpoints; a stream that diverges is run again with them.
Verification verify_array(const run::LoadedArray& array, const VerifyRequest& a) {
    const base::Stopwatch watch;
    Verification done;
    Progress progress("streams");
    cosim::TandemOptions options;
    options.keep_checkpoints = false;
    cosim::TandemEngine engine(array.shape, array.library, options);
    const auto take = [&](std::optional<PortFailure> failure) {
        if (!failure) return;
        done.divergence = std::move(failure->divergence);
        done.replay = std::move(failure->stream);
    };
    const auto tell = [&](bool at_ports, const base::Stopwatch& since) {
        if (!a.on_stream) return;
        a.on_stream({at_ports, done.seed, since.seconds(), !done.divergence.has_value()});
    };
    if (!a.replay.empty()) take(replay_ports(array, a.replay, places(a)));
    const uint32_t streams = a.replay.empty() ? a.streams : 0;
    for (uint32_t i = 0; i < streams && !done.divergence; ++i) {
        const base::Stopwatch at_seam;
        done.seed = a.seed + i;
        engine.reset(0);
        run_stream(engine, a, done.seed, done);
        ++done.streams;
        const auto& found = engine.divergence();
        if (found && !(found->of_ports && a.inject.empty()))
            done.divergence = diagnose(array, a, done, *found);
        tell(false, at_seam);
        if (!done.divergence && a.inject.empty()) {
            const base::Stopwatch at_ports;
            if (!done.coverage) done.coverage.emplace(array.shape);
            take(verify_ports(array, done.seed, places(a), done.ports, *done.coverage));
            tell(true, at_ports);
        }
        if (found && !done.divergence) {
            done.divergence = diagnose(array, a, done, *found);
            tell(false, at_seam);
        }
        progress.update(i + 1, streams);
    }
    done.rows_compared = engine.rows_compared();
    if (done.divergence)
        add_save_file(done, array);
    else
        record_whole(done, array, a);
    done.seconds = watch.seconds();
    if (!a.inject.empty() && !done.injected && !done.divergence)
        throw UserError("--inject", "cycle", "a cycle that a stream reaches",
                        a.inject + ", which was not reached");
    return done;
}

std::string rerun(const VerifyRequest& a, const Verification& done) {
    return done.alone ? a.rerun(1, done.seed, done.replay) : a.rerun(done.streams, a.seed, "");
}

json verification_report(const run::LoadedArray& array, const VerifyRequest& a,
                         const Verification& done) {
    const engine::MxuShape& shape = array.shape;
    json counters;
    for (const auto& [name, count] : done.counters.list()) counters[name] = count;
    const std::string again = done.divergence ? rerun(a, done) : std::string();
    json ports;
    for (const auto& [name, count] : done.ports.list()) ports[name] = count;
    json report = {{"report_version", 1},
                   {"tandem_version", TANDEM_VERSION},
                   {"array",
                    {{"rows", shape.rows},
                     {"cols", shape.cols},
                     {"accumulator_rows", shape.accumulator_rows},
                     {"dtype", to_string(shape.dtype)},
                     {"pipeline", shape.pipeline},
                     {"sum4", shape.sum4},
                     {"form", array.library->info().form},
                     {"commit_latency", engine::commit_latency(shape)}}},
                   {"chip", a.chip},
                   {"chip_overrides", a.sets},
                   {"seed", a.seed},
                   {"streams", done.streams},
                   {"streams_asked_for", a.streams},
                   {"rows", done.rows_compared},
                   {"edges", done.counters.edges},
                   {"counters", counters},
                   {"port_counters", ports},
                   {"port_coverage", done.coverage ? coverage_json(*done.coverage) : json()},
                   {"seconds", done.seconds}};
    if (!done.whole_wave.empty()) report["wave"] = {{"file", done.whole_wave}, {"gtkw", done.gtkw}};
    if (done.injected) report["injected"] = done.injected->to_string();
    if (done.divergence)
        report["first_divergence"] = divergence_json(*done.divergence, done, shape, again);
    return report;
}

}  // namespace tandem::jobs
