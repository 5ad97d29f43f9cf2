// SPDX-License-Identifier: Apache-2.0
// Models and tensors from files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/chip_config.h"
#include "arch/program.h"

namespace tandem::tools {

struct ModelOptions {
    uint32_t batch = 1;
    std::string rounding = "single";
};

/// Compiles a .tflite file, or reads a .tpu file and checks that it is for this chip. Throws
/// UserError.
arch::Program load_program(const std::string& model, const arch::ChipConfig& chip,
                           const ModelOptions& options);

/// The int8 bytes of a .bin (as they are) or .npy file.
std::vector<uint8_t> read_tensor_file(const std::string& file);

}  // namespace tandem::tools
