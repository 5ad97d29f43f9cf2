// SPDX-License-Identifier: Apache-2.0
// Random outlines of plans: segments, rounds, cores and spilled values as the search might mix
// them, and as it never would.
#pragma once

#include <cstdint>

#include "compiler/plan/outline.h"

namespace tandem::testbench {

/// For at most so many cores. The same for the same seed.
compiler::Outline random_outline(const compiler::KernelGraph& graph, uint32_t cores, uint32_t seed);

}  // namespace tandem::testbench
