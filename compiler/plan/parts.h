// SPDX-License-Identifier: Apache-2.0
// Which part of each value a core would have if the value stayed in the unified buffer.
#pragma once

#include <vector>

#include "compiler/plan/outline.h"

namespace tandem::compiler {

/// Fills in the values' parts, rounds, first readers and bytes of a place, for the shares that the
/// plan has; returns for each value whether it can stay: every core then has all that it reads.
std::vector<bool> find_parts(const KernelGraph& graph, const PlanOptions& options,
                             const Outline& outline, const std::vector<Uses>& uses, Plan& plan);

}  // namespace tandem::compiler
