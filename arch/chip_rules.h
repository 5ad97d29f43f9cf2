// SPDX-License-Identifier: Apache-2.0
// What the figures of a chip have to be together, beyond the range of each.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arch/chip_config.h"

namespace tandem::arch {

struct ChipRule {
    struct Breach {
        std::string expected, found;  ///< of the first key
    };
    /// The figures that it ties together; the first is the one that is named when it is broken.
    std::vector<std::string_view> keys;
    std::optional<Breach> (*check)(const ChipConfig&);
};

std::span<const ChipRule> chip_rules();

}  // namespace tandem::arch
