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
#include "compiler/plan/plan.h"

namespace tandem::jobs {

struct ModelOptions {
    uint32_t batch = 1;
    std::string rounding = "single";
    compiler::PlanMode plan = compiler::PlanMode::kSearch;
    std::string precision = "bf16";    ///< bf16, fp32, fp32x3: of FLOAT32 networks
    std::vector<std::string> given{};  ///< as compiler::ImportOptions has them
};

numerics::Rounding rounding_of(const ModelOptions& options);

/// search, rules.
std::string name_of(compiler::PlanMode plan);

// By the file's ending.
bool is_list(const std::string& model);     ///< of layers: .csv, .yaml
bool is_program(const std::string& model);  ///< .tpu

struct LoadedProgram {
    arch::Program program;
    arch::ChipConfig chip;  ///< as it works on the program's elements
};

/// A .tpu file that is for this chip. Throws UserError.
LoadedProgram load_program(const std::string& model, const arch::ChipConfig& chip);

struct LoadedGraph {
    compiler::Graph graph;
    arch::ChipConfig chip;          ///< as it works on the graph's elements
    std::vector<size_t> dropped{};  ///< inputs of the file, by number, that the graph does not have
};

/// Any other model. Throws UserError. The batch of `options` goes into tables alone. `dtype` of a
/// list: "int8", "bf16", or the chip's own if it is empty; other models have theirs.
LoadedGraph load_graph(const std::string& model, const arch::ChipConfig& chip,
                       const ModelOptions& options, const std::string& dtype = "");

/// The bytes of a .bin (as they are), .npy or .pb file, whose elements become those of a program's
/// tensor of that type.
std::vector<uint8_t> read_tensor_file(const std::string& file, const std::string& type);

}  // namespace tandem::jobs
