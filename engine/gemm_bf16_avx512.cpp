// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm_bf16_kernels.h"

#if TANDEM_X86
#include <immintrin.h>

#include <cstddef>
#include <cstring>

#include "arch/bf16.h"

#define TANDEM_AVX512 [[gnu::target("avx512f")]]

namespace tandem::engine {
namespace {

constexpr uint32_t kLanes = 16;
constexpr std::ptrdiff_t kWideLanes = 8;  // of fp32, of fp64

/// The columns of a vector that an accumulator row has.
__mmask16 valid_lanes(uint32_t cols, uint32_t first) {
    if (cols >= first + kLanes) return 0xffff;
    return static_cast<__mmask16>(cols <= first ? 0 : (1u << (cols - first)) - 1);
}

/// Sums of one row from its accumulators' column c on.
TANDEM_AVX512 [[gnu::always_inline]] inline void finish(const Bf16Accumulators& to, int32_t* at,
                                                        __mmask16 valid, __m512 sum) {
    if (to.add_zero) sum = _mm512_add_ps(sum, _mm512_setzero_ps());
    if (to.accumulate) sum = _mm512_add_ps(_mm512_maskz_loadu_ps(valid, at), sum);
    const __m512i bits =
        _mm512_mask_mov_epi32(_mm512_castps_si512(sum), _mm512_cmp_ps_mask(sum, sum, _CMP_UNORD_Q),
                              _mm512_set1_epi32(static_cast<int>(bf16::kNan)));
    _mm512_mask_storeu_epi32(at, valid, bits);
}

/// Two neighbours of a row, the first one in the lower half.
uint32_t pair_at(const uint16_t* at) {
    uint32_t pair;
    std::memcpy(&pair, at, sizeof pair);
    return pair;
}

/// Adds the products of row r's activation with a row of weights. No function, for GCC keeps sums
/// that go through one in memory.
#define TANDEM_ADD_PRODUCTS(activation, weights)                             \
    for (int v = 0; v < Vectors; ++v)                                        \
    sum[r][v] = Fused ? _mm512_fmadd_ps(activation, (weights)[v], sum[r][v]) \
                      : _mm512_add_ps(sum[r][v], _mm512_mul_ps(activation, (weights)[v]))

/// `Rows` rows from row m on, all columns of a panel. Sums stay in registers only where the
/// compiler knows every index, hence the unrolling. Activations are widened on the way; subnormal
/// ones count as zero by the modes that are set.
template <bool Fused, int Rows, int Vectors>
TANDEM_AVX512 void ordered_block(const Bf16Unpacked& o, const Bf16Accumulators& to, uint32_t m,
                                 uint32_t panel) {
    int32_t* const first = to.sums + uint64_t{m} * to.cols + uint64_t{panel} * o.width;
    if (to.accumulate)  // needed when all is multiplied
#pragma GCC unroll 16
        for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 16
            for (int v = 0; v < Vectors; ++v)
                _mm_prefetch(reinterpret_cast<const char*>(
                                 first + uint64_t{to.cols} * static_cast<unsigned>(r) +
                                 kLanes * static_cast<unsigned>(v)),
                             _MM_HINT_T0);
    const float* weights = o.tile + uint64_t{panel} * o.depth * o.width;
    // A pointer for four rows each: as many as the registers hold.
    constexpr int kPointers = (Rows + 3) / 4;
    const uint64_t stride = o.row_stride;
    const uint16_t* rows[kPointers];
#pragma GCC unroll 16
    for (int p = 0; p < kPointers; ++p)
        rows[p] = o.rows + (uint64_t{m} + 4 * static_cast<unsigned>(p)) * stride;
    __m512 sum[Rows][Vectors];
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 16
        for (int v = 0; v < Vectors; ++v) sum[r][v] = _mm512_setzero_ps();
    for (uint32_t k = 0; k + 1 < o.depth; k += 2, weights += 2 * uint64_t{o.width}) {
        __m512 even[Vectors], odd[Vectors];
#pragma GCC unroll 16
        for (int v = 0; v < Vectors; ++v) {
            even[v] = _mm512_loadu_ps(weights + kLanes * static_cast<unsigned>(v));
            odd[v] = _mm512_loadu_ps(weights + o.width + kLanes * static_cast<unsigned>(v));
        }
#pragma GCC unroll 16
        for (int r = 0; r < Rows; ++r) {
            const __m512i pair = _mm512_set1_epi32(
                static_cast<int>(pair_at(rows[r / 4] + static_cast<unsigned>(r % 4) * stride)));
            const __m512 low = _mm512_castsi512_ps(_mm512_maskz_slli_epi32(0xffff, pair, 16)),
                         high = _mm512_castsi512_ps(
                             _mm512_and_si512(pair, _mm512_set1_epi32(~0xffff)));
#pragma GCC unroll 16
            TANDEM_ADD_PRODUCTS(low, even);
#pragma GCC unroll 16
            TANDEM_ADD_PRODUCTS(high, odd);
        }
#pragma GCC unroll 16
        for (int p = 0; p < kPointers; ++p) rows[p] += 2;
    }
    if (o.depth % 2 != 0) {
        __m512 last[Vectors];
#pragma GCC unroll 16
        for (int v = 0; v < Vectors; ++v)
            last[v] = _mm512_loadu_ps(weights + kLanes * static_cast<unsigned>(v));
#pragma GCC unroll 16
        for (int r = 0; r < Rows; ++r) {
            const uint32_t bits = rows[r / 4][static_cast<unsigned>(r % 4) * stride];
            const __m512 a = _mm512_castsi512_ps(_mm512_set1_epi32(static_cast<int>(bits << 16)));
#pragma GCC unroll 16
            TANDEM_ADD_PRODUCTS(a, last);
        }
    }
#pragma GCC unroll 16
    for (int v = 0; v < Vectors; ++v) {
        const uint32_t column = panel * o.width + kLanes * static_cast<uint32_t>(v);
        const __mmask16 valid = valid_lanes(to.cols, column);
#pragma GCC unroll 16
        for (int r = 0; r < Rows; ++r)
            finish(to,
                   first + uint64_t{to.cols} * static_cast<unsigned>(r) +
                       kLanes * static_cast<unsigned>(v),
                   valid, sum[r][v]);
    }
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
void cover(const Bf16Unpacked& o, const Bf16Accumulators& to) {
    constexpr uint32_t kMany = 12, kSome = 4;
    for (uint32_t panel = 0; panel < o.panels; ++panel) {
        uint32_t m = 0;
        for (; m + kMany <= o.row_count; m += kMany)
            ordered_block<Fused, kMany, Vectors>(o, to, m, panel);
        for (; m + kSome <= o.row_count; m += kSome)
            ordered_block<Fused, kSome, Vectors>(o, to, m, panel);
        for (; m < o.row_count; ++m) ordered_block<Fused, 1, Vectors>(o, to, m, panel);
    }
}

}  // namespace

void ordered_avx512(const Bf16Unpacked& o, const Bf16Accumulators& to, bool fused) {
    if (o.width == 32)
        fused ? cover<true, 2>(o, to) : cover<false, 2>(o, to);
    else
        fused ? cover<true, 1>(o, to) : cover<false, 1>(o, to);
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

}  // namespace tandem::engine
#endif
