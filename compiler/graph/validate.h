// SPDX-License-Identifier: Apache-2.0
// Whether a graph makes sense: order, shapes, types and quantisation. Everything behind the
// importers may rely on it.
#pragma once

#include "compiler/graph/graph.h"

namespace tandem::compiler {

/// Throws UserError naming the node or tensor, what was expected and what was found.
void validate(const Graph& graph);

/// Outputs of a window of `kernel` taps along one axis; below 1: the window does not fit.
int64_t output_extent(int32_t input, int32_t kernel, int32_t stride, int32_t dilation,
                      Padding padding);

}  // namespace tandem::compiler
