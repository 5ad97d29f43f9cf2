// SPDX-License-Identifier: Apache-2.0
// Weight tensors into weight matrices. `weights` are the tensor's bytes, or null where it has none.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/lower/kernels.h"

namespace tandem::compiler {

/// bias - zero_in * (column sum of the int8 weights), per column, wrapping as the accumulators do.
std::vector<int32_t> fold_zero_point(const MatmulGroup& group, int32_t zero_in,
                                     const std::vector<int32_t>& bias);

/// Matrices of a convolution whose weights are OHWI with `channels` channels each; fewer than the
/// image's make groups.
std::vector<MatmulGroup> conv_groups(const ImageWindow& window, const uint8_t* weights,
                                     uint32_t out_channels, uint32_t channels);

/// Block-diagonal matrices of a depthwise convolution (weights 1HWC): as many channels per matrix
/// as need the fewest tiles of array_rows x array_cols.
std::vector<MatmulGroup> depthwise_groups(const ImageWindow& window, const uint8_t* weights,
                                          uint32_t multiplier, uint32_t array_rows,
                                          uint32_t array_cols);

/// `count` products of the same input; weights are [count][n][k].
std::vector<MatmulGroup> product_groups(const ImageWindow& window, const uint8_t* weights,
                                        uint32_t count, uint32_t n);

}  // namespace tandem::compiler
