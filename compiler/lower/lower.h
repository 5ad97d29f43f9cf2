// SPDX-License-Identifier: Apache-2.0
// Lowers a graph onto the machine: convolutions and products to weight matrices with zero points
// folded into the bias, everything else to kernels of the vector unit.
#pragma once

#include "arch/chip_config.h"
#include "compiler/lower/kernels.h"

namespace tandem::compiler {

/// `graph` is verified. `batch` multiplies the first dimension of every activation. Throws
/// UserError, naming the node, for scales or types that the chip cannot express.
KernelGraph lower(const Graph& graph, const arch::ChipConfig& chip, uint32_t batch,
                  numerics::Rounding rounding);

}  // namespace tandem::compiler
