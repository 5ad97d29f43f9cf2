// SPDX-License-Identifier: Apache-2.0
// Any processor: fp32 by way of double, which has room for what is tiny in fp32, and integers.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "arch/bf16.h"
#include "engine/gemm_bf16_kernels.h"

namespace tandem::engine {
namespace {

/// Beyond fp32 is infinity, below its normal numbers zero.
/// Rounding a sum of two fp32 to double first is harmless: 53 bits are more than twice 24 and two.
/// A tiny sum is exact in either, so that rounding does not make it a normal one.
float to_fp32(double x) {
    constexpr double kLeast = 0x1p-126;
    return static_cast<float>(std::fabs(x) < kLeast ? std::copysign(0.0, x) : x);
}

/// A product, exact in double, as the array's fp32 has it.
double product(double a, double b) { return to_fp32(a * b); }

/// value + rest is a + b exactly, value that sum rounded.
struct TwoSum {
    double value, rest;
    TwoSum(double a, double b) : value(a + b) {
        const double of_b = value - a;
        rest = (a - (value - of_b)) + (b - of_b);
    }
};

/// value + rest, |rest| less than a bit of value, cut off to a double whose last bit is set when
/// something was lost. It rounds to fp32 as value + rest does.
double rounded_to_odd(const TwoSum& sum) {
    const auto bits = std::bit_cast<uint64_t>(sum.value), rest = std::bit_cast<uint64_t>(sum.rest);
    const uint64_t inexact = sum.rest != 0 ? 1 : 0, below = (bits ^ rest) >> 63 & inexact;
    return std::bit_cast<double>((bits - below) | inexact);
}

/// Four products in integers.
float sum_in_integers(const std::array<double, 4>& products) {
    std::array<uint32_t, 4> addends;
    for (uint32_t k = 0; k < 4; ++k)
        addends[k] = std::bit_cast<uint32_t>(static_cast<float>(products[k]));
    return std::bit_cast<float>(bf16::sum4(addends));
}

/// Their exact sum, rounded once: in double, together with what its sums lose.
float sum_of(const std::array<double, 4>& products) {
    const TwoSum first(products[0], products[1]), second(products[2], products[3]);
    const TwoSum sum(first.value, second.value), lost(first.rest, second.rest);
    if (sum.rest == 0 && lost.value == 0) return to_fp32(sum.value);
    const TwoSum rest(sum.rest, lost.value), total(sum.value, rest.value);
    // The test holds for infinity too, whose rest is not a number.
    if (rest.rest != 0 || lost.rest != 0) return sum_in_integers(products);
    return to_fp32(rounded_to_odd(total));
}

}  // namespace

void ordered_plain(const Bf16Ordered& o) {
    for (uint32_t m = 0; m < o.row_count; ++m)
        for (uint32_t panel = 0; panel < o.panels; ++panel) {
            float* sums = o.sums + (uint64_t{m} * o.panels + panel) * o.width;
            std::fill_n(sums, o.width, 0.0f);
            for (uint32_t k = 0; k < o.depth; ++k) {
                const double a = o.rows[uint64_t{m} * o.depth + k];
                const float* weights = o.tile + (uint64_t{panel} * o.depth + k) * o.width;
                for (uint32_t c = 0; c < o.width; ++c)
                    sums[c] = to_fp32(double{sums[c]} + product(a, double{weights[c]}));
            }
        }
}

void sum_group(const double* row, const double* tile, uint32_t width, uint32_t count, float* sums) {
    for (uint32_t c = 0; c < count; ++c) {
        std::array<double, 4> products;
        for (uint32_t k = 0; k < 4; ++k)
            products[k] = product(row[k], tile[uint64_t{k} * width + c]);
        sums[c] = sum_of(products);
    }
}

void grouped_plain(const Bf16Grouped& g) {
    std::vector<float> group(g.width);
    for (uint32_t m = 0; m < g.row_count; ++m)
        for (uint32_t panel = 0; panel < g.panels; ++panel) {
            float* sums = g.sums + (uint64_t{m} * g.panels + panel) * g.width;
            std::fill_n(sums, g.width, 0.0f);
            for (uint32_t k = 0; k < g.depth; k += 4) {
                sum_group(g.rows + uint64_t{m} * g.depth + k,
                          g.tile + (uint64_t{panel} * g.depth + k) * g.width, g.width, g.width,
                          group.data());
                for (uint32_t c = 0; c < g.width; ++c)
                    sums[c] = to_fp32(double{sums[c]} + double{group[c]});
            }
        }
}

}  // namespace tandem::engine
