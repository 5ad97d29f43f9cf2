// SPDX-License-Identifier: Apache-2.0
// A network in FLOAT32 as what an array of bf16 elements computes (docs/numerics.md, float
// networks).
#pragma once

#include "compiler/graph/graph.h"

namespace tandem::compiler {

/// Weights become BFLOAT16, rounded half to even; biases stay FLOAT32. Activations between
/// operators become BFLOAT16; a graph input stays FLOAT32 and gets a CAST behind it. A graph output
/// stays FLOAT32: its operator writes it without rounding, or, where operators read it as well or
/// it is a RESHAPE's, a CAST comes behind it. Nodes of other types, and graphs that are narrow
/// already, stay as they are. The graph is verified, and so is the result.
Graph narrow(Graph graph);

}  // namespace tandem::compiler
