// SPDX-License-Identifier: Apache-2.0
// Random networks of all operators, for comparing the compiler with the oracle.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "compiler/graph/graph.h"

namespace tandem::testbench {

/// A chain of 1 to 7 operators with occasional shortcuts (ADD); images of up to 9 x 9 x 20.
/// In kInt8 or kFloat32; every sixth of the latter has constants of all kinds of floats.
compiler::Graph random_graph(std::mt19937& random,
                             compiler::ElementType type = compiler::ElementType::kInt8);

/// Values for all inputs of `samples` samples, one sample after the other per input.
std::vector<std::vector<int8_t>> random_inputs(const compiler::Graph& graph, uint32_t samples,
                                               std::mt19937& random);

}  // namespace tandem::testbench
