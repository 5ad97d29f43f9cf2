// SPDX-License-Identifier: Apache-2.0
#include "testbench/numerics/mpfr_oracle.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace tandem::testbench {
namespace {

// MPFR's exponent e of x means 2^(e-1) <= |x| < 2^e.
constexpr mpfr_exp_t kLargestExponent = 128;    // of a finite fp32: |x| < 2^128
constexpr mpfr_exp_t kSmallestExponent = -125;  // of a normal one: |x| >= 2^-126

constexpr uint32_t kSign = 0x80000000;
constexpr uint32_t kInfinity = 0x7f800000;
constexpr uint32_t kFraction = 0x007fffff;
constexpr int kFractionBits = 23;
constexpr int kBias = 127;

/// Values that are exact by argument must be so by MPFR's own account too.
void require_exact(int ternary, const char* what) {
    if (ternary != 0) throw std::logic_error(std::string("MPFR oracle: inexact ") + what);
}

}  // namespace

MpfrOracle::MpfrOracle() {
    for (const mpfr_ptr operand : {a_, b_, c_, d_, rounded_}) mpfr_init2(operand, kSignificand);
    mpfr_init2(wide_, kExact);
}

MpfrOracle::~MpfrOracle() {
    for (const mpfr_ptr number : {a_, b_, c_, d_, rounded_, wide_}) mpfr_clear(number);
}

void MpfrOracle::load(mpfr_t to, uint32_t bits) {
    const int sign = (bits & kSign) != 0 ? -1 : 1;
    const int exponent = static_cast<int>((bits & ~kSign) >> kFractionBits);
    const uint32_t fraction = bits & kFraction;
    if (exponent == 0) {  // zero, or a subnormal operand: counts as zero
        mpfr_set_zero(to, sign);
    } else if (exponent == 0xff && fraction != 0) {
        mpfr_set_nan(to);
    } else if (exponent == 0xff) {
        mpfr_set_inf(to, sign);
    } else {
        const auto significand = static_cast<long>(fraction | (kFraction + 1));
        require_exact(
            mpfr_set_si_2exp(to, sign * significand, exponent - kBias - kFractionBits, MPFR_RNDN),
            "operand");
    }
}

uint32_t MpfrOracle::store(const mpfr_t from) {
    if (mpfr_nan_p(from)) return kNan;
    const uint32_t sign = mpfr_signbit(from) ? kSign : 0;
    if (mpfr_zero_p(from)) return sign;
    if (mpfr_inf_p(from)) return sign | kInfinity;
    const mpfr_exp_t exponent = mpfr_get_exp(from);
    if (exponent > kLargestExponent) return sign | kInfinity;
    if (exponent < kSmallestExponent) return sign;  // flushed
    // The significand as an integer in [2^23, 2^24).
    require_exact(mpfr_mul_2si(rounded_, from, kSignificand - exponent, MPFR_RNDN), "scaling");
    const long significand = mpfr_get_si(rounded_, MPFR_RNDN);
    const auto magnitude = static_cast<uint32_t>(significand < 0 ? -significand : significand);
    const auto biased = static_cast<uint32_t>(exponent - 1 + kBias);
    return sign | biased << kFractionBits | (magnitude & kFraction);
}

uint32_t MpfrOracle::product(uint16_t a, uint16_t b) {
    load(a_, uint32_t{a} << 16);
    load(b_, uint32_t{b} << 16);
    require_exact(mpfr_mul(rounded_, a_, b_, MPFR_RNDN), "product of two bf16");
    inexact_ = false;
    return store(rounded_);
}

uint32_t MpfrOracle::sum(uint32_t a, uint32_t b) {
    load(a_, a);
    load(b_, b);
    // A nonzero sum below 2^-126 is a multiple of 2^-149: it fits 24 bits, so that it is exact here
    // and store() judges the exact sum. A sum that rounds up to 2^128 has overflowed.
    inexact_ = mpfr_add(rounded_, a_, b_, MPFR_RNDN) != 0;
    return store(rounded_);
}

uint32_t MpfrOracle::sum4(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    load(a_, a);
    load(b_, b);
    load(c_, c);
    load(d_, d);
    require_exact(mpfr_add(wide_, a_, b_, MPFR_RNDN), "sum of two");
    require_exact(mpfr_add(wide_, wide_, c_, MPFR_RNDN), "sum of three");
    require_exact(mpfr_add(wide_, wide_, d_, MPFR_RNDN), "sum of four");
    inexact_ = mpfr_set(rounded_, wide_, MPFR_RNDN) != 0;
    return store(rounded_);
}

uint32_t MpfrOracle::column_sum(std::span<const uint16_t> activations,
                                std::span<const uint16_t> weights, bool groups_of_four) {
    return column_sum_from(0, 0, activations, weights, groups_of_four);
}

uint32_t MpfrOracle::column_sum_from(uint32_t partial, std::size_t first,
                                     std::span<const uint16_t> activations,
                                     std::span<const uint16_t> weights, bool groups_of_four) {
    const std::size_t rows = activations.size();
    const std::size_t step = groups_of_four ? 4 : 1;
    bool inexact = false;
    for (std::size_t group = first; group < rows; group += step) {
        std::array<uint32_t, 4> products{};  // +0
        for (std::size_t r = group; r < std::min(group + step, rows); ++r)
            products[r - group] = product(activations[r], weights[r]);
        const uint32_t addend =
            groups_of_four ? sum4(products[0], products[1], products[2], products[3]) : products[0];
        inexact = inexact || (groups_of_four && inexact_);
        partial = sum(partial, addend);
        inexact = inexact || inexact_;
    }
    inexact_ = inexact;
    return partial;
}

}  // namespace tandem::testbench
