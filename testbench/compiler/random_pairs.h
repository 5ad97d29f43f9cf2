// SPDX-License-Identifier: Apache-2.0
// Random networks around products of two activations.
#pragma once

#include <random>

#include "compiler/graph/graph.h"

namespace tandem::testbench {

/// One or two BATCH_MATMULs, transposed, repeated or of one tensor now and then, with
/// FULLY_CONNECTED in front and behind and SOFTMAX between them. In kInt8, kBf16 or kFloat32.
compiler::Graph random_pairs(std::mt19937& random, compiler::ElementType type);

}  // namespace tandem::testbench
