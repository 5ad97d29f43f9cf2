// SPDX-License-Identifier: Apache-2.0
// Lowers a graph onto the machine: convolutions and fully connected layers to weight matrices with
// zero points folded into the bias, everything else to operations of the vector unit.
#pragma once

#include "arch/chip_config.h"
#include "compiler/graph/graph.h"
#include "compiler/passes/legal_graph.h"

namespace tandem::compiler {

/// `graph` is validated. Throws UserError, naming the node, for sizes or scales that the
/// instruction set cannot express.
LegalGraph legalize(const Graph& graph, const arch::ChipConfig& chip, uint32_t batch,
                    Rounding rounding);

/// bias - zero_in * (column sum of the weights), per column, wrapping as the accumulators do.
std::vector<int32_t> fold_zero_point(const MatmulGroup& group, int32_t zero_in,
                                     const std::vector<int32_t>& bias);

/// Weight matrices of a convolution whose weights are OHWI with I channels each; `window` describes
/// the whole image with all its channels.
std::vector<MatmulGroup> conv_groups(const isa::Geometry& window, const int8_t* weights,
                                     uint32_t out_channels, uint32_t in_channels_per_group);

/// Block-diagonal weight matrices of a depthwise convolution (weights 1HWC): as many channels per
/// matrix as need the fewest tiles of array_rows x array_cols.
std::vector<MatmulGroup> depthwise_groups(const isa::Geometry& window, const int8_t* weights,
                                          uint32_t multiplier, uint32_t array_rows,
                                          uint32_t array_cols);

}  // namespace tandem::compiler
