// SPDX-License-Identifier: Apache-2.0
// What a program brings along into device memory: weight tiles and parameter blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/chip_config.h"
#include "compiler/passes/legal_graph.h"
#include "compiler/passes/tile.h"

namespace tandem::compiler {

struct ProgramData {
    std::vector<uint8_t> bytes;  ///< loaded at the address in scalar register 1
    /// Per node; empty plans and offset 0 where a node has none.
    std::vector<TilePlan> plans;           ///< without the weights, which stand in `bytes`
    std::vector<uint32_t> weight_offsets;  ///< of the node's first tile
    std::vector<uint32_t> params_offsets;  ///< all blocks stand at the front, as ParamsLayout says
    uint32_t params_bytes = 0;             ///< of all blocks
};

/// Throws UserError when the data do not fit into the device memory.
ProgramData lay_out_data(const LegalGraph& graph, const arch::ChipConfig& chip);

}  // namespace tandem::compiler
