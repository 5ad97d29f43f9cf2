// SPDX-License-Identifier: Apache-2.0
// What a tandem_model is: never changed once it is loaded, so that threads can share it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/c/tensor.h"
#include "arch/chip_config.h"
#include "arch/program.h"
#include "compiler/graph/graph.h"
#include "compiler/plan/bounds.h"
#include "jobs/model_file.h"

struct tandem_model {
    std::string file;
    tandem::arch::ChipConfig chip;  ///< as it works on the model's elements
    tandem::jobs::ModelOptions options;
    bool list = false;                             ///< of layers
    std::optional<tandem::compiler::Graph> graph;  ///< none: a compiled program
    std::optional<tandem::arch::Program> program;  ///< none: no data
    std::vector<tandem::compiler::Bounds> bounds;  ///< of the program's nodes; empty: not known
    std::vector<tandem::c_api::Tensor> inputs, outputs;

    /// Name, type and shape of what a program's node computes; bytes are those of the batch.
    tandem::c_api::Tensor layer(size_t node) const;
};
