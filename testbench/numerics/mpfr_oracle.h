// SPDX-License-Identifier: Apache-2.0
// bf16 arithmetic of the array (docs/numerics.md) by MPFR: sums are formed exactly, or rounded by
// MPFR with an unlimited exponent, and judged against fp32's range afterwards. It shares no code
// with arch/bf16.h, the GEMM kernels or the RTL, and no operation of it depends on the modes of the
// host's FPU.
#pragma once

#include <mpfr.h>

#include <cstdint>
#include <span>

namespace tandem::testbench {

/// Operands and results are bit patterns. Not for use by several threads at a time.
class MpfrOracle {
  public:
    static constexpr uint32_t kNan = 0x7fc00000;  ///< the only NaN that comes out

    MpfrOracle();
    ~MpfrOracle();
    MpfrOracle(const MpfrOracle&) = delete;
    MpfrOracle& operator=(const MpfrOracle&) = delete;

    /// bf16 times bf16, as fp32.
    uint32_t product(uint16_t a, uint16_t b);

    /// fp32 plus fp32.
    uint32_t sum(uint32_t a, uint32_t b);

    /// Four fp32, added exactly and rounded once.
    uint32_t sum4(uint32_t a, uint32_t b, uint32_t c, uint32_t d);

    /// What one column of the array makes of a row: `activations[r]` times `weights[r]`, row 0
    /// first, starting from +0. With `groups_of_four` the products are taken in fours (sum4), a
    /// short last group filled up with +0.
    uint32_t column_sum(std::span<const uint16_t> activations, std::span<const uint16_t> weights,
                        bool groups_of_four = false);

    /// The same from row `first` on (the first of a group), with `partial` from above.
    uint32_t column_sum_from(uint32_t partial, std::size_t first,
                             std::span<const uint16_t> activations,
                             std::span<const uint16_t> weights, bool groups_of_four);

    /// Accumulator row element after a column sum was committed to it.
    uint32_t commit(uint32_t accumulator, uint32_t column, bool accumulate) {
        return accumulate ? sum(accumulator, column) : column;
    }

    /// Whether the last product, sum or sum4 was rounded; of a column any of its additions.
    bool inexact() const { return inexact_; }

  private:
    static constexpr mpfr_prec_t kSignificand = 24;  ///< of fp32
    /// fp32 values are multiples of 2^-149 below 2^128: 277 bits, and two for the carries of four.
    static constexpr mpfr_prec_t kExact = 279;

    static void load(mpfr_t to, uint32_t bits);
    uint32_t store(const mpfr_t from);

    mpfr_t a_, b_, c_, d_;  // operands, exact
    mpfr_t rounded_, wide_;
    bool inexact_ = false;
};

}  // namespace tandem::testbench
