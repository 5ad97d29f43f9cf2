// SPDX-License-Identifier: Apache-2.0
// The Verilated array of a chip: found in the cache or built on demand.
#pragma once

#include <memory>

#include "arch/chip_config.h"
#include "cosim/array_builder.h"

namespace tandem::tools {

/// Prints progress on stderr while it builds. Throws UserError when the array cannot be built.
std::shared_ptr<cosim::ArrayLibrary> load_array(const arch::ChipConfig& chip);
std::shared_ptr<cosim::ArrayLibrary> load_array(uint32_t rows, uint32_t cols,
                                                uint32_t accumulator_rows);

}  // namespace tandem::tools
