// SPDX-License-Identifier: Apache-2.0
// What a report says of a graph's layers, and its seeded data beside plain loops.
#pragma once

#include <string>

#include "arch/chip_config.h"
#include "arch/program.h"
#include "compiler/graph/graph.h"
#include "run/graph_run.h"
#include "run/report.h"

namespace tandem::jobs {

/// Sizes of the layers that the nodes of a program were compiled from, for its report.
void describe_nodes(const compiler::Graph& graph, const arch::Program& program,
                    run::RunReport& report);

/// Sizes of a graph's layers, for its report.
void describe_layers(const compiler::Graph& graph, run::RunReport& report);

/// Of a run with seeded data: throws UserError for what plain loops cannot follow and what this
/// machine has no memory for; says on stderr what takes long.
void check_cost(const compiler::Graph& graph, const std::string& model,
                const run::GraphOptions& how);

/// Every tensor that the chip has computed, into the report.
void compare_with_plain_loops(compiler::Graph graph, const arch::ChipConfig& chip,
                              const run::GraphOptions& how, const run::GraphResult& result,
                              run::RunReport& report);

}  // namespace tandem::jobs
