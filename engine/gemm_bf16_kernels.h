// SPDX-License-Identifier: Apache-2.0
// The kernels behind GemmBf16. Each forms the column sums of packed operands; what happens at the
// accumulators is the caller's business. The kernels of an instruction set expect the modes that
// GemmBf16 sets: to nearest even, tiny results become zero.
#pragma once

#include <cstdint>
#include <vector>

#if defined(__x86_64__)
#define TANDEM_X86 1
#endif

namespace tandem::engine {

struct Bf16Product {
    const uint16_t* rows;
    uint32_t row_count, row_stride;
    const uint16_t* tile;
    uint32_t k_len, cols;
};

/// Packed elements, subnormals flushed: a row has its k side by side; a panel of the tile is
/// `width` columns, k by k. Sums are rows of panels x width, those beyond the tile thrown away.
template <class Element>
struct Bf16Operands {
    const Element* rows;  ///< row_count x depth
    const Element* tile;  ///< panels x depth x width
    float* sums;          ///< row_count x panels x width
    uint32_t row_count, depth, panels, width;
};

/// Rows as they come, not packed; a packed tile.
struct Bf16Unpacked {
    const uint16_t* rows;
    const float* tile;  ///< panels x depth x width
    uint32_t row_stride, row_count, depth, panels, width;
};

/// Where column sums go in the end. As bit patterns of fp32; every NaN becomes the one of
/// docs/numerics.md.
struct Bf16Accumulators {
    int32_t* sums;  ///< `cols` apart
    uint32_t cols;
    bool add_zero;    ///< rows of the array that carry zeros add +0 before
    bool accumulate;  ///< add to what is there
};

/// One product after the other. `fused`: the caller promises that no product overflows or is tiny,
/// so that each is exact and a fused multiply-add gives what multiplying and adding gives.
using Bf16Ordered = Bf16Operands<float>;
/// Four products at a time; depth is a multiple of four. double holds every product.
/// `exact`, per group of four: its sums fit a double, and no product overflows or is tiny.
struct Bf16Grouped : Bf16Operands<double> {
    const uint8_t* exact;
};

void ordered_plain(const Bf16Ordered& operands);
void grouped_plain(const Bf16Grouped& operands);
/// The sums of one group of four of one row with `count` columns, whatever the values.
void sum_group(const double* row, const double* tile, uint32_t width, uint32_t count, float* sums);

#if TANDEM_X86
void ordered_avx2(const Bf16Ordered& operands, bool fused);
void grouped_avx2(const Bf16Grouped& operands);
/// Brings its sums into the accumulators by itself.
void ordered_avx512(const Bf16Unpacked& operands, const Bf16Accumulators& to, bool fused);
void grouped_avx512(const Bf16Grouped& operands);
#endif

/// Packed operands, kept between calls for their memory.
struct Bf16Scratch {
    /// Exponents that occur among finite numbers other than zero, per k: the least one less one,
    /// the greatest one plus one.
    struct Range {
        std::vector<uint16_t> low, high;
    };
    std::vector<float> rows, tile, sums;
    std::vector<double> wide_rows, wide_tile;
    std::vector<uint8_t> exact;
    Range row_range, tile_range;
};

}  // namespace tandem::engine
