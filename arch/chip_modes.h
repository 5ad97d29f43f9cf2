// SPDX-License-Identifier: Apache-2.0
// A chip works on elements of one type per program. An int8 chip has that mode alone; a bf16 chip
// with an `mxu.int8_rate` has int8 as a second one.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "arch/chip_config.h"

namespace tandem::arch {

/// The chip as a program on such elements finds it, with a hash of its own; nothing: its arrays do
/// not take them. Its own type: the chip as it is. int8 in a bf16 array of R x C: an int8 array of
/// (R * int8_rate) x C, without `sum4`, for int8 sums are exact; all else stays.
std::optional<ChipConfig> for_dtype(const ChipConfig& chip, Dtype dtype);

/// Own type first.
std::vector<ChipConfig> modes(const ChipConfig& chip);

/// Names of the shipped chips that take such elements, sorted.
std::vector<std::string> shipped_chips_for(Dtype dtype, const std::filesystem::path& chips_dir);

}  // namespace tandem::arch
