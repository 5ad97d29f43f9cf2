// SPDX-License-Identifier: Apache-2.0
// tandem verify: random command streams into the MAC array, RTL against model, row by row.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cosim/gtkw.h"
#include "cosim/random_stream.h"
#include "cosim/tandem_engine.h"
#include "run/arrays.h"
#include "run/paths.h"
#include "run/report.h"
#include "tools/chip_arguments.h"
#include "tools/command.h"
#include "tools/output_files.h"
#include "tools/progress.h"

namespace tandem::tools {
namespace {

using cosim::Divergence;
using nlohmann::json;

struct VerifyArguments : ArrayArguments {
    uint32_t streams = 100;
    uint64_t seed = 0;
    ChipArguments chip;
    std::string inject, json;
};

std::string rerun(const VerifyArguments& a, uint64_t seed) {
    const auto array = a.chip.named() ? a.chip.to_string() + a.choice.to_string() : a.to_string();
    auto text = fmt::format("tandem verify{} --streams 1 --seed {}", array, seed);
    if (!a.inject.empty()) text += fmt::format(" --inject '{}'", a.inject);
    return text;
}

/// Edges of a stream: several tiles at any size, and 1000 streams within about a minute.
engine::Cycle stream_edges(const engine::MxuShape& shape) {
    constexpr engine::Cycle kMost = 4000, kTiles = 6, kSlack = 200;
    const double pes = static_cast<double>(shape.rows) * shape.cols;
    const double affordable = (shape.dtype == arch::Dtype::kInt8 ? 4e8 : 3.5e7) / pes;
    const engine::Cycle least = kTiles * (shape.rows + engine::commit_latency(shape)) + kSlack;
    return std::max(least, static_cast<engine::Cycle>(std::min<double>(affordable, kMost)));
}

/// What to flip in the stream with this seed; a seeded injection hits one of the stream's rows.
std::optional<cosim::Injection> injection(const VerifyArguments& a, const engine::MxuShape& shape,
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

/// What the streams did together.
struct Verification {
    cosim::StreamCounters counters;
    uint64_t rows_compared = 0;
    uint32_t streams = 0;
    double seconds = 0;
    std::optional<cosim::Injection> injected;
    std::optional<Divergence> divergence;
    uint64_t seed = 0;  ///< of the stream that diverged
    std::string gtkw;
};

void run_stream(cosim::TandemEngine& engine, const VerifyArguments& a, uint64_t seed,
                Verification& done) {
    if (const auto flip = injection(a, engine.shape(), seed)) engine.rtl().inject(*flip);
    cosim::RandomStream stream(engine, seed);
    stream.run(stream_edges(engine.shape()));
    done.counters += stream.counters();
    if (engine.rtl().injected()) done.injected = engine.rtl().injected();
}

/// The stream once more, with what diagnosis needs.
Divergence diagnose(const run::LoadedArray& array, const VerifyArguments& a, uint64_t seed,
                    const Divergence& found) {
    cosim::TandemOptions options;
    options.wave_path = fmt::format("tandem_verify_seed{}.fst", seed);
    cosim::TandemEngine engine(array.shape, array.library, options);
    Verification again;
    run_stream(engine, a, seed, again);
    if (engine.divergence()) return *engine.divergence();
    Divergence alone = found;
    alone.note += (alone.note.empty() ? "" : "; ") +
                  std::string(
                      "the stream alone shows nothing: what the streams before it left in "
                      "the array matters");
    return alone;
}

std::string save_file(const Divergence& d, const engine::MxuShape& shape) {
    if (d.wave.empty()) return {};
    cosim::SaveFileRequest request;
    request.wave = d.wave;
    request.marker = d.pe ? d.pe->cycle : d.cycle_rtl;
    request.shape = shape;
    request.wrong_pe = d.pe;
    request.float_filter = run::float_filter().string();
    return cosim::write_gtkw(request);
}

void print(const Divergence& d, const Verification& done, const engine::MxuShape& shape,
           const std::string& again) {
    const auto value = [&](int64_t sum) {
        return d.what == "value" ? cosim::sum_text(shape.dtype, sum) : std::to_string(sum);
    };
    fmt::print("model and RTL part ({}) in the stream with seed {}:\n", d.what, done.seed);
    fmt::print("  block {}, row {}, column {}: expected {}, RTL has {}; cycle: model {}, RTL {}\n",
               d.block, d.row, d.col, value(d.expected), value(d.actual), d.cycle_tlm, d.cycle_rtl);
    if (d.pe)
        fmt::print(
            "  first wrong: PE row {}, column {}, register {}, cycle {}: expected {}, has {}\n",
            d.pe->pe_row, d.pe->pe_col, cosim::to_string(d.pe->which), d.pe->cycle,
            cosim::register_text(shape.dtype, d.pe->which, d.pe->expected),
            cosim::register_text(shape.dtype, d.pe->which, d.pe->actual));
    else if (d.net)
        fmt::print("  first wrong: {}\n", cosim::net_text(*d.net));
    else if (!d.unit.empty())
        fmt::print("  first wrong: unit {}\n", d.unit);
    if (!d.note.empty()) fmt::print("  note: {}\n", d.note);
    if (!d.wave.empty()) {
        fmt::print("  wave: {} (cycles {} to {})\n", d.wave, d.wave_from, d.wave_to);
        fmt::print("  look: gtkwave {}\n", done.gtkw);
    }
    fmt::print("  again: {}\n", again);
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

void write_report(const VerifyArguments& a, const run::LoadedArray& array,
                  const Verification& done) {
    const engine::MxuShape& shape = array.shape;
    json counters;
    for (const auto& [name, count] : done.counters.list()) counters[name] = count;
    const std::string again = done.divergence ? rerun(a, done.seed) : std::string();
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
                   {"chip", a.chip.chip},
                   {"chip_overrides", a.chip.sets},
                   {"seed", a.seed},
                   {"streams", done.streams},
                   {"streams_asked_for", a.streams},
                   {"rows", done.rows_compared},
                   {"edges", done.counters.edges},
                   {"counters", counters},
                   {"seconds", done.seconds}};
    if (done.injected) report["injected"] = done.injected->to_string();
    if (done.divergence)
        report["first_divergence"] = divergence_json(*done.divergence, done, shape, again);
    run::write_report(a.json, report);
}

/// One engine for all streams, reset before each: an array of its own for every stream would cost
/// more than the stream. It has no checkpoints; a stream that diverges is run again with them.
Verification run_streams(const VerifyArguments& a, const run::LoadedArray& array) {
    const auto start = std::chrono::steady_clock::now();
    Verification done;
    Progress progress("streams");
    cosim::TandemOptions options;
    options.keep_checkpoints = false;
    cosim::TandemEngine engine(array.shape, array.library, options);
    for (uint32_t i = 0; i < a.streams && !done.divergence; ++i) {
        engine.reset(0);
        run_stream(engine, a, a.seed + i, done);
        ++done.streams;
        if (engine.divergence()) {
            done.seed = a.seed + i;
            done.divergence = diagnose(array, a, done.seed, *engine.divergence());
        }
        progress.update(i + 1, a.streams);
    }
    done.rows_compared = engine.rows_compared();
    done.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return done;
}

int verify(const VerifyArguments& a) {
    check_output_files({{"--json", a.json}}, {{"--rtl", a.choice.rtl}, {"--chip", a.chip.chip}});
    const run::LoadedArray array = !a.chip.named() ? run::load_array(a.shape(), a.choice)
                                                   : run::load_array(a.chip.load(), a.choice);
    Verification done = run_streams(a, array);
    if (done.injected) fmt::print("injected {}\n", done.injected->to_string());
    if (done.divergence) {
        done.gtkw = save_file(*done.divergence, array.shape);
        print(*done.divergence, done, array.shape, rerun(a, done.seed));
    }
    if (!a.json.empty()) write_report(a, array, done);
    if (done.divergence) return kMismatch;
    if (!a.inject.empty() && !done.injected)
        throw UserError("--inject", "cycle", "a cycle that a stream reaches",
                        a.inject + ", which was not reached");
    fmt::print(
        "{}x{} {}: {} streams (seeds {} to {}), {} accumulator rows, every value and every cycle "
        "equal\n",
        array.shape.rows, array.shape.cols, to_string(array.shape.dtype), a.streams, a.seed,
        a.seed + a.streams - 1, done.rows_compared);
    return kGood;
}

}  // namespace

void add_verify_command(CLI::App& app, Action& action) {
    auto* command = app.add_subcommand(
        "verify", "Random command streams into the MAC array, RTL against model");
    auto a = std::make_shared<VerifyArguments>();
    a->chip.add_to(*command, "the array of this chip (then sizes and types below do not count)");
    a->add_to(*command);
    command->add_option("--streams", a->streams, "number of streams")
        ->check(CLI::Range(1u, 1000000u))
        ->capture_default_str();
    command->add_option("--seed", a->seed, "of the first stream; the others count up")
        ->check(CLI::Range(uint64_t{0}, uint64_t{1} << 62))
        ->capture_default_str();
    command->add_option("--inject", a->inject,
                        "flip a bit of the RTL in every stream: pe[R][C].psum:bitB@cycle=T "
                        "(.weight, .activation, .shadow; form grid: .swap, .load), or seed=N");
    command->add_option("--json", a->json, "write the report to this file");
    command->callback([&action, a] { action = [a] { return verify(*a); }; });
}

}  // namespace tandem::tools
