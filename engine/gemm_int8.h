// SPDX-License-Identifier: Apache-2.0
// int8 matrix product of one weight tile, at the host's speed. Exact: int32 sums that wrap. One
// source for several instruction sets, chosen when the program runs; all give the same bits.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/gemm_int8_kernels.h"

namespace tandem::engine {

enum class GemmKernel : uint8_t { kPlain, kAvx2, kAvx512Vnni };

/// The best kernel of this machine.
GemmKernel best_gemm_kernel();
std::string_view to_string(GemmKernel kernel);

/// sums[m][c] (+)= sum over k < k_len of rows[m][k] * tile[k][c].
/// rows: row_count x row_stride int8; tile: k_len x cols int8; sums: row_count x cols int32.
/// `tile_id`: a tile that is not 0 and that of the call before is the same, and not packed again.
class GemmInt8 {
  public:
    explicit GemmInt8(GemmKernel kernel = best_gemm_kernel()) : kernel_(kernel) {}
    void multiply(const int8_t* rows, uint32_t row_count, uint32_t row_stride, const int8_t* tile,
                  uint32_t k_len, uint32_t cols, bool accumulate, int32_t* sums,
                  uint64_t tile_id = 0);

  private:
    /// A tile as it is packed in the scratch memory.
    struct Packed {
        uint64_t tile_id = 0;
        uint32_t k_len = 0, cols = 0;
        friend bool operator==(const Packed&, const Packed&) = default;
    };

    Packed packed_;  ///< stands there
    Packed last_;    ///< of the last product
    GemmKernel kernel_;
    Int8Scratch scratch_;
};

}  // namespace tandem::engine
