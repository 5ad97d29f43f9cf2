// SPDX-License-Identifier: Apache-2.0
#include "jobs/chip_for.h"

#include <fmt/ranges.h>

#include "arch/chip_modes.h"
#include "base/error.h"
#include "run/paths.h"

namespace tandem::jobs {

arch::ChipConfig chip_for(const arch::ChipConfig& chip, arch::Dtype dtype, const std::string& who,
                          const std::string& where) {
    if (const auto mode = arch::for_dtype(chip, dtype)) return *mode;
    const auto names = arch::shipped_chips_for(dtype, run::chips_dir());
    throw UserError(
        who, where,
        fmt::format("a chip whose arrays take {} ({})", arch::to_string(dtype),
                    fmt::join(names, ", ")),
        fmt::format("{}, which has {} alone", chip.name, arch::to_string(chip.mxu.dtype)));
}

}  // namespace tandem::jobs
