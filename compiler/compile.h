// SPDX-License-Identifier: Apache-2.0
// From a network to a program image.
#pragma once

#include <cstdint>

#include "arch/chip_config.h"
#include "arch/numerics.h"
#include "arch/program.h"
#include "compiler/graph/graph.h"

namespace tandem::compiler {

struct CompileOptions {
    uint32_t batch = 1;  ///< samples that one run of the program works on
    numerics::Rounding rounding = numerics::Rounding::kSingle;
};

/// `graph` as an importer returns it. Throws UserError, naming the node and what is needed and
/// available, for a network that does not fit onto the chip.
arch::Program compile(const Graph& graph, const arch::ChipConfig& chip,
                      const CompileOptions& options = {});

}  // namespace tandem::compiler
