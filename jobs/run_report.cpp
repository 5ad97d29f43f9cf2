// SPDX-License-Identifier: Apache-2.0
#include "jobs/run_report.h"

#include "jobs/graph_job.h"
#include "jobs/model_file.h"

namespace tandem::jobs {

namespace {

run::RunReport report_of(const std::string& model, const std::string& name,
                         const run::RunOptions& options, uint64_t seed,
                         const run::RunResult& result, const base::Stopwatch& watch) {
    run::RunReport report;
    report.wall_seconds = watch.seconds() - result.array_seconds;
    report.backend = options.backend;
    report.mode = options.functional ? "functional" : "timing";
    report.model = model;
    report.name = name;
    report.seed = seed;
    return report;
}

}  // namespace

run::RunReport report_of_image(const arch::Program& program, const std::string& model,
                               const run::RunOptions& options, uint64_t seed,
                               const run::RunResult& result, const base::Stopwatch& watch) {
    run::RunReport report = report_of(model, program.model, options, seed, result, watch);
    report.host = options.cpu;
    report.batch = program.batch;
    report.rounding = program.rounding;
    return report;
}

run::RunReport report_of_layers(const compiler::Graph& graph, const std::string& model,
                                const run::RunOptions& options, const run::GraphOptions& how,
                                const run::RunResult& result, const base::Stopwatch& watch) {
    run::RunReport report = report_of(model, graph.name, options, how.seed, result, watch);
    report.plan = name_of(how.plan);
    report.batch = report.samples = graph.samples * how.batch;
    describe_layers(graph, report);
    return report;
}

}  // namespace tandem::jobs
