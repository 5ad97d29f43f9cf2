// SPDX-License-Identifier: Apache-2.0
// Whether a graph makes sense: order, shapes, types, quantisation and padding. Everything behind
// the importers may rely on it.
#pragma once

#include "compiler/graph/graph.h"

namespace tandem::compiler {

/// Throws UserError naming file, node or tensor, what was expected and what was found.
void verify(const Graph& graph);

}  // namespace tandem::compiler
