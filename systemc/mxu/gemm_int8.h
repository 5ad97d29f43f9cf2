// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tandem::mxu {

/// sums[m][c] (+)= sum over k < k_len of rows[m][k] * tile[k][c], int32, wrapping.
/// rows: `row_count` x `row_stride` int8; tile: k_len x cols int8; sums: row_count x cols int32.
void multiply_tile_int8(const int8_t* rows, uint32_t row_count, uint32_t row_stride, const int8_t* tile,
                        uint32_t k_len, uint32_t cols, bool accumulate, int32_t* sums);

}  // namespace tandem::mxu
