// SPDX-License-Identifier: Apache-2.0
// A chip for elements of a type.
#pragma once

#include <string>

#include "arch/chip_config.h"

namespace tandem::jobs {

/// The chip as it works on such elements (arch/chip_modes.h). Throws UserError naming who asks for
/// them, `where`, and the shipped chips that do.
arch::ChipConfig chip_for(const arch::ChipConfig& chip, arch::Dtype dtype, const std::string& who,
                          const std::string& where = "elements");

}  // namespace tandem::jobs
