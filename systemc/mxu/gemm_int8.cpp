// SPDX-License-Identifier: Apache-2.0
#include "systemc/mxu/gemm_int8.h"

#include <algorithm>

// One source, compiled for several instruction sets and chosen when the program starts. Sanitizers
// do not work with the resolver functions that this needs.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__clang__)
#define TANDEM_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TANDEM_CLONES
#endif

namespace tandem::mxu {

TANDEM_CLONES
void multiply_tile_int8(const int8_t* rows, uint32_t row_count, uint32_t row_stride, const int8_t* tile,
                        uint32_t k_len, uint32_t cols, bool accumulate, int32_t* sums) {
    for (uint32_t m = 0; m < row_count; ++m) {
        const int8_t* row = rows + uint64_t{m} * row_stride;
        int32_t* sum = sums + uint64_t{m} * cols;
        if (!accumulate) std::fill_n(sum, cols, 0);
        for (uint32_t k = 0; k < k_len; ++k) {
            const int32_t a = row[k];
            if (a == 0) continue;
            const int8_t* weights = tile + uint64_t{k} * cols;
            // Unsigned, because hardware wraps.
            for (uint32_t c = 0; c < cols; ++c)
                sum[c] = static_cast<int32_t>(static_cast<uint32_t>(sum[c]) +
                                              static_cast<uint32_t>(a * weights[c]));
        }
    }
}

}  // namespace tandem::mxu
