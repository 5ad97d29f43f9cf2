// SPDX-License-Identifier: Apache-2.0
#include "systemc/mxu/gemm_int8.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#define TANDEM_X86 1
#endif

namespace tandem::mxu {
namespace {

constexpr uint32_t kLanes = 16;  // packed columns come in groups of this many

void multiply_plain(const int8_t* rows, uint32_t row_count, uint32_t row_stride, const int8_t* tile,
                    uint32_t k_len, uint32_t cols, int32_t* sums) {
    for (uint32_t m = 0; m < row_count; ++m) {
        int32_t* sum = sums + uint64_t{m} * cols;
        for (uint32_t k = 0; k < k_len; ++k) {
            const int32_t a = rows[uint64_t{m} * row_stride + k];
            const int8_t* weights = tile + uint64_t{k} * cols;
            // Unsigned, because hardware wraps.
            for (uint32_t c = 0; c < cols; ++c)
                sum[c] = static_cast<int32_t>(static_cast<uint32_t>(sum[c]) +
                                              static_cast<uint32_t>(a * weights[c]));
        }
    }
}

#if TANDEM_X86

/// What a block of the product needs; columns beyond `cols` are computed and thrown away.
struct Block {
    const int16_t* rows;  ///< packed, 2 * `pairs` apart
    const int16_t* tile;  ///< packed, 2 * `stride` apart
    int32_t* sums;        ///< `cols` apart
    uint32_t pairs, stride, cols, valid;
};

/// Elements 2 * index and 2 * index + 1 as one 32-bit pattern.
int32_t pair_at(const int16_t* values, uint64_t index) {
    int32_t pair;
    std::memcpy(&pair, values + 2 * index, sizeof pair);
    return pair;
}

template <int Rows, int Vectors>
[[gnu::target("avx512f,avx512bw,avx512vnni")]] void block_avx512(const Block& b) {
    __m512i sum[Rows][Vectors];
    __mmask16 mask[Vectors];
    for (int v = 0; v < Vectors; ++v) {
        const int left = static_cast<int>(b.valid) - v * 16;
        mask[v] = static_cast<__mmask16>(left >= 16 ? 0xffff : (1 << std::max(left, 0)) - 1);
    }
    for (int r = 0; r < Rows; ++r)
        for (int v = 0; v < Vectors; ++v)
            sum[r][v] = _mm512_maskz_loadu_epi32(
                mask[v], b.sums + uint64_t{b.cols} * static_cast<unsigned>(r) + v * 16);
    for (uint32_t p = 0; p < b.pairs; ++p) {
        __m512i weights[Vectors];
        for (int v = 0; v < Vectors; ++v)
            weights[v] = _mm512_loadu_si512(
                b.tile + 2 * (uint64_t{p} * b.stride + static_cast<unsigned>(v) * 16));
        for (int r = 0; r < Rows; ++r) {
            const __m512i a = _mm512_set1_epi32(
                pair_at(b.rows, uint64_t{b.pairs} * static_cast<unsigned>(r) + p));
            for (int v = 0; v < Vectors; ++v)
                sum[r][v] = _mm512_dpwssd_epi32(sum[r][v], a, weights[v]);
        }
    }
    for (int r = 0; r < Rows; ++r)
        for (int v = 0; v < Vectors; ++v)
            _mm512_mask_storeu_epi32(b.sums + uint64_t{b.cols} * static_cast<unsigned>(r) + v * 16,
                                     mask[v], sum[r][v]);
}

template <int Rows, int Vectors>
[[gnu::target("avx2")]] void block_avx2(const Block& b) {
    alignas(32) int32_t buffer[Rows][Vectors * 8];
    __m256i sum[Rows][Vectors];
    const uint32_t valid = std::min<uint32_t>(b.valid, Vectors * 8);
    for (int r = 0; r < Rows; ++r) {
        std::fill_n(buffer[r], Vectors * 8, 0);
        std::copy_n(b.sums + uint64_t{b.cols} * static_cast<unsigned>(r), valid, buffer[r]);
        for (int v = 0; v < Vectors; ++v)
            sum[r][v] = _mm256_load_si256(reinterpret_cast<const __m256i*>(buffer[r] + v * 8));
    }
    for (uint32_t p = 0; p < b.pairs; ++p) {
        __m256i weights[Vectors];
        for (int v = 0; v < Vectors; ++v)
            weights[v] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(
                b.tile + 2 * (uint64_t{p} * b.stride + static_cast<unsigned>(v) * 8)));
        for (int r = 0; r < Rows; ++r) {
            const __m256i a = _mm256_set1_epi32(
                pair_at(b.rows, uint64_t{b.pairs} * static_cast<unsigned>(r) + p));
            // Two products of int8 fit an int32 with room: no saturation.
            for (int v = 0; v < Vectors; ++v)
                sum[r][v] = _mm256_add_epi32(sum[r][v], _mm256_madd_epi16(a, weights[v]));
        }
    }
    for (int r = 0; r < Rows; ++r) {
        for (int v = 0; v < Vectors; ++v)
            _mm256_store_si256(reinterpret_cast<__m256i*>(buffer[r] + v * 8), sum[r][v]);
        std::copy_n(buffer[r], valid, b.sums + uint64_t{b.cols} * static_cast<unsigned>(r));
    }
}

/// Covers the product with blocks of Rows x Width columns; `wide` does whole ones, `single` one
/// row.
template <uint32_t Rows, uint32_t Width, class Wide, class Single>
void cover(const int16_t* rows, const int16_t* tile, int32_t* sums, uint32_t row_count,
           uint32_t pairs, uint32_t stride, uint32_t cols, Wide wide, Single single) {
    for (uint32_t c = 0; c < cols; c += Width) {
        uint32_t m = 0;
        const auto block = [&] {
            return Block{rows + 2 * uint64_t{m} * pairs,
                         tile + 2 * uint64_t{c},
                         sums + uint64_t{m} * cols + c,
                         pairs,
                         stride,
                         cols,
                         cols - c};
        };
        for (; m + Rows <= row_count; m += Rows) wide(block());
        for (; m < row_count; ++m) single(block());
    }
}

#endif

}  // namespace

