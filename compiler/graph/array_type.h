// SPDX-License-Identifier: Apache-2.0
// Which elements the arrays of a chip have to take for a graph.
#pragma once

#include <optional>

#include "arch/dtype.h"
#include "compiler/graph/graph.h"

namespace tandem::compiler {

/// Type of the first product; nothing: the graph has none, and every array does.
std::optional<arch::Dtype> array_type(const Graph& graph);

}  // namespace tandem::compiler
