// SPDX-License-Identifier: Apache-2.0
// Places activations and parameter blocks in the unified buffer. A buffer lives from the node that
// writes it to the last node that reads it. Parameter blocks either stay all the time, loaded at
// once, or each lives from the node that loads it, some nodes ahead of its use, to its use. What
// lives at the same time does not overlap.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/chip_config.h"
#include "compiler/passes/legal_graph.h"

namespace tandem::compiler {

struct Placement {
    std::vector<uint32_t> buffers;  ///< address of each LegalGraph::buffers
    std::vector<uint32_t> params;   ///< address of each node's block; 0 where it has none
    /// All blocks lie side by side and stay: params[n] - params_base is the block's offset.
    bool params_stay = false;
    uint32_t params_base = 0;
    /// Otherwise: blocks are loaded this many nodes ahead of their use.
    uint32_t prefetch_nodes = 0;
};

/// All parameter blocks side by side.
struct ParamsLayout {
    std::vector<uint32_t> offsets;  ///< of each node's block
    uint64_t bytes = 0;
};

ParamsLayout lay_out_params(const LegalGraph& graph);

/// Parameters stay when there is room and when loading all of them takes no longer than loading one
/// weight tile: where tiles are large, a small load later would wait long behind them.
/// Throws UserError naming the node at which more is needed than there is.
Placement allocate(const LegalGraph& graph, const arch::ChipConfig& chip);

}  // namespace tandem::compiler
