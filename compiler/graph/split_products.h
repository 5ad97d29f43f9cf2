// SPDX-License-Identifier: Apache-2.0
// A network in FLOAT32 that keeps its precision on an array of bf16 elements.
#pragma once

#include "compiler/graph/graph.h"

namespace tandem::compiler {

/// Each FLOAT32 factor of a product becomes a sum of bf16 pieces, each the rounded rest of those
/// before it, and the product one over the pieces' products that matter, the smallest first:
///   2 pieces, 3 products: relative error of a product up to 2^-16;
///   3 pieces, 6 products: 2^-24, as fp32's own.
/// Sums, and all else, are fp32. Numbers from 2^127 * (2 - 2^-8) on have no pieces. The graph is
/// verified, and so is the result.
Graph split_products(Graph graph, size_t pieces);

}  // namespace tandem::compiler
