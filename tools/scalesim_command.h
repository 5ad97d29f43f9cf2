// SPDX-License-Identifier: Apache-2.0
// tandem run LIST --timing scalesim-ws: one array that never waits, as SCALE-Sim counts and as ours
// has it.
#pragma once

#include <cstdint>
#include <string>

#include "run/arrays.h"
#include "tools/chip_arguments.h"

namespace tandem::tools {

struct ScalesimArguments {
    std::string file, json;
    ChipArguments chip;
    std::string backend = "tlm";  ///< rtl: confirm our count on a sample
    uint32_t batch = 1;
    run::ArrayChoice array;
};

/// Returns the exit status.
int run_scalesim(const ScalesimArguments& arguments);

}  // namespace tandem::tools
