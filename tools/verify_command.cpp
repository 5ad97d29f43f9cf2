// SPDX-License-Identifier: Apache-2.0
// tandem verify: random command streams into the MAC array, RTL against model, row by row.
#include <fmt/format.h>

#include "base/error.h"
#include "base/process.h"
#include "base/terminal.h"
#include "jobs/port_coverage_files.h"
#include "jobs/port_verification.h"
#include "jobs/requantise_verification.h"
#include "jobs/verification.h"
#include "jobs/verification_junit.h"
#include "run/report.h"
#include "tools/chip_arguments.h"
#include "tools/command.h"
#include "tools/one_of.h"
#include "tools/output_files.h"

namespace tandem::tools {
namespace {

using cosim::Divergence;

struct VerifyArguments : ArrayArguments {
    uint32_t streams = 100;
    uint64_t seed = 0;
    ChipArguments chip;
    std::string inject, json, replay, wave, coverage, vectors, junit;
    std::string unit = "array";
    uint32_t lanes = 0;  ///< of the requantisation; 0: as many as columns
};

std::string command(const VerifyArguments& a, uint32_t streams, uint64_t seed,
                    const std::string& replay) {
    const auto array = a.chip.named() ? a.chip.to_string() + a.choice.to_string() : a.to_string();
    if (!replay.empty())
        return fmt::format("tandem verify{} --replay {}", array, base::shell_word(replay));
    auto text = fmt::format("tandem verify{} --streams {} --seed {}", array, streams, seed);
    return text + inject_option(a.inject);
}

/// Lines for people, each with its end.
std::string text_of(const Divergence& d, const jobs::Verification& done,
                    const engine::MxuShape& shape, const std::string& again) {
    const auto value = [&](int64_t sum) {
        const bool is_sum = d.what == "value" || d.port == "cmt_data_o" || d.port == "res_data_o";
        return is_sum ? cosim::sum_text(shape.dtype, sum) : std::to_string(sum);
    };
    auto text =
        fmt::format("model and RTL part ({}) in the stream with seed {}:\n", d.what, done.seed);
    if (d.what == "port")
        text += fmt::format("  edge {}, {}: expected {}, RTL has {}\n", d.cycle_rtl, d.port,
                            value(d.expected), value(d.actual));
    else if (d.what == "assertion")
        text += fmt::format("  edge {}{}{}\n", d.cycle_rtl, d.signal.empty() ? "" : ", ", d.signal);
    else
        text += fmt::format(
            "  block {}, row {}, column {}: expected {}, RTL has {}; cycle: model {}, RTL {}\n",
            d.block, d.row, d.col, value(d.expected), value(d.actual), d.cycle_tlm, d.cycle_rtl);
    if (d.pe)
        text += fmt::format(
            "  first wrong: PE row {}, column {}, register {}, cycle {}: expected {}, has {}\n",
            d.pe->pe_row, d.pe->pe_col, cosim::to_string(d.pe->which), d.pe->cycle,
            cosim::register_text(shape.dtype, d.pe->which, d.pe->expected),
            cosim::register_text(shape.dtype, d.pe->which, d.pe->actual));
    else if (d.net)
        text += fmt::format("  first wrong: {}\n", cosim::net_text(*d.net));
    else if (!d.unit.empty())
        text += fmt::format("  first wrong: unit {}\n", d.unit);
    if (!d.difference.empty()) text += fmt::format("  difference: {}\n", d.difference);
    if (!d.hint.empty()) text += fmt::format("  hint: {}\n", d.hint);
    if (!d.note.empty()) text += fmt::format("  note: {}\n", d.note);
    if (!d.wave.empty()) {
        text += fmt::format("  wave: {} (cycles {} to {})\n", d.wave, d.wave_from, d.wave_to);
        if (!done.gtkw.empty())
            text += fmt::format("  look: {}\n", base::quoted({"gtkwave", done.gtkw}));
    }
    text += fmt::format("  again: {}\n", again);
    return text;
}

void print(const cosim::PortCoverage& coverage, const std::string& file) {
    const auto all = jobs::coverage_json(coverage);
    base::print("coverage of the ports: {} of {} crosses in {} groups{}\n",
                all.at("covered").get<size_t>(), all.at("bins").get<size_t>(),
                all.at("groups").size(), file.empty() ? "" : ":");
    if (file.empty()) return;
    base::print("{}", jobs::coverage_text(coverage));
    jobs::write_coverage(file, coverage);
}

/// Of streams that passed; that of a failure stands with it.
void print_wave(const VerifyArguments& a, const jobs::Verification& done) {
    if (a.wave.empty() || done.divergence) return;
    if (done.whole_wave.empty() && done.not_written.empty())
        base::print(
            "no wave: nothing failed, and a stream that passes is recorded with --streams 1 or "
            "--replay\n");
    if (done.whole_wave.empty()) return;
    base::print("wave: {}\n", done.whole_wave);
    if (!done.gtkw.empty()) base::print("look: {}\n", base::quoted({"gtkwave", done.gtkw}));
}

int verify(const VerifyArguments& a, jobs::VerifyRequest request, jobs::VerificationJunit& junit) {
    const run::LoadedArray array = !a.chip.named() ? run::load_array(a.shape(), a.choice)
                                                   : run::load_array(a.chip.load(), a.choice);
    if (!a.vectors.empty()) jobs::write_vectors(array.shape, a.seed, a.replay, a.vectors);
    request.on_stream = [&junit](const jobs::StreamEnd& stream) { junit.add(stream); };
    const jobs::Verification done = jobs::verify_array(array, request);
    if (done.injected) base::print("injected {}\n", done.injected->to_string());
    std::string difference;
    if (done.divergence)
        difference = text_of(*done.divergence, done, array.shape, jobs::rerun(request, done));
    if (done.divergence)
        base::print_text(difference);
    else if (!a.replay.empty())
        base::print("{}: every port as the contract says\n", a.replay);
    else
        base::print(
            "{}x{} {}: {} streams (seeds {} to {}), {} accumulator rows, every value and every "
            "cycle equal; {} edges at the ports, every port as the contract says\n",
            array.shape.rows, array.shape.cols, to_string(array.shape.dtype), a.streams, a.seed,
            a.seed + a.streams - 1, done.rows_compared, done.ports.edges);
    if (done.coverage && !done.divergence) print(*done.coverage, a.coverage);
    print_wave(a, done);
    if (done.coverage && !done.divergence) {
        junit.file().add_property("edges_at_the_ports", std::to_string(done.ports.edges));
        junit.file().add_property("accumulator_rows_compared", std::to_string(done.rows_compared));
    }
    junit.conclude(difference, done.streams, done.seconds);
    if (!a.json.empty()) run::write_report(a.json, jobs::verification_report(array, request, done));
    if (done.divergence) return kMismatch;
    if (!done.not_written.empty()) throw UserError("--wave: " + done.not_written);
    return kGood;
}

int verify(const VerifyArguments& a) {
    check_output_files({{"--json", a.json},
                        {"--wave", a.wave},
                        {"--coverage", a.coverage},
                        {"--vectors", a.vectors},
                        {"--junit", a.junit}},
                       {{"--rtl", a.choice.rtl},
                        {"--rtl-timing", a.choice.rtl_timing},
                        {"--chip", a.chip.chip},
                        {"--replay", a.replay}});
    const jobs::VerifyRequest request{
        .streams = a.streams,
        .seed = a.seed,
        .inject = a.inject,
        .wave = a.wave,
        .replay = a.replay,
        .chip = a.chip.chip,
        .sets = a.chip.sets,
        .rerun = [&a](uint32_t streams, uint64_t seed, const std::string& replay) {
            return command(a, streams, seed, replay);
        }};
    const engine::MxuShape shape = a.chip.named() ? engine::shape_of(a.chip.load().mxu) : a.shape();
    jobs::VerificationJunit junit(
        a.junit, junit_suite(shape, a.choice, request, command(a, a.streams, a.seed, a.replay)),
        a.replay.empty() ? a.streams : 0);
    return junit.file().finish_after([&] { return verify(a, request, junit); });
}

/// What is about arrays alone.
void refuse_array_options(const CLI::App& command) {
    for (const char* const option :
         {"--rows", "--accumulators", "--dtype", "--pipeline", "--sum4", "--form", "--rtl-timing",
          "--inject", "--replay", "--coverage", "--vectors", "--wave", "--chip", "--set"})
        if (command.get_option(option)->count() != 0)
            throw UserError("--unit requantise", option, "only with --unit array", "given");
}

std::string requantise_command(const jobs::RequantiseRequest& request, uint32_t streams,
                               uint64_t seed, const run::ArrayChoice& choice) {
    return fmt::format(
        "tandem verify --unit requantise --cols {} --lanes {} --streams {} --seed {}{}",
        request.shape.cols, request.shape.lanes, streams, seed, choice.to_string());
}

int verify(const VerifyArguments& a, const jobs::RequantiseRequest& request,
           jobs::VerificationJunit& junit) {
    const auto done = jobs::verify_requantise(request);
    const std::string again = requantise_command(request, 1, done.seed, a.choice);
    std::string difference;
    if (done.found)
        difference = fmt::format(
            "model and RTL of unit requantise part in the stream with seed {}:\n  {}\n  again: "
            "{}\n",
            done.seed, done.found->text(), again);
    if (!a.json.empty()) run::write_report(a.json, jobs::requantise_report(request, done, again));
    junit.conclude(difference, done.streams, done.seconds);
    if (done.found) {
        base::print_text(difference);
        return kMismatch;
    }
    base::print(
        "requantise, {} columns, {} lanes: {} streams (seeds {} to {}), {} rows of {} values, "
        "every value equal; {} edges at the ports, every port as the contract says\n",
        request.shape.cols, request.shape.lanes, a.streams, a.seed, a.seed + a.streams - 1,
        done.counters.rows, done.counters.values, done.counters.edges);
    return kGood;
}

int verify_requantise_unit(const CLI::App& command, const VerifyArguments& a) {
    refuse_array_options(command);
    jobs::RequantiseRequest request{.shape = {a.cols, a.lanes == 0 ? a.cols : a.lanes},
                                    .rtl = {a.choice.rtl, a.choice.rtl_top},
                                    .streams = a.streams,
                                    .seed = a.seed};
    check_output_files({{"--json", a.json}, {"--junit", a.junit}}, {{"--rtl", a.choice.rtl}});
    jobs::VerificationJunit junit(
        a.junit, junit_suite(request, requantise_command(request, a.streams, a.seed, a.choice)),
        a.streams);
    request.on_stream = [&junit](const jobs::StreamEnd& stream) { junit.add(stream); };
    return junit.file().finish_after([&] { return verify(a, request, junit); });
}

}  // namespace

void add_verify_command(CLI::App& app, Action& action) {
    auto* command = app.add_subcommand(
        "verify", "Random command streams into the MAC array, RTL against model");
    auto a = std::make_shared<VerifyArguments>();
    a->chip.add_to(*command, "the array of this chip (then sizes and types below do not count)");
    a->add_to(*command);
    command
        ->add_option("--unit", a->unit,
                     "array: the MAC array; requantise: tpu_requantise (--cols, --lanes), from "
                     "accumulators to activations")
        ->check(OneOf({"array", "requantise"}))
        ->capture_default_str();
    command
        ->add_option("--lanes", a->lanes,
                     "unit requantise: columns that are worked on per edge [all]")
        ->check(CLI::Range(1u, 256u));
    command->add_option("--streams", a->streams, "number of streams")
        ->check(CLI::Range(1u, 1000000u))
        ->capture_default_str();
    command->add_option("--seed", a->seed, "of the first stream; the others count up")
        ->check(CLI::Range(uint64_t{0}, uint64_t{1} << 62))
        ->capture_default_str();
    add_inject_option(*command, a->inject,
                      "flip a bit of the RTL in every stream: pe[R][C].psum:bitB@cycle=T "
                      "(.weight, .activation, .shadow; form grid: .swap, .load; T from the start "
                      "of the stream), or seed=N");
    command->add_option("--replay", a->replay,
                        "in place of random streams one at the ports, from a file that a failure "
                        "has left");
    command->add_option("--coverage", a->coverage,
                        "print what the traffic at the ports has met and write it to this file: "
                        "NAME.json, or NAME.info (lcov)");
    add_wave_file_option(
        *command, a->wave,
        "waveform of the failure (.fst or .vcd), with a save file for GTKWave "
        "(default: a name of its own); of --streams 1 or --replay also without one");
    command->add_option("--vectors", a->vectors,
                        "write the stream at the ports (--replay, or that of --seed) with what the "
                        "ports have to show to this file, for benches in other simulators");
    command->add_option("--json", a->json, "write the report to this file");
    add_junit_option(*command, a->junit);
    command->callback([&action, a, command] {
        action = [a, command] {
            if (a->unit == "requantise") return verify_requantise_unit(*command, *a);
            if (a->lanes != 0) throw UserError("--lanes", "--unit", "requantise", a->unit);
            return verify(*a);
        };
    });
}

}  // namespace tandem::tools