GemmKernel best_gemm_kernel() {
#if TANDEM_X86
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vnni"))
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

void GemmInt8::pack(const int8_t* rows, uint32_t row_count, uint32_t row_stride, const int8_t* tile,
                    uint32_t k_len, uint32_t cols) {
    const uint32_t pairs = (k_len + 1) / 2, stride = (cols + 63) / 64 * 64;
    packed_rows_.resize(2 * uint64_t{row_count} * pairs);
    for (uint32_t m = 0; m < row_count; ++m) {
        const int8_t* row = rows + uint64_t{m} * row_stride;
        int16_t* out = packed_rows_.data() + 2 * uint64_t{m} * pairs;
        for (uint32_t k = 0; k < k_len; ++k) out[k] = row[k];
        if (k_len % 2 != 0) out[k_len] = 0;
    }
    packed_tile_.resize(2 * uint64_t{pairs} * stride);
    const std::vector<int8_t> zeros(k_len % 2 != 0 ? cols : 0);
    for (uint32_t p = 0; p < pairs; ++p) {
        const int8_t* low = tile + uint64_t{2 * p} * cols;
        const int8_t* high = 2 * p + 1 < k_len ? low + cols : zeros.data();
        int16_t* out = packed_tile_.data() + 2 * uint64_t{p} * stride;
        for (uint32_t c = 0; c < cols; ++c) {
            out[2 * c] = low[c];
            out[2 * c + 1] = high[c];
        }
    }
}

void GemmInt8::multiply(const int8_t* rows, uint32_t row_count, uint32_t row_stride,
                        const int8_t* tile, uint32_t k_len, uint32_t cols, bool accumulate,
                        int32_t* sums) {
    if (!accumulate) std::fill_n(sums, uint64_t{row_count} * cols, 0);
    // Packing costs about as much as multiplying with a few rows.
    constexpr uint32_t kFewRows = 4;
    if (kernel_ == GemmKernel::kPlain || row_count < kFewRows)
        return multiply_plain(rows, row_count, row_stride, tile, k_len, cols, sums);
#if TANDEM_X86
    pack(rows, row_count, row_stride, tile, k_len, cols);
    const uint32_t pairs = (k_len + 1) / 2, stride = (cols + 63) / 64 * 64;
    const int16_t *r = packed_rows_.data(), *t = packed_tile_.data();
    if (kernel_ == GemmKernel::kAvx2)
        cover<4, 16>(r, t, sums, row_count, pairs, stride, cols, block_avx2<4, 2>,
                     block_avx2<1, 2>);
    else if (cols <= kLanes)
        cover<12, 16>(r, t, sums, row_count, pairs, stride, cols, block_avx512<12, 1>,
                      block_avx512<1, 1>);
    else
        cover<6, 64>(r, t, sums, row_count, pairs, stride, cols, block_avx512<6, 4>,
                     block_avx512<1, 4>);
#endif
}

}  // namespace tandem::mxu
