// SPDX-License-Identifier: Apache-2.0
// Weights that a file keeps in int8 for operators on FLOAT32 ("dynamic range" quantisation).
#pragma once

#include "compiler/graph/graph.h"

namespace tandem::compiler {

/// Gives every operator whose activations are FLOAT32 and whose weights are INT8 constants with
/// scales the FLOAT32 weights that they stand for: scale * (value - zero point), rounded to
/// float32. The graph need not be verified.
void dequantise_weights(Graph& graph);

}  // namespace tandem::compiler
