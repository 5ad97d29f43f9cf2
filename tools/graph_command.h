// SPDX-License-Identifier: Apache-2.0
// A graph without firmware on all of a chip: what `run` does with lists and dumps, `gemm` with
// --arrays all.
#pragma once

#include <string>

#include "arch/chip_config.h"
#include "compiler/graph/graph.h"
#include "run/graph_run.h"
#include "run/report.h"

namespace tandem::tools {

struct GraphArguments {
    std::string model;  ///< as the user named it
    std::string json, csv, junit;
    std::string rerun;  ///< the command line that does the same again
    run::GraphOptions how;
    run::RunOptions options;
};

/// Timing mode, or with seeded data, which plain loops then confirm. Returns the exit status.
int run_graph_on_chip(const compiler::Graph& graph, const arch::ChipConfig& chip,
                      const GraphArguments& arguments);

}  // namespace tandem::tools
