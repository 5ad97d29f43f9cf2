// SPDX-License-Identifier: Apache-2.0
// Operators in steps of the vector unit: one function each, and the table that names them.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/lower/lowered_node.h"
#include "compiler/lower/vector_work.h"

namespace tandem::compiler {

struct VectorKernel {
    VectorWork work;
    uint64_t params_bytes = 0;    ///< of the parameter block; 0: none
    std::vector<uint8_t> params;  ///< the block itself; empty where the graph has no data
};

/// `node` is verified, its inputs are those of the kernel. Throws std::domain_error, which names
/// what was expected, for numbers that the unit cannot express; UserError for anything else.
VectorKernel lower_to_vector(const LoweredNode& node);

}  // namespace tandem::compiler
