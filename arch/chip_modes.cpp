// SPDX-License-Identifier: Apache-2.0
#include "arch/chip_modes.h"

#include <algorithm>

namespace tandem::arch {

std::optional<ChipConfig> for_dtype(const ChipConfig& chip, Dtype dtype) {
    if (chip.mxu.dtype == dtype) return chip;
    if (dtype != Dtype::kInt8 || chip.mxu.int8_rate == 0) return std::nullopt;
    ChipConfig mode = chip;
    mode.mxu.rows *= chip.mxu.int8_rate;
    mode.mxu.dtype = Dtype::kInt8;
    mode.mxu.sum4 = false;
    mode.mxu.int8_rate = 0;
    return mode;
}

std::vector<ChipConfig> modes(const ChipConfig& chip) {
    std::vector<ChipConfig> all = {chip};
    for (const Dtype dtype : {Dtype::kInt8, Dtype::kBf16})
        if (const auto mode = for_dtype(chip, dtype); mode && dtype != chip.mxu.dtype)
            all.push_back(*mode);
    return all;
}

std::vector<std::string> shipped_chips_for(Dtype dtype, const std::filesystem::path& chips_dir) {
    std::vector<std::string> names = shipped_chips(chips_dir);
    std::erase_if(names, [&](const std::string& name) {
        return !for_dtype(find_chip(name, chips_dir), dtype);
    });
    return names;
}

}  // namespace tandem::arch
