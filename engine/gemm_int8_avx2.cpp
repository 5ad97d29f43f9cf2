// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm_int8_kernels.h"

#if TANDEM_X86
#include <immintrin.h>

#include <algorithm>
#include <cstring>

namespace tandem::engine {
namespace {

constexpr uint32_t kWidth = 16;  // columns of a block

/// What a block of the product needs; columns beyond `valid` are computed and thrown away.
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

template <int Rows>
[[gnu::target("avx2")]] void block(const Block& b) {
    constexpr int kVectors = kWidth / 8;
    alignas(32) int32_t buffer[Rows][kWidth];
    __m256i sum[Rows][kVectors];
    const uint32_t valid = std::min(b.valid, kWidth);
    for (int r = 0; r < Rows; ++r) {
        std::fill_n(buffer[r], kWidth, 0);
        std::copy_n(b.sums + uint64_t{b.cols} * static_cast<unsigned>(r), valid, buffer[r]);
        for (int v = 0; v < kVectors; ++v)
            sum[r][v] = _mm256_load_si256(reinterpret_cast<const __m256i*>(buffer[r] + v * 8));
    }
    for (uint32_t p = 0; p < b.pairs; ++p) {
        __m256i weights[kVectors];
        for (int v = 0; v < kVectors; ++v)
            weights[v] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(
                b.tile + 2 * (uint64_t{p} * b.stride + static_cast<unsigned>(v) * 8)));
        for (int r = 0; r < Rows; ++r) {
            const __m256i a = _mm256_set1_epi32(
                pair_at(b.rows, uint64_t{b.pairs} * static_cast<unsigned>(r) + p));
            // Two products of int8 fit an int32 with room: no saturation.
            for (int v = 0; v < kVectors; ++v)
                sum[r][v] = _mm256_add_epi32(sum[r][v], _mm256_madd_epi16(a, weights[v]));
        }
    }
    for (int r = 0; r < Rows; ++r) {
        for (int v = 0; v < kVectors; ++v)
            _mm256_store_si256(reinterpret_cast<__m256i*>(buffer[r] + v * 8), sum[r][v]);
        std::copy_n(buffer[r], valid, b.sums + uint64_t{b.cols} * static_cast<unsigned>(r));
    }
}

void pack_rows(const Int8Product& p, uint32_t pairs, Int8Scratch& scratch) {
    scratch.rows.resize(2 * uint64_t{p.row_count} * pairs);
    for (uint32_t m = 0; m < p.row_count; ++m) {
        int16_t* out = scratch.rows.data() + 2 * uint64_t{m} * pairs;
        std::copy_n(p.rows + uint64_t{m} * p.row_stride, p.k_len, out);
        if (p.k_len % 2 != 0) out[p.k_len] = 0;
    }
}

void pack_tile(const Int8Product& p, uint32_t pairs, uint32_t stride, Int8Scratch& scratch) {
    scratch.tile.resize(2 * uint64_t{pairs} * stride);
    for (uint32_t pair = 0; pair < pairs; ++pair) {
        const int8_t* low = p.tile + uint64_t{2 * pair} * p.cols;
        const bool both = 2 * pair + 1 < p.k_len;
        int16_t* out = scratch.tile.data() + 2 * uint64_t{pair} * stride;
        for (uint32_t c = 0; c < p.cols; ++c) {
            out[2 * c] = low[c];
            out[2 * c + 1] = both ? low[p.cols + c] : int16_t{0};
        }
    }
}

}  // namespace

void multiply_avx2(const Int8Product& p, bool same_tile, Int8Scratch& scratch) {
    constexpr uint32_t kRows = 4;
    const uint32_t pairs = (p.k_len + 1) / 2, stride = (p.cols + kWidth - 1) / kWidth * kWidth;
    pack_rows(p, pairs, scratch);
    if (!same_tile) pack_tile(p, pairs, stride, scratch);
    if (!p.accumulate) std::fill_n(p.sums, uint64_t{p.row_count} * p.cols, 0);
    for (uint32_t c = 0; c < p.cols; c += kWidth)
        for (uint32_t m = 0; m < p.row_count;) {
            const Block b{scratch.rows.data() + 2 * uint64_t{m} * pairs,
                          scratch.tile.data() + 2 * uint64_t{c},
                          p.sums + uint64_t{m} * p.cols + c,
                          pairs,
                          stride,
                          p.cols,
                          p.cols - c};
            const bool whole = m + kRows <= p.row_count;
            whole ? block<kRows>(b) : block<1>(b);
            m += whole ? kRows : 1;
        }
}

}  // namespace tandem::engine
#endif
