// SPDX-License-Identifier: Apache-2.0
// Places activations and parameter blocks in the unified buffer. A buffer lives from the node that
// writes it to the last node that reads it; a parameter block from the node that loads it, some nodes
// ahead of its use, to its use. Buffers that live at the same time do not overlap.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/passes/legal_graph.h"

namespace tandem::compiler {

struct Placement {
    std::vector<uint32_t> buffers;  ///< address of each LegalGraph::buffers
    std::vector<uint32_t> params;   ///< address of each node's block; 0 where it has none
    /// Blocks are loaded this many nodes ahead of their use.
    uint32_t prefetch_nodes = 0;
};

/// Throws UserError naming the node at which more is needed than there is.
Placement allocate(const LegalGraph& graph, uint64_t unified_buffer_bytes);

}  // namespace tandem::compiler
