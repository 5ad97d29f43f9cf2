// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm_bf16_kernels.h"

#if TANDEM_X86
#include <immintrin.h>

#include <cstddef>

#define TANDEM_AVX2 [[gnu::target("avx2,fma")]]

namespace tandem::engine {
namespace {

constexpr std::ptrdiff_t kLanes = 8, kWideLanes = 4;  // of fp32, of fp64

/// `Rows` rows from row m on, all columns of a panel.
template <bool Fused, int Rows>
TANDEM_AVX2 void ordered_block(const Bf16Ordered& o, uint32_t m, uint32_t panel) {
    constexpr int kVectors = 2;
    const float* rows = o.rows + uint64_t{m} * o.depth;
    const float* weights = o.tile + uint64_t{panel} * o.depth * o.width;
    __m256 sum[Rows][kVectors];
    for (int r = 0; r < Rows; ++r)
        for (int v = 0; v < kVectors; ++v) sum[r][v] = _mm256_setzero_ps();
    for (uint32_t k = 0; k < o.depth; ++k, weights += o.width) {
        __m256 weight[kVectors];
        for (int v = 0; v < kVectors; ++v) weight[v] = _mm256_loadu_ps(weights + kLanes * v);
        for (int r = 0; r < Rows; ++r) {
            const __m256 a = _mm256_set1_ps(rows[uint64_t{o.depth} * static_cast<unsigned>(r) + k]);
            for (int v = 0; v < kVectors; ++v)
                sum[r][v] = Fused ? _mm256_fmadd_ps(a, weight[v], sum[r][v])
                                  : _mm256_add_ps(sum[r][v], _mm256_mul_ps(a, weight[v]));
        }
    }
    float* sums = o.sums + (uint64_t{m} * o.panels + panel) * o.width;
    for (int r = 0; r < Rows; ++r, sums += uint64_t{o.panels} * o.width)
        for (int v = 0; v < kVectors; ++v) _mm256_storeu_ps(sums + kLanes * v, sum[r][v]);
}

/// The same in groups of four; vectors of four columns from column c of the panel on.
template <int Rows>
TANDEM_AVX2 void grouped_block(const Bf16Grouped& g, uint32_t m, uint32_t panel, uint32_t c) {
    constexpr int kVectors = 2;
    const double* rows = g.rows + uint64_t{m} * g.depth;
    const double* weights = g.tile + uint64_t{panel} * g.depth * g.width + c;
    const auto row = [&](int r) { return rows + uint64_t{g.depth} * static_cast<unsigned>(r); };
    __m128 sum[Rows][kVectors];
    for (int r = 0; r < Rows; ++r)
        for (int v = 0; v < kVectors; ++v) sum[r][v] = _mm_setzero_ps();
    for (uint32_t k = 0; k < g.depth; k += 4, weights += 4 * uint64_t{g.width}) {
        if (!g.exact[k / 4]) {
            for (int r = 0; r < Rows; ++r)
                for (int v = 0; v < kVectors; ++v) {
                    alignas(16) float group[4];
                    sum_group(row(r) + k, weights + kWideLanes * v, g.width, 4, group);
                    sum[r][v] = _mm_add_ps(sum[r][v], _mm_load_ps(group));
                }
            continue;
        }
        __m256d group[Rows][kVectors];
        for (uint32_t i = 0; i < 4; ++i) {
            __m256d weight[kVectors];
            for (int v = 0; v < kVectors; ++v)
                weight[v] = _mm256_loadu_pd(weights + uint64_t{i} * g.width + kWideLanes * v);
            for (int r = 0; r < Rows; ++r) {
                const __m256d a = _mm256_set1_pd(row(r)[k + i]);
                for (int v = 0; v < kVectors; ++v)
                    group[r][v] = i == 0 ? _mm256_mul_pd(a, weight[v])
                                         : _mm256_fmadd_pd(a, weight[v], group[r][v]);
            }
        }
        for (int r = 0; r < Rows; ++r)
            for (int v = 0; v < kVectors; ++v)
                sum[r][v] = _mm_add_ps(sum[r][v], _mm256_cvtpd_ps(group[r][v]));
    }
    float* sums = g.sums + (uint64_t{m} * g.panels + panel) * g.width + c;
    for (int r = 0; r < Rows; ++r, sums += uint64_t{g.panels} * g.width)
        for (int v = 0; v < kVectors; ++v) _mm_storeu_ps(sums + kWideLanes * v, sum[r][v]);
}

template <bool Fused>
void cover(const Bf16Ordered& o) {
    constexpr uint32_t kMany = 6;
    for (uint32_t panel = 0; panel < o.panels; ++panel) {
        uint32_t m = 0;
        for (; m + kMany <= o.row_count; m += kMany) ordered_block<Fused, kMany>(o, m, panel);
        for (; m < o.row_count; ++m) ordered_block<Fused, 1>(o, m, panel);
    }
}

}  // namespace

void ordered_avx2(const Bf16Ordered& o, bool fused) { fused ? cover<true>(o) : cover<false>(o); }

void grouped_avx2(const Bf16Grouped& g) {
    constexpr uint32_t kRows = 2, kColumns = 8;
    for (uint32_t panel = 0; panel < g.panels; ++panel)
        for (uint32_t c = 0; c < g.width; c += kColumns) {
            uint32_t m = 0;
            for (; m + kRows <= g.row_count; m += kRows) grouped_block<kRows>(g, m, panel, c);
            for (; m < g.row_count; ++m) grouped_block<1>(g, m, panel, c);
        }
}

}  // namespace tandem::engine
#endif
