// SPDX-License-Identifier: Apache-2.0
// Random lists of layers as graphs: what tables and applications become, without their values.
#pragma once

#include <random>

#include "compiler/graph/graph.h"

namespace tandem::testbench {

/// 1 to 5 layers of all kinds that have values in `type` (kInt8, kBf16), one after the other (with
/// EDGE and RESHAPE in between) or independent of each other; some are repeated.
compiler::Graph random_list(std::mt19937& random, compiler::ElementType type);

}  // namespace tandem::testbench
