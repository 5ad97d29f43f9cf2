// SPDX-License-Identifier: Apache-2.0
// The instruction multiplies unsigned by signed bytes, so activations are biased: with u = a + 128,
// sum(a * w) = sum(u * w) - 128 * sum(w), and the last is a constant of the column. All sums wrap,
// hence the correction is exact.
#include "engine/gemm_int8_kernels.h"

#if TANDEM_X86
#include <immintrin.h>

#include <algorithm>
#include <cstring>

#define TANDEM_VNNI [[gnu::target("avx512f,avx512bw,avx512vl,avx512vnni")]]

namespace tandem::engine {
namespace {

constexpr uint32_t kLanes = 16;       // columns of a vector
constexpr uint32_t kMostVectors = 4;  // of a panel
constexpr uint32_t kPanel = kMostVectors * kLanes;

/// What a block of the product needs; columns beyond `valid` are computed and thrown away.
struct Block {
    const int8_t* rows;   ///< `row_stride` apart
    const int8_t* quads;  ///< of the panel
    const int32_t* bias;  ///< per column
    int32_t* sums;        ///< `cols` apart
    uint32_t row_stride, quad_count, cols, valid;
    bool accumulate;
};

int32_t quad_at(const int8_t* at) {
    int32_t quad;
    std::memcpy(&quad, at, sizeof quad);
    return quad;
}

// Sums stay in registers only where the compiler knows every index, hence the unrolling.
template <int Rows, int Vectors>
TANDEM_VNNI void block(const Block& b) {
    const auto row_of_sums = [&](int r) {
        return b.sums + uint64_t{b.cols} * static_cast<unsigned>(r);
    };
    const __m512i sign = _mm512_set1_epi8(-128);
    __m512i sum[Rows][Vectors];
    __mmask16 mask[Vectors];
#pragma GCC unroll 16
    for (int v = 0; v < Vectors; ++v) {
        const int left = static_cast<int>(b.valid) - v * 16;
        mask[v] = static_cast<__mmask16>(left >= 16 ? 0xffff : (1 << std::max(left, 0)) - 1);
    }
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 16
        for (int v = 0; v < Vectors; ++v) {
            sum[r][v] = _mm512_loadu_si512(b.bias + 16 * v);
            if (b.accumulate)  // needed when all is multiplied
                _mm_prefetch(reinterpret_cast<const char*>(row_of_sums(r) + 16 * v), _MM_HINT_T0);
        }
    const int8_t* quads = b.quads;
    for (uint32_t q = 0; q < b.quad_count; ++q, quads += 64 * Vectors) {
        __m512i weights[Vectors];
#pragma GCC unroll 16
        for (int v = 0; v < Vectors; ++v) weights[v] = _mm512_loadu_si512(quads + 64 * v);
#pragma GCC unroll 16
        for (int r = 0; r < Rows; ++r) {
            const int32_t quad =
                quad_at(b.rows + uint64_t{b.row_stride} * static_cast<unsigned>(r) + 4 * q);
            const __m512i a = _mm512_xor_si512(_mm512_set1_epi32(quad), sign);
#pragma GCC unroll 16
            for (int v = 0; v < Vectors; ++v)
                sum[r][v] = _mm512_dpbusd_epi32(sum[r][v], a, weights[v]);
        }
    }
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 16
        for (int v = 0; v < Vectors; ++v) {
            int32_t* to = row_of_sums(r) + v * 16;
            if (b.accumulate)
                sum[r][v] = _mm512_add_epi32(sum[r][v], _mm512_maskz_loadu_epi32(mask[v], to));
            _mm512_mask_storeu_epi32(to, mask[v], sum[r][v]);
        }
}

/// Four rows of the tile, `count` columns of 16 or less, interleaved. Returns their sums.
TANDEM_VNNI __m512i pack_quad(const int8_t* const rows[4], uint32_t count, int8_t* out) {
    const __mmask16 mask = static_cast<__mmask16>((1u << count) - 1);
    __m128i row[4];
    for (int i = 0; i < 4; ++i)
        row[i] = rows[i] == nullptr ? _mm_setzero_si128() : _mm_maskz_loadu_epi8(mask, rows[i]);
    const __m128i low01 = _mm_unpacklo_epi8(row[0], row[1]),
                  high01 = _mm_unpackhi_epi8(row[0], row[1]),
                  low23 = _mm_unpacklo_epi8(row[2], row[3]),
                  high23 = _mm_unpackhi_epi8(row[2], row[3]);
    auto* to = reinterpret_cast<__m128i*>(out);
    _mm_storeu_si128(to, _mm_unpacklo_epi16(low01, low23));
    _mm_storeu_si128(to + 1, _mm_unpackhi_epi16(low01, low23));
    _mm_storeu_si128(to + 2, _mm_unpacklo_epi16(high01, high23));
    _mm_storeu_si128(to + 3, _mm_unpackhi_epi16(high01, high23));
    return _mm512_dpbusd_epi32(_mm512_setzero_si512(), _mm512_set1_epi8(1),
                               _mm512_loadu_si512(out));
}

uint32_t vectors_of_panel(uint32_t cols, uint32_t first_column) {
    return (std::min(kPanel, cols - first_column) + kLanes - 1) / kLanes;
}

/// Panels one after the other; in each, quads of rows one after the other.
TANDEM_VNNI void pack_tile(const Int8Product& p, Int8Scratch& scratch) {
    const uint32_t quads = (p.k_len + 3) / 4;
    const uint32_t columns = (p.cols + kLanes - 1) / kLanes * kLanes;
    scratch.quads.resize(4 * uint64_t{quads} * columns);
    scratch.bias.resize(columns);
    int8_t* panel = scratch.quads.data();
    for (uint32_t first = 0; first < p.cols; first += kPanel) {
        const uint32_t vectors = vectors_of_panel(p.cols, first);
        for (uint32_t v = 0; v < vectors; ++v) {
            const uint32_t c = first + v * kLanes;
            __m512i sum = _mm512_setzero_si512();
            for (uint32_t q = 0; q < quads; ++q) {
                const int8_t* rows[4];
                for (uint32_t i = 0; i < 4; ++i)
                    rows[i] =
                        4 * q + i < p.k_len ? p.tile + (uint64_t{4 * q} + i) * p.cols + c : nullptr;
                int8_t* to = panel + 64 * (uint64_t{q} * vectors + v);
                sum = _mm512_add_epi32(sum, pack_quad(rows, std::min(kLanes, p.cols - c), to));
            }
            _mm512_storeu_si512(scratch.bias.data() + c,
                                _mm512_mullo_epi32(sum, _mm512_set1_epi32(-128)));
        }
        panel += 64 * uint64_t{quads} * vectors;
    }
}

/// Rows that end within a quad, filled up with zeros.
Int8Product with_whole_quads(Int8Product p, Int8Scratch& scratch) {
    const uint32_t stride = (p.k_len + 3) / 4 * 4;
    scratch.padded_rows.assign(uint64_t{p.row_count} * stride, 0);
    for (uint32_t m = 0; m < p.row_count; ++m)
        std::memcpy(scratch.padded_rows.data() + uint64_t{m} * stride,
                    p.rows + uint64_t{m} * p.row_stride, p.k_len);
    p.rows = scratch.padded_rows.data();
    p.row_stride = stride;
    return p;
}

/// One panel; rows in blocks of `Many`, of `Some`, and then one by one.
template <int Many, int Some, int Vectors>
void cover(uint32_t row_count, const Block& b) {
    const auto rows_from = [&](uint32_t m) {
        Block at = b;
        at.rows += uint64_t{m} * b.row_stride;
        at.sums += uint64_t{m} * b.cols;
        return at;
    };
    uint32_t m = 0;
    for (; m + Many <= row_count; m += Many) block<Many, Vectors>(rows_from(m));
    for (; m + Some <= row_count; m += Some) block<Some, Vectors>(rows_from(m));
    for (; m < row_count; ++m) block<1, Vectors>(rows_from(m));
}

void cover_panel(uint32_t row_count, const Block& b, uint32_t vectors) {
    switch (vectors) {
        case 1:
            return cover<12, 4, 1>(row_count, b);
        case 2:
            return cover<12, 4, 2>(row_count, b);
        case 3:
            return cover<8, 4, 3>(row_count, b);
        default:
            return cover<6, 2, 4>(row_count, b);
    }
}

}  // namespace

void multiply_vnni(const Int8Product& product, bool same_tile, Int8Scratch& scratch) {
    if (!same_tile) pack_tile(product, scratch);
    const Int8Product p = product.k_len % 4 == 0 ? product : with_whole_quads(product, scratch);
    const uint32_t quads = (p.k_len + 3) / 4;
    const int8_t* panel = scratch.quads.data();
    for (uint32_t c = 0; c < p.cols; c += kPanel) {
        const uint32_t vectors = vectors_of_panel(p.cols, c);
        cover_panel(p.row_count,
                    {p.rows, panel, scratch.bias.data() + c, p.sums + c, p.row_stride, quads,
                     p.cols, p.cols - c, p.accumulate},
                    vectors);
        panel += 64 * uint64_t{quads} * vectors;
    }
}

}  // namespace tandem::engine
#endif
