// SPDX-License-Identifier: Apache-2.0
#include "tools/graph_command.h"

#include <optional>

#include "base/error.h"
#include "base/stopwatch.h"
#include "base/terminal.h"
#include "jobs/graph_job.h"
#include "jobs/progress.h"
#include "jobs/run_report.h"
#include "run/run_junit.h"
#include "tools/command.h"

namespace tandem::tools {

namespace {

int run_graph_on_chip(const compiler::Graph& graph, const arch::ChipConfig& chip,
                      const GraphArguments& a, run::JunitFile& junit) {
    if (a.options.functional) jobs::check_cost(graph, a.model, a.how);
    const base::Stopwatch watch;
    std::optional<jobs::Progress> progress(std::in_place, "waves");
    run::RunOptions options = a.options;
    options.progress = [&](uint64_t done, uint64_t total) { progress->update(done, total); };
    const run::GraphResult result = run::run_graph(graph, chip, a.how, options);
    progress.reset();  // ends its line
    auto report = jobs::report_of_layers(graph, a.model, options, a.how, result.run, watch);
    report.rerun = a.rerun;
    report.csv = a.csv;
    if (options.functional && result.run.completed())
        jobs::compare_with_plain_loops(graph, chip, a.how, result, report);
    run::add_cases(junit, result.run, report);
    return conclude_run(chip, result.run, report, a.json, options.inject);
}

}  // namespace

int run_graph_on_chip(const compiler::Graph& graph, const arch::ChipConfig& chip,
                      const GraphArguments& a) {
    const char* const mode = a.options.functional ? "functional" : "timing";
    run::JunitFile junit(a.junit,
                         run::run_suite(chip, a.model, mode, a.options.backend, a.how.seed));
    return junit.finish_after([&] { return run_graph_on_chip(graph, chip, a, junit); });
}

}  // namespace tandem::tools
