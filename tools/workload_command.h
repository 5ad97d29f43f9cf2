// SPDX-License-Identifier: Apache-2.0
// tandem run FILE.csv or FILE.yaml: lists of layers without data, in timing mode.
#pragma once

#include <cstdint>
#include <string>

#include "arch/chip_config.h"
#include "tools/arrays.h"
#include "workload/workload.h"

namespace tandem::tools {

struct WorkloadArguments {
    std::string file, chip, json;
    std::string timing = "chip";  ///< chip: the whole chip; scalesim-ws: that tool's count
    std::string backend = "tlm";  ///< rtl: with scalesim-ws, confirm our count on a sample
    uint32_t batch = 1;
    ArrayChoice array;
};

/// Timing mode on the whole chip; writes the report unless the path is empty. Returns the exit
/// status.
int run_layers_on_chip(const workload::Workload& workload, const arch::ChipConfig& chip,
                       const std::string& json_path);
/// By the file's ending.
bool is_workload(const std::string& file);
/// Returns the exit status.
int run_workload_file(const WorkloadArguments& arguments);

}  // namespace tandem::tools
