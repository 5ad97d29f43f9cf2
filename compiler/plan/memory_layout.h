// SPDX-License-Identifier: Apache-2.0
// Where parameters, weights and values lie in device memory, and inputs and outputs at the host.
#pragma once

#include "compiler/plan/plan.h"

namespace tandem::compiler {

/// Fills offsets and sizes of memories into `plan`, whose column tiles, residents and values in
/// CMEM are set. Throws UserError naming the kernel from which on there is no room.
void lay_out_memory(const KernelGraph& graph, const arch::ChipConfig& chip,
                    const PlanOptions& options, Plan& plan);

}  // namespace tandem::compiler
