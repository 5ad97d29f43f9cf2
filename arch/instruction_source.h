// SPDX-License-Identifier: Apache-2.0
// What one instruction does, in terms of what was compiled.
#pragma once

#include <cstdint>

namespace tandem::arch {

struct InstructionSource {
    int32_t node = -1;   ///< index into the program's nodes, -1: none (set-up, synchronisation)
    uint32_t round = 0;  ///< of the batch
    // The tile, for matmul and requantise; zero elsewhere.
    uint32_t m_start = 0;  ///< first row of the product
    uint32_t n_start = 0;  ///< first output channel
    uint32_t k_start = 0;  ///< first element of the reduction
};

}  // namespace tandem::arch
