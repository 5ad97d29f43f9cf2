// SPDX-License-Identifier: Apache-2.0
// Shipped chips with one thing changed, as publications varied theirs.
#pragma once

#include "arch/chip_config.h"

namespace tandem::generations {

/// With so much of the second on-chip memory; 0: none.
arch::ChipConfig with_cmem(arch::ChipConfig chip, uint64_t mib);

/// With `count` square arrays of `side` per core. Rows of accumulators go with the side,
/// so that a PE has as many bytes of sums as before, and nothing else.
arch::ChipConfig with_arrays(arch::ChipConfig chip, uint32_t count, uint32_t side);

}  // namespace tandem::generations
