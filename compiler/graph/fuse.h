// SPDX-License-Identifier: Apache-2.0
// Formulas that follow each other as one.
#pragma once

#include "compiler/graph/graph.h"

namespace tandem::compiler {

/// An ELEMENTWISE that only another one reads, in the same shape, becomes a part of its formula, as
/// long as that has three operands at most. The result is the same, bit by bit, where tensors
/// between them are FLOAT32 or INT32; what stood in BFLOAT16 between them is no longer rounded.
void fuse_formulas(Graph& graph);

}  // namespace tandem::compiler
