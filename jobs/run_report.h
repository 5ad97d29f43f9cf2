// SPDX-License-Identifier: Apache-2.0
// What a report says of every run, whoever asked for it.
#pragma once

#include <string>

#include "arch/program.h"
#include "base/stopwatch.h"
#include "compiler/graph/graph.h"
#include "run/graph_run.h"
#include "run/report.h"
#include "run/run.h"

namespace tandem::jobs {

/// Of a program that the firmware ran. `watch` has run since before the array was looked for.
run::RunReport report_of_image(const arch::Program& program, const std::string& model,
                               const run::RunOptions& options, uint64_t seed,
                               const run::RunResult& result, const base::Stopwatch& watch);

/// Of layers without firmware, with their sizes.
run::RunReport report_of_layers(const compiler::Graph& graph, const std::string& model,
                                const run::RunOptions& options, const run::GraphOptions& how,
                                const run::RunResult& result, const base::Stopwatch& watch);

}  // namespace tandem::jobs
