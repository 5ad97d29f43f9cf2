// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm_int8.h"

#include <algorithm>

namespace tandem::engine {

void multiply_plain(const Int8Product& p) {
    if (!p.accumulate) std::fill_n(p.sums, uint64_t{p.row_count} * p.cols, 0);
    for (uint32_t m = 0; m < p.row_count; ++m) {
        int32_t* sum = p.sums + uint64_t{m} * p.cols;
        for (uint32_t k = 0; k < p.k_len; ++k) {
            const int32_t a = p.rows[uint64_t{m} * p.row_stride + k];
            const int8_t* weights = p.tile + uint64_t{k} * p.cols;
            // Unsigned, because hardware wraps.
            for (uint32_t c = 0; c < p.cols; ++c)
                sum[c] = static_cast<int32_t>(static_cast<uint32_t>(sum[c]) +
                                              static_cast<uint32_t>(a * weights[c]));
        }
    }
}

GemmKernel best_gemm_kernel() {
#if TANDEM_X86
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni"))
        return GemmKernel::kAvx512Vnni;
    if (__builtin_cpu_supports("avx2")) return GemmKernel::kAvx2;
#endif
    return GemmKernel::kPlain;
}

std::string_view to_string(GemmKernel kernel) {
    switch (kernel) {
        case GemmKernel::kAvx512Vnni:
            return "avx512-vnni";
        case GemmKernel::kAvx2:
            return "avx2";
        case GemmKernel::kPlain:
            return "plain";
    }
    return {};
}

void GemmInt8::multiply(const int8_t* rows, uint32_t row_count, uint32_t row_stride,
                        const int8_t* tile, uint32_t k_len, uint32_t cols, bool accumulate,
                        int32_t* sums, uint64_t tile_id) {
    const Int8Product product{rows, row_count, row_stride, tile, k_len, cols, accumulate, sums};
#if TANDEM_X86
    const Packed wanted{tile_id, k_len, cols};
    // Packing the tile costs about as much as multiplying with a row.
    const bool again = tile_id != 0 && wanted == last_;
    last_ = wanted;
    if ((row_count > 1 || again) && kernel_ != GemmKernel::kPlain) {
        const bool same_tile = tile_id != 0 && wanted == packed_;
        packed_ = wanted;
        return kernel_ == GemmKernel::kAvx512Vnni ? multiply_vnni(product, same_tile, scratch_)
                                                  : multiply_avx2(product, same_tile, scratch_);
    }
#endif
    multiply_plain(product);
}

}  // namespace tandem::engine
