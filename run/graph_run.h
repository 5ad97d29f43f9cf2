// SPDX-License-Identifier: Apache-2.0
// A graph on a whole chip: all cores with all their arrays, no firmware. Timing mode needs no data;
// functional mode gives what has no bytes seeded ones.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/import/tables/layers.h"
#include "compiler/pipeline.h"
#include "run/run.h"

namespace tandem::run {

struct GraphOptions {
    uint32_t batch = 1;  ///< multiplies the first dimension of every activation
    numerics::Rounding rounding = numerics::Rounding::kSingle;
    uint32_t cores = 0;  ///< that share the work; 0: all
    uint64_t seed = 0;   ///< of bytes that the graph does not have
    compiler::PlanMode plan = compiler::PlanMode::kSearch;
    uint32_t rounds = 0;  ///< compiler::PlanOptions
};

/// A tensor as the chip has left it: a graph output, or what an EDGE has taken the place of.
struct ComputedTensor {
    compiler::TensorId tensor = 0;
    std::vector<uint8_t> bytes;
};

struct GraphResult {
    RunResult run;
    std::vector<ComputedTensor> computed;  ///< functional mode
};

/// `options.functional` runs with data: constants and inputs without bytes get those of the seed
/// (compiler/graph/seed.h). Throws UserError for what fits no chip, or has no values. One call per
/// process.
GraphResult run_graph(compiler::Graph graph, const arch::ChipConfig& chip, const GraphOptions& how,
                      const RunOptions& options);

/// Timing mode, sound or an exception.
RunResult time_graph(const compiler::Graph& graph, const arch::ChipConfig& chip,
                     compiler::PlanMode plan = compiler::PlanMode::kSearch);

/// Timing mode of a list in the type of the chip's array.
RunResult time_list(const tables::Workload& workload, const arch::ChipConfig& chip,
                    compiler::PlanMode plan = compiler::PlanMode::kSearch);

/// The same in a child process, so that a process can do it as often as it likes.
RunResult time_list_apart(const tables::Workload& workload, const arch::ChipConfig& chip,
                          compiler::PlanMode plan = compiler::PlanMode::kSearch);

/// What the arrays of a chip compute in.
compiler::ElementType element_type_of(const arch::ChipConfig& chip);

}  // namespace tandem::run
