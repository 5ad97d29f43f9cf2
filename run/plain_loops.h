// SPDX-License-Identifier: Apache-2.0
// Every tensor of a graph by plain loops: what a run with seeded data is compared with. Of the
// compiler it knows the graph, the table of operators and the seed, nothing that lowers or emits.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "arch/chip_config.h"
#include "compiler/graph/graph.h"

namespace tandem::run {

struct PlainValues {
    /// Graph outputs and inputs of EDGE; the others are empty.
    std::vector<std::vector<uint8_t>> of_tensor;
};

/// Constants have data (seed_constants); graph inputs and outputs of EDGE get seeded bytes. `batch`
/// multiplies the first dimension of every activation. int8 rounds once (Rounding::kSingle), bf16
/// sums in the order of `mxu`, float vector work is fp32. `progress` may be empty. Throws UserError
/// for a node without values.
PlainValues plain_loops(const compiler::Graph& graph, const arch::ChipConfig::Mxu& mxu,
                        uint32_t batch, uint64_t seed,
                        const std::function<void(uint64_t done, uint64_t total)>& progress);

/// The same of inputs that the caller has: for each of the graph's those of all samples.
PlainValues plain_loops(const compiler::Graph& graph, const arch::ChipConfig::Mxu& mxu,
                        uint32_t batch, const std::vector<std::vector<uint8_t>>& inputs);

/// About how long that takes, for telling before it is done.
double plain_seconds(const compiler::Graph& graph, uint32_t batch);

}  // namespace tandem::run
