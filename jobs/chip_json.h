// SPDX-License-Identifier: Apache-2.0
// All figures of a chip as JSON; keys of numbers end with their unit.
#pragma once

#include <nlohmann/json.hpp>

#include "arch/chip_config.h"

namespace tandem::jobs {

nlohmann::json chip_json(const arch::ChipConfig& chip);

/// Of all shipped chips.
nlohmann::json chips_json();

}  // namespace tandem::jobs
