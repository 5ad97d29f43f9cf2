// SPDX-License-Identifier: Apache-2.0
// fuzz: mutated inputs for everything that Tandem reads. Exit status: 0 nothing found; 1 findings;
// 2 a mistake in usage.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <map>

#include "testbench/fuzz/session.h"

namespace tandem::fuzz {
namespace {

struct Arguments {
    std::string target = "all", repeat;
    SessionOptions session;
};

bool is_chosen(const Target& target, const Arguments& a) {
    if (a.target != "all") return a.target == target.name;
    return a.session.tandem.empty() ? target.run != nullptr : !target.command.empty();
}

void add_options(CLI::App& app, Arguments& a) {
    std::vector<std::string> names{"all"};
    for (const Target& target : targets()) names.push_back(target.name);
    app.add_option("--target", a.target, "what reads the inputs")
        ->check(CLI::IsMember(names))
        ->capture_default_str();
    app.add_option("--seed", a.session.seed, "of the inputs")->capture_default_str();
    app.add_option("--runs", a.session.runs, "inputs for each target");
    app.add_option("--seconds", a.session.seconds, "for all targets together");
    app.add_option("--corpus", a.session.corpus, "folder with a folder of inputs for each target");
    app.add_option("--findings", a.session.findings, "folder for inputs that are findings")
        ->capture_default_str();
    app.add_option("--keep", a.session.keep,
                   "folder for inputs with answers of a new kind, one for each target");
    app.add_option("--tandem", a.session.tandem,
                   "give the inputs to this command instead of calling what reads them")
        ->check(CLI::ExistingFile);
    app.add_option("--repeat", a.repeat, "read this one file, with --target")
        ->check(CLI::ExistingFile);
}

int repeat(const Arguments& a) {
    for (const Target& target : targets())
        if (target.name == a.target) return run_once(target, a.repeat, a.session.tandem) ? 0 : 1;
    fmt::print(stderr, "fuzz: --repeat: expected --target NAME\n");
    return 2;
}

int fuzz(const Arguments& a) {
    size_t chosen = 0;
    for (const Target& target : targets()) {
        chosen += is_chosen(target, a);
        if (a.target == target.name && a.session.tandem.empty() && !target.run) {
            fmt::print(stderr, "fuzz: --target {}: expected --tandem COMMAND\n", a.target);
            return 2;
        }
    }
    SessionOptions options = a.session;
    options.seconds /= static_cast<double>(std::max<size_t>(chosen, 1));
    uint64_t inputs = 0, findings = 0;
    fmt::print("{:<12} {:>10} {:>10} {:>10} {:>9} {:>8} {:>8}\n", "target", "inputs", "accepted",
               "refused", "per s", "answers", "findings");
    for (const Target& target : targets()) {
        if (!is_chosen(target, a)) continue;
        const SessionResult r = run_session(target, options);
        fmt::print("{:<12} {:>10} {:>10} {:>10} {:>9.0f} {:>8} {:>8}\n", target.name, r.inputs,
                   r.accepted, r.refused, static_cast<double>(r.inputs) / std::max(r.seconds, 1e-3),
                   r.answers, r.findings);
        std::fflush(stdout);
        inputs += r.inputs;
        findings += r.findings;
    }
    fmt::print("{} inputs, {} findings (seed {})\n", inputs, findings, a.session.seed);
    return findings == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tandem::fuzz

int main(int argc, char** argv) {
    using namespace tandem::fuzz;
    CLI::App app{"Mutated inputs for everything that Tandem reads."};
    Arguments a;
    a.session.findings = "fuzz-findings";
    add_options(app, a);
    CLI11_PARSE(app, argc, argv);
    if (a.session.runs == 0 && a.session.seconds == 0) a.session.seconds = 60;
    const int status = a.repeat.empty() ? fuzz(a) : repeat(a);
    std::error_code ignored;
    std::filesystem::remove_all(scratch(), ignored);
    return status;
}
