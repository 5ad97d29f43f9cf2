// SPDX-License-Identifier: Apache-2.0
// Synchronised steps into a program image with what tools need to know about it.
#pragma once

#include "arch/chip_config.h"
#include "arch/program.h"
#include "compiler/graph/graph.h"
#include "compiler/passes/allocate.h"
#include "compiler/passes/legal_graph.h"

namespace tandem::compiler {

/// Everything behind legalize(); inputs and outputs are left without shape and scale. Throws
/// UserError when buffer or memory are too small or a size does not fit into an instruction.
arch::Program emit_program(const LegalGraph& legal, const arch::ChipConfig& chip);

}  // namespace tandem::compiler
