// SPDX-License-Identifier: Apache-2.0
// One bf16 product C[M,N] = A[M,K] x B[K,N] into a program. Networks are int8 so far; this is what
// a chip with a bf16 array runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/chip_config.h"
#include "arch/program.h"

namespace tandem::compiler {

struct FloatProduct {
    std::string name;  ///< for messages and reports
    uint32_t m = 0, k = 0, n = 0;
    std::vector<uint16_t> weights;  ///< B as bf16, k x n
};

/// Input A and output C are bf16, row after row. Throws UserError for a chip whose array is not
/// bf16, or on which the matrices have no room.
arch::Program compile(const FloatProduct& product, const arch::ChipConfig& chip);

}  // namespace tandem::compiler
