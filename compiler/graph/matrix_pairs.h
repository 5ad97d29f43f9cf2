// SPDX-License-Identifier: Apache-2.0
// Which matrices a BATCH_MATMUL multiplies.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/graph/graph.h"

namespace tandem::compiler {

/// m x k times k x n for each index in front of the matrices. Extents in front: of the output, and
/// of the inputs, 1 where one matrix serves all of the output's; as many of each.
struct MatrixPairs {
    uint64_t m = 1, k = 1, n = 1;
    std::vector<uint64_t> out, a, b;
    bool adj_x = false, adj_y = false;  ///< a stands as k x m, b as n x k

    uint64_t count() const;
};

/// The pairs of a verified node.
MatrixPairs matrix_pairs(const Graph& graph, const Node& node);

}  // namespace tandem::compiler
