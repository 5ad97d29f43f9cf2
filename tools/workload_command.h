// SPDX-License-Identifier: Apache-2.0
// tandem run FILE.csv or FILE.yaml: lists of layers without data, in timing mode.
#pragma once

#include <cstdint>
#include <string>

#include "tools/arrays.h"

namespace tandem::tools {

struct WorkloadArguments {
    std::string file, chip, json;
    std::string timing = "chip";   ///< chip: the whole chip; scalesim-ws: that tool's count
    std::string backend = "tlm";   ///< rtl: with scalesim-ws, confirm our count on a sample
    uint32_t batch = 1;
    uint32_t sample = 3;  ///< layers that the RTL confirms
    ArrayChoice array;
};

/// By the file's ending.
bool is_workload(const std::string& file);
/// Returns the exit status.
int run_workload_file(const WorkloadArguments& arguments);

}  // namespace tandem::tools
