// SPDX-License-Identifier: Apache-2.0
// bf16 matrix product of one weight tile, at the host's speed. Column sums are formed strictly in
// the array's order, as docs/numerics.md states them. One source for several instruction sets,
// chosen when the program runs; all give the same bits.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/gemm_bf16_kernels.h"

namespace tandem::engine {

enum class Bf16Kernel : uint8_t { kPlain, kAvx2, kAvx512 };

/// The best kernel of this machine.
Bf16Kernel best_bf16_kernel();
std::string_view to_string(Bf16Kernel kernel);

/// sums[m][c] (+)= sum over k < k_len of rows[m][k] * tile[k][c], k upwards.
/// rows: row_count x row_stride bf16; tile: k_len x cols bf16; sums: row_count x cols fp32; all as
/// bit patterns. The array's rows from k_len on carry zeros, as activation and as weight.
class GemmBf16 {
  public:
    explicit GemmBf16(Bf16Kernel kernel = best_bf16_kernel()) : kernel_(kernel) {}

    /// `sum4`: the products of four rows of the array at a time are added with one rounding.
    /// `tile_id`: a tile that is not 0 and that of the call before is the same, and not packed
    /// again.
    void multiply(const uint16_t* rows, uint32_t row_count, uint32_t row_stride,
                  const uint16_t* tile, uint32_t k_len, uint32_t array_rows, uint32_t cols,
                  bool accumulate, int32_t* sums, bool sum4, uint64_t tile_id = 0);

  private:
    /// The tile that stands in the scratch memory.
    struct Packed {
        uint64_t tile_id = 0;
        uint32_t k_len = 0, cols = 0;
        bool sum4 = false;
        friend bool operator==(const Packed&, const Packed&) = default;
    };

    void load_tile(const Bf16Product& product, uint32_t width, bool sum4, uint64_t tile_id);
    void sum_in_order(const Bf16Product& product, uint32_t width, const Bf16Accumulators& to);
    void sum_in_groups(const Bf16Product& product, uint32_t width, const Bf16Accumulators& to);
    void finish_all(const Bf16Product& product, uint32_t width, const Bf16Accumulators& to);

    Packed packed_;
    Bf16Kernel kernel_;
    Bf16Scratch scratch_;
};

}  // namespace tandem::engine
