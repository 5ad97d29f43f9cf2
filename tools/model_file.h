// SPDX-License-Identifier: Apache-2.0
// Models and tensors from files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/chip_config.h"
#include "arch/numerics.h"
#include "arch/program.h"
#include "compiler/graph/graph.h"

namespace tandem::tools {

struct ModelOptions {
    uint32_t batch = 1;
    std::string rounding = "single";
};

numerics::Rounding rounding_of(const ModelOptions& options);

// By the file's ending.
bool is_list(const std::string& model);     ///< of layers: .csv, .yaml
bool is_program(const std::string& model);  ///< .tpu

/// A .tpu file that is for this chip. Throws UserError.
arch::Program load_program(const std::string& model, const arch::ChipConfig& chip);

/// Any other model. `batch` goes with tables. Throws UserError.
compiler::Graph load_graph(const std::string& model, const arch::ChipConfig& chip,
                           uint64_t batch = 1);

/// The int8 bytes of a .bin (as they are) or .npy file.
std::vector<uint8_t> read_tensor_file(const std::string& file);

}  // namespace tandem::tools
