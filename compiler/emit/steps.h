// SPDX-License-Identifier: Apache-2.0
// Instructions of a placed network in program order, flags not yet set.
//
// Order: inputs come in first; parameter blocks are loaded before them or some nodes ahead of their
// use, weight tiles one run ahead; each block's matmuls are followed by the activates that drain
// it. Units take their instructions from this order and run as far ahead as the conflicts between
// them allow.
#pragma once

#include <vector>

#include "arch/chip_config.h"
#include "compiler/emit/program_data.h"
#include "compiler/passes/allocate.h"
#include "compiler/passes/legal_graph.h"
#include "compiler/passes/step.h"

namespace tandem::compiler {

/// Throws UserError, naming the node, for sizes that an instruction cannot express.
std::vector<Step> emit_steps(const LegalGraph& graph, const Placement& placement,
                             const ProgramData& data, const arch::ChipConfig& chip);

}  // namespace tandem::compiler
