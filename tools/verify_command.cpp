// SPDX-License-Identifier: Apache-2.0
// tandem verify: random command streams into the MAC array, RTL against model, row by row.
#include <fmt/format.h>

#include "arch/error.h"
#include "cosim/gtkw.h"
#include "cosim/random_stream.h"
#include "cosim/tandem_engine.h"
#include "tools/arrays.h"
#include "tools/command.h"
#include "tools/progress.h"

namespace tandem::tools {
namespace {

struct VerifyArguments : ArrayArguments {
    uint32_t streams = 100;
    uint64_t seed = 0;
    std::string inject;
};

std::string rerun(const VerifyArguments& a, uint64_t seed) {
    auto text = fmt::format(
        "tandem verify --rows {} --cols {} --accumulators {} --dtype {} --streams 1 --seed {}",
        a.rows, a.cols, a.accumulator_rows, a.dtype, seed);
    if (!a.inject.empty()) text += fmt::format(" --inject '{}'", a.inject);
    return text;
}

void print(const cosim::Divergence& d, const VerifyArguments& a, uint64_t seed) {
    fmt::print("model and RTL part ({}) in the stream with seed {}:\n", d.what, seed);
    fmt::print("  block {}, row {}, column {}: expected {}, RTL has {}; cycle: model {}, RTL {}\n",
               d.block, d.row, d.col, d.expected, d.actual, d.cycle_tlm, d.cycle_rtl);
    if (d.pe)
        fmt::print(
            "  first wrong: PE row {}, column {}, register {}, cycle {}: expected {}, has {}\n",
            d.pe->pe_row, d.pe->pe_col, cosim::to_string(d.pe->which), d.pe->cycle, d.pe->expected,
            d.pe->actual);
    if (!d.note.empty()) fmt::print("  note: {}\n", d.note);
    if (!d.wave.empty()) {
        fmt::print("  wave: {} (cycles {} to {})\n", d.wave, d.wave_from, d.wave_to);
        fmt::print("  look: gtkwave {}\n",
                   cosim::write_gtkw(d, {a.rows, a.cols, a.accumulator_rows},
                                     cosim::TandemOptions{}.period_ps, {}));
    }
    fmt::print("  again: {}\n", rerun(a, seed));
}

int verify(const VerifyArguments& a) {
    constexpr uint32_t kPhases = 4;
    const auto library = load_array(a.rows, a.cols, a.accumulator_rows);
    Progress progress("streams");
    uint64_t rows = 0;
    for (uint32_t i = 0; i < a.streams; ++i) {
        const uint64_t seed = a.seed + i;
        cosim::TandemOptions options;
        options.wave_path = fmt::format("tandem_verify_seed{}.fst", seed);
        cosim::TandemEngine engine({a.rows, a.cols, a.accumulator_rows}, library, options);
        if (!a.inject.empty())
            engine.rtl().inject(cosim::parse_injection(a.inject, a.rows, a.cols));
        cosim::RandomStream stream(engine, seed);
        stream.run(kPhases);
        if (engine.divergence()) {
            print(*engine.divergence(), a, seed);
            return kMismatch;
        }
        rows += engine.rows_compared();
        progress.update(i + 1, a.streams);
    }
    fmt::print(
        "{}x{} {}: {} streams (seeds {} to {}), {} accumulator rows, every value and every cycle "
        "equal\n",
        a.rows, a.cols, a.dtype, a.streams, a.seed, a.seed + a.streams - 1, rows);
    return kGood;
}

}  // namespace

void add_verify_command(CLI::App& app, Action& action) {
    auto* command = app.add_subcommand(
        "verify", "Random command streams into the MAC array, RTL against model");
    auto a = std::make_shared<VerifyArguments>();
    a->add_to(*command);
    command->add_option("--streams", a->streams, "number of streams")
        ->check(CLI::Range(1u, 1000000u))
        ->capture_default_str();
    command->add_option("--seed", a->seed, "of the first stream; the others count up")
        ->capture_default_str();
    command->add_option("--inject", a->inject,
                        "flip a bit of the RTL in every stream: pe[R][C].psum:bitB@cycle=T");
    command->callback([&action, a] { action = [a] { return verify(*a); }; });
}

}  // namespace tandem::tools
