// SPDX-License-Identifier: Apache-2.0
#include "systemc/mxu/gemm_bf16_kernels.h"

#if TANDEM_X86
#include <immintrin.h>

#include <cstddef>

#define TANDEM_AVX512 [[gnu::target("avx512f")]]

namespace tandem::mxu {
namespace {

constexpr std::ptrdiff_t kLanes = 16, kWideLanes = 8;  // of fp32, of fp64

/// `Rows` rows from row m on, all columns of a panel.
template <bool Fused, int Rows, int Vectors>
TANDEM_AVX512 void ordered_block(const Bf16Ordered& o, uint32_t m, uint32_t panel) {
    const float* rows = o.rows + uint64_t{m} * o.depth;
    const float* weights = o.tile + uint64_t{panel} * o.depth * o.width;
    __m512 sum[Rows][Vectors];
    for (int r = 0; r < Rows; ++r)
        for (int v = 0; v < Vectors; ++v) sum[r][v] = _mm512_setzero_ps();
    for (uint32_t k = 0; k < o.depth; ++k, weights += o.width) {
        __m512 weight[Vectors];
        for (int v = 0; v < Vectors; ++v) weight[v] = _mm512_loadu_ps(weights + kLanes * v);
        for (int r = 0; r < Rows; ++r) {
            const __m512 a = _mm512_set1_ps(rows[uint64_t{o.depth} * static_cast<unsigned>(r) + k]);
            for (int v = 0; v < Vectors; ++v)
                sum[r][v] = Fused ? _mm512_fmadd_ps(a, weight[v], sum[r][v])
                                  : _mm512_add_ps(sum[r][v], _mm512_mul_ps(a, weight[v]));
        }
    }
    float* sums = o.sums + (uint64_t{m} * o.panels + panel) * o.width;
    for (int r = 0; r < Rows; ++r, sums += uint64_t{o.panels} * o.width)
        for (int v = 0; v < Vectors; ++v) _mm512_storeu_ps(sums + kLanes * v, sum[r][v]);
}

/// Masked, for GCC 12 takes the plain one for a use of something uninitialised.
TANDEM_AVX512 inline __m256 to_fp32(__m512d x) { return _mm512_maskz_cvtpd_ps(0xff, x); }

/// The same in groups of four; vectors of eight columns from column c of the panel on.
template <int Rows, int Vectors>
TANDEM_AVX512 void grouped_block(const Bf16Grouped& g, uint32_t m, uint32_t panel, uint32_t c) {
    const double* rows = g.rows + uint64_t{m} * g.depth;
    const double* weights = g.tile + uint64_t{panel} * g.depth * g.width + c;
    const auto row = [&](int r) { return rows + uint64_t{g.depth} * static_cast<unsigned>(r); };
    __m256 sum[Rows][Vectors];
    for (int r = 0; r < Rows; ++r)
        for (int v = 0; v < Vectors; ++v) sum[r][v] = _mm256_setzero_ps();
    for (uint32_t k = 0; k < g.depth; k += 4, weights += 4 * uint64_t{g.width}) {
        if (!g.exact[k / 4]) {
            for (int r = 0; r < Rows; ++r)
                for (int v = 0; v < Vectors; ++v) {
                    alignas(32) float group[8];
                    sum_group(row(r) + k, weights + kWideLanes * v, g.width, 8, group);
                    sum[r][v] = _mm256_add_ps(sum[r][v], _mm256_load_ps(group));
                }
            continue;
        }
        __m512d group[Rows][Vectors];
        for (uint32_t i = 0; i < 4; ++i) {
            __m512d weight[Vectors];
            for (int v = 0; v < Vectors; ++v)
                weight[v] = _mm512_loadu_pd(weights + uint64_t{i} * g.width + kWideLanes * v);
            for (int r = 0; r < Rows; ++r) {
                const __m512d a = _mm512_set1_pd(row(r)[k + i]);
                for (int v = 0; v < Vectors; ++v)
                    group[r][v] = i == 0 ? _mm512_mul_pd(a, weight[v])
                                         : _mm512_fmadd_pd(a, weight[v], group[r][v]);
            }
        }
        for (int r = 0; r < Rows; ++r)
            for (int v = 0; v < Vectors; ++v)
                sum[r][v] = _mm256_add_ps(sum[r][v], to_fp32(group[r][v]));
    }
    float* sums = g.sums + (uint64_t{m} * g.panels + panel) * g.width + c;
    for (int r = 0; r < Rows; ++r, sums += uint64_t{g.panels} * g.width)
        for (int v = 0; v < Vectors; ++v) _mm256_storeu_ps(sums + kWideLanes * v, sum[r][v]);
}

template <bool Fused, int Vectors>
void cover(const Bf16Ordered& o) {
    constexpr uint32_t kMany = 12, kSome = 4;
    for (uint32_t panel = 0; panel < o.panels; ++panel) {
        uint32_t m = 0;
        for (; m + kMany <= o.row_count; m += kMany)
            ordered_block<Fused, kMany, Vectors>(o, m, panel);
        for (; m + kSome <= o.row_count; m += kSome)
            ordered_block<Fused, kSome, Vectors>(o, m, panel);
        for (; m < o.row_count; ++m) ordered_block<Fused, 1, Vectors>(o, m, panel);
    }
}

}  // namespace

void ordered_avx512(const Bf16Ordered& o, bool fused) {
    if (o.width == 32)
        fused ? cover<true, 2>(o) : cover<false, 2>(o);
    else
        fused ? cover<true, 1>(o) : cover<false, 1>(o);
}

void grouped_avx512(const Bf16Grouped& g) {
    constexpr uint32_t kRows = 4, kColumns = 16;
    for (uint32_t panel = 0; panel < g.panels; ++panel)
        for (uint32_t c = 0; c < g.width; c += kColumns) {
            uint32_t m = 0;
            for (; m + kRows <= g.row_count; m += kRows) grouped_block<kRows, 2>(g, m, panel, c);
            for (; m < g.row_count; ++m) grouped_block<1, 2>(g, m, panel, c);
        }
}

}  // namespace tandem::mxu
#endif
