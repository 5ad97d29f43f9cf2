// SPDX-License-Identifier: Apache-2.0
// Values of nodes all of whose inputs are constants, for importers.
#pragma once

#include <optional>

#include "compiler/graph/graph.h"

namespace tandem::compiler {

/// The output of a node whose inputs are constants in FLOAT32 or INT64 with values: floats computed
/// in binary64 and rounded once, integers in 64 bits. Its type says the node's output. Nothing: the
/// operator is none that is computed here.
std::optional<Tensor> evaluate(const Graph& graph, const Node& node);

}  // namespace tandem::compiler
