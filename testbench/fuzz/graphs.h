// SPDX-License-Identifier: Apache-2.0
// What follows a model that was read: text and back, a plan, a program, its check.
#pragma once

#include <string>

#include "arch/chip_config.h"
#include "compiler/graph/graph.h"
#include "testbench/fuzz/target.h"

namespace tandem::fuzz {

/// A chip of the project with 1 MiB of device memory.
arch::ChipConfig small_chip(const std::string& name = "test_8x8");
/// One convolution with values.
compiler::Graph tiny_graph();
/// Graphs of all operators, with values.
std::vector<compiler::Graph> sample_graphs();

/// Has to be the same graph again as a text. Compiled, if that is a matter of moments; what comes
/// out has to be a program that the chip takes. A few words on it.
std::string use_graph(const compiler::Graph& graph, const std::string& chip_name = "test_8x8");
/// Likewise, for this very chip.
std::string compile_for(const compiler::Graph& graph, const arch::ChipConfig& chip);

}  // namespace tandem::fuzz
