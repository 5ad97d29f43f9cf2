// SPDX-License-Identifier: Apache-2.0
#include "tools/graph_command.h"

#include <chrono>
#include <optional>

#include "base/error.h"
#include "base/terminal.h"
#include "jobs/graph_job.h"
#include "jobs/model_file.h"
#include "jobs/progress.h"
#include "run/report.h"
#include "tools/command.h"

namespace tandem::tools {

int run_graph_on_chip(const compiler::Graph& graph, const arch::ChipConfig& chip,
                      const GraphArguments& a) {
    if (a.options.functional) jobs::check_cost(graph, a.model, a.how);
    const auto start = std::chrono::steady_clock::now();
    std::optional<jobs::Progress> progress(std::in_place, "waves");
    run::RunOptions options = a.options;
    options.progress = [&](uint64_t done, uint64_t total) { progress->update(done, total); };
    const run::GraphResult result = run::run_graph(graph, chip, a.how, options);
    progress.reset();  // ends its line
    run::RunReport report;
    report.backend = options.backend;
    report.mode = options.functional ? "functional" : "timing";
    report.model = a.model;
    report.name = graph.name;
    report.rerun = a.rerun;
    report.plan = jobs::name_of(a.how.plan);
    report.csv = a.csv;
    report.seed = a.how.seed;
    report.batch = report.samples = graph.samples * a.how.batch;
    report.wall_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() -
        result.run.array_seconds;
    jobs::describe_layers(graph, report);
    if (options.functional && result.run.completed())
        jobs::compare_with_plain_loops(graph, chip, a.how, result, report);
    return conclude_run(chip, result.run, report, a.json, options.inject);
}

}  // namespace tandem::tools
