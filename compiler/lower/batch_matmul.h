// SPDX-License-Identifier: Apache-2.0
// A product of two activations as kernels: the vector unit makes weight tiles of the second one
// while the program runs, the arrays multiply.
//
// int8 with zero points za, zb, sums over k:
//   out = sum a b - zb * sum a - za * sum (b - zb)
// so that the product drains int32 sums, and what is to be taken off is reduced by the vector unit
// (row sums of a, column sums of b) and added where the result is requantised. Terms of a zero
// point 0 are left out; without any the product requantises as it drains.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "arch/chip_config.h"
#include "compiler/lower/kernels.h"
#include "compiler/lower/lowered_node.h"

namespace tandem::compiler {

/// One of the kernels that a node becomes.
struct NodePart {
    /// An input of the node, or what a part before it has made.
    struct Source {
        bool is_part = false;
        size_t index = 0;
    };
    std::string name;  ///< behind the node's; of the last part empty: its output is the node's
    std::vector<Source> inputs;
    std::variant<MatmulWork, VectorWork> work;
    uint64_t output_bytes = 0;
    bool makes_tiles = false;     ///< its output is read as weight tiles
    uint64_t params_bytes = 0;    ///< of a parameter block that all channels share; 0: none
    std::vector<uint8_t> params;  ///< empty where the graph has no data
};

/// Parts of a verified BATCH_MATMUL, in the order in which they run.
std::vector<NodePart> lower_batch_matmul(const LoweredNode& node, const arch::ChipConfig& chip);

}  // namespace tandem::compiler
