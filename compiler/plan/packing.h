// SPDX-License-Identifier: Apache-2.0
// Packing of narrow 1x1 convolutions and products. Pixels lie one behind the other without gaps, so
// that M of them with K channels are also M / p rows with p * K. Times a block-diagonal matrix of p
// copies of the K x N weights these are M / p rows with p * N channels: byte for byte the plain
// result. Where p copies need no more weight tiles than one, the arrays see a p-th of the rows.
//
// Only int8 is packed: zero weights add nothing to int32 sums, but 0 * infinity to fp32 ones.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/chip_config.h"
#include "compiler/lower/kernels.h"
#include "compiler/plan/plan.h"
#include "compiler/plan/search.h"

namespace tandem::compiler {

/// Pixels that a row of the kernel's product can have, 1 first. More of them divide a line of the
/// image, so that lines stay what cores share; or, of rows that are images of one pixel, each of
/// `parts` equal parts of them.
std::vector<uint32_t> pixels_per_row(const Kernel& kernel, const arch::ChipConfig& chip,
                                     uint64_t parts);

/// The same product with so many of the tensors' pixels in a row. Its useful MACs stay the same.
void pack(Kernel& kernel, uint32_t pixels, const arch::ChipConfig& chip);

/// Packs the products that the closed form has faster for it by more than its error, where all else
/// stays as the search has found it, and plans anew.
Plan pack_narrow(KernelGraph& graph, const arch::ChipConfig& chip, const PlanOptions& options,
                 SearchedPlan plain);

/// For tests: packs every product in this one of its ways, modulo their number.
void pack_all(KernelGraph& graph, const arch::ChipConfig& chip, uint32_t cores, uint64_t way);

}  // namespace tandem::compiler
