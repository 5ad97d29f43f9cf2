// SPDX-License-Identifier: Apache-2.0
// The figures of a chip as parameters, from the one table of them (arch/chip_figures.h).
#pragma once

#include <string>

#include "api/systemc/parameter_scope.h"
#include "arch/chip_config.h"

namespace tandem::modules {

/// The chip of a name or file with the scope's presets of its figures; enters all figures in the
/// list. Throws UserError naming the parameter that is wrong.
arch::ChipConfig chip_with_presets(ParameterScope& scope, const std::string& name_or_file);

}  // namespace tandem::modules
