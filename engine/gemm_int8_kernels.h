// SPDX-License-Identifier: Apache-2.0
// The kernels behind GemmInt8; arguments as there.
#pragma once

#include <cstdint>
#include <vector>

#if defined(__x86_64__)
#define TANDEM_X86 1
#endif

namespace tandem::engine {

struct Int8Product {
    const int8_t* rows;
    uint32_t row_count, row_stride;
    const int8_t* tile;
    uint32_t k_len, cols;
    bool accumulate;
    int32_t* sums;
};

/// Packed operands, kept between calls for their memory.
struct Int8Scratch {
    std::vector<int16_t> rows, tile;  ///< AVX2: neighbouring k side by side as pairs
    std::vector<int8_t> quads;        ///< VNNI: neighbouring k of the tile as quads
    std::vector<int8_t> padded_rows;  ///< VNNI: rows of whole quads
    std::vector<int32_t> bias;        ///< VNNI: per column
};

void multiply_plain(const Int8Product& product);
#if TANDEM_X86
/// `same_tile`: the tile, k_len and cols of the call before; its packed form still stands in
/// `scratch`.
void multiply_avx2(const Int8Product& product, bool same_tile, Int8Scratch& scratch);
void multiply_vnni(const Int8Product& product, bool same_tile, Int8Scratch& scratch);
#endif

}  // namespace tandem::engine
