// SPDX-License-Identifier: Apache-2.0
// How one core's share of a kernel goes through the room that the buffer has for it.
#pragma once

#include <optional>

#include "compiler/plan/plan.h"

namespace tandem::compiler {

class ProductMemo;

struct PieceRequest {
    bool in_stays = false;   ///< operands lie in the buffer
    bool out_stays = false;  ///< so does the result
    uint64_t room = 0;       ///< bytes of the buffer for what goes through
    PlanMode mode = PlanMode::kRules;
    uint32_t sharing_cores = 1;  ///< that share device memory's bandwidth meanwhile
    bool weights_in_cmem = false, in_cmem = false, out_cmem = false;  ///< not in device memory
    /// For tests of the search: takes this candidate among those that fit, modulo
    /// their number.
    std::optional<uint64_t> forced = {};
    ProductMemo* memo = nullptr;  ///< of the chip; none: every product is searched anew
};

/// Fills ways, chunks, slices, block rows and sizes of areas into `share`, whose lines and tiles
/// are set. False: there is no room.
bool cut_into_pieces(const Kernel& kernel, const KernelGraph& graph,
                     const std::vector<ColumnTile>& tiles, const arch::ChipConfig& chip,
                     const PieceRequest& request, CorePlan& share);

/// Whether a product whose input does not stay has it come gathered: without the lines, and the
/// pixels of a line, that strided windows of one tap skip.
bool gathers_input(const Kernel& kernel, const KernelGraph& graph, const PieceRequest& request);

/// Bytes of the buffer that the share's areas take.
uint64_t in_area_bytes(const CorePlan& share);
uint64_t out_area_bytes(const CorePlan& share);

}  // namespace tandem::compiler
