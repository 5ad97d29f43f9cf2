// SPDX-License-Identifier: Apache-2.0
// The instruction multiplies unsigned by signed bytes, so weights are biased: with u = w + 128,
// sum(a * w) = sum(a * u) - 128 * sum(a). All sums wrap, hence the correction is exact.
#include "systemc/mxu/gemm_int8_kernels.h"

#if TANDEM_X86
#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#define TANDEM_VNNI [[gnu::target("avx512f,avx512bw,avx512vl,avx512vnni")]]

namespace tandem::mxu {
namespace {

constexpr uint32_t kLanes = 16;  // columns of a vector

/// What a block of the product needs; columns beyond `valid` are computed and thrown away.
struct Block {
    const int8_t* rows;    ///< `row_stride` apart
    const int32_t* tails;  ///< per row: its last, incomplete quad
    const int32_t* bias;   ///< per row
    const uint8_t* quads;  ///< of the tile, 4 * `stride` apart
    int32_t* sums;         ///< `cols` apart
    uint32_t row_stride, whole_quads, stride, cols, valid;
    bool tail, accumulate;
};

int32_t quad_at(const int8_t* at) {
    int32_t quad;
    std::memcpy(&quad, at, sizeof quad);
    return quad;
}

template <int Rows, int Vectors>
TANDEM_VNNI void block(const Block& b) {
    __m512i sum[Rows][Vectors];
    __mmask16 mask[Vectors];
    for (int v = 0; v < Vectors; ++v) {
        const int left = static_cast<int>(b.valid) - v * 16;
        mask[v] = static_cast<__mmask16>(left >= 16 ? 0xffff : (1 << std::max(left, 0)) - 1);
    }
    const auto row_of_sums = [&](int r) {
        return b.sums + uint64_t{b.cols} * static_cast<unsigned>(r);
    };
    for (int r = 0; r < Rows; ++r)
        for (int v = 0; v < Vectors; ++v) {
            sum[r][v] = _mm512_set1_epi32(b.bias[r]);
            if (b.accumulate)
                sum[r][v] = _mm512_add_epi32(
                    sum[r][v], _mm512_maskz_loadu_epi32(mask[v], row_of_sums(r) + v * 16));
        }
    const uint32_t quads = b.whole_quads + (b.tail ? 1 : 0);
    for (uint32_t q = 0; q < quads; ++q) {
        __m512i weights[Vectors];
        for (int v = 0; v < Vectors; ++v)
            weights[v] = _mm512_loadu_si512(
                b.quads + 4 * (uint64_t{q} * b.stride + static_cast<unsigned>(v) * kLanes));
        for (int r = 0; r < Rows; ++r) {
            const int32_t quad =
                q < b.whole_quads
                    ? quad_at(b.rows + uint64_t{b.row_stride} * static_cast<unsigned>(r) + 4 * q)
                    : b.tails[r];
            const __m512i a = _mm512_set1_epi32(quad);
            for (int v = 0; v < Vectors; ++v)
                sum[r][v] = _mm512_dpbusd_epi32(sum[r][v], weights[v], a);
        }
    }
    for (int r = 0; r < Rows; ++r)
        for (int v = 0; v < Vectors; ++v)
            _mm512_mask_storeu_epi32(row_of_sums(r) + v * 16, mask[v], sum[r][v]);
}

/// Four rows of the tile, `count` columns of 16 or less, interleaved and biased.
TANDEM_VNNI void pack_quad(const int8_t* const rows[4], uint32_t count, uint8_t* out) {
    const __mmask16 mask = static_cast<__mmask16>((1u << count) - 1);
    const __m128i bias = _mm_set1_epi8(-128);
    __m128i row[4];
    for (int i = 0; i < 4; ++i)
        row[i] = rows[i] == nullptr ? _mm_setzero_si128()
                                    : _mm_xor_si128(_mm_maskz_loadu_epi8(mask, rows[i]), bias);
    const __m128i low01 = _mm_unpacklo_epi8(row[0], row[1]),
                  high01 = _mm_unpackhi_epi8(row[0], row[1]),
                  low23 = _mm_unpacklo_epi8(row[2], row[3]),
                  high23 = _mm_unpackhi_epi8(row[2], row[3]);
    auto* to = reinterpret_cast<__m128i*>(out);
    _mm_storeu_si128(to, _mm_unpacklo_epi16(low01, low23));
    _mm_storeu_si128(to + 1, _mm_unpackhi_epi16(low01, low23));
    _mm_storeu_si128(to + 2, _mm_unpacklo_epi16(high01, high23));
    _mm_storeu_si128(to + 3, _mm_unpackhi_epi16(high01, high23));
}

void pack_tile(const Int8Product& p, uint32_t stride, Int8Scratch& scratch) {
    const uint32_t quads = (p.k_len + 3) / 4;
    scratch.quads.resize(4 * uint64_t{quads} * stride);
    for (uint32_t q = 0; q < quads; ++q)
        for (uint32_t c = 0; c < p.cols; c += kLanes) {
            const int8_t* rows[4];
            for (uint32_t i = 0; i < 4; ++i)
                rows[i] =
                    4 * q + i < p.k_len ? p.tile + (uint64_t{4 * q} + i) * p.cols + c : nullptr;
            pack_quad(rows, std::min(kLanes, p.cols - c),
                      scratch.quads.data() + 4 * (uint64_t{q} * stride + c));
        }
}

/// -128 * sum of a row.
TANDEM_VNNI int32_t bias_of(const int8_t* row, uint32_t k_len) {
    const __m512i ones = _mm512_set1_epi8(1);
    __m512i sum = _mm512_setzero_si512();
    for (uint32_t k = 0; k < k_len; k += 64) {
        const uint32_t left = k_len - k;
        const __mmask64 mask = left >= 64 ? ~__mmask64{0} : (__mmask64{1} << left) - 1;
        sum = _mm512_dpbusd_epi32(sum, ones, _mm512_maskz_loadu_epi8(mask, row + k));
    }
    alignas(64) int32_t parts[16];
    _mm512_store_si512(parts, sum);
    return -128 * std::accumulate(parts, parts + 16, 0);
}

void prepare_rows(const Int8Product& p, Int8Scratch& scratch) {
    scratch.tails.assign(p.row_count, 0);
    scratch.bias.resize(p.row_count);
    for (uint32_t m = 0; m < p.row_count; ++m) {
        const int8_t* row = p.rows + uint64_t{m} * p.row_stride;
        std::memcpy(&scratch.tails[m], row + p.k_len / 4 * 4, p.k_len % 4);
        scratch.bias[m] = bias_of(row, p.k_len);
    }
}

/// Columns in blocks of `Vectors`, rows in blocks of `Rows` and then one by one.
template <int Rows, int Vectors>
void cover(const Int8Product& p, uint32_t stride, const Int8Scratch& scratch) {
    for (uint32_t c = 0; c < p.cols; c += kLanes * Vectors)
        for (uint32_t m = 0; m < p.row_count;) {
            const Block b{p.rows + uint64_t{m} * p.row_stride,
                          scratch.tails.data() + m,
                          scratch.bias.data() + m,
                          scratch.quads.data() + 4 * uint64_t{c},
                          p.sums + uint64_t{m} * p.cols + c,
                          p.row_stride,
                          p.k_len / 4,
                          stride,
                          p.cols,
                          p.cols - c,
                          p.k_len % 4 != 0,
                          p.accumulate};
            const bool whole = m + Rows <= p.row_count;
            whole ? block<Rows, Vectors>(b) : block<1, Vectors>(b);
            m += whole ? Rows : 1;
        }
}

}  // namespace

void multiply_vnni(const Int8Product& p, Int8Scratch& scratch) {
    constexpr uint32_t kWide = 4 * kLanes;
    const uint32_t stride = (p.cols + kWide - 1) / kWide * kWide;
    pack_tile(p, stride, scratch);
    prepare_rows(p, scratch);
    if (p.cols <= kLanes)
        cover<12, 1>(p, stride, scratch);
    else
        cover<6, 4>(p, stride, scratch);
}

}  // namespace tandem::mxu
#endif
