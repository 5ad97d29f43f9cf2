// SPDX-License-Identifier: Apache-2.0
// Arithmetic of the vector unit, bit by bit as docs/numerics.md states it. Shared by everything
// that implements the machine; the oracle in testbench/support is written apart.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tandem::numerics {

enum class Rounding : uint8_t {
    kSingle = 0,    ///< fp32 multiplier, one rounding, half to even
    kGemmlowp = 1,  ///< Q31 multiplier, two roundings (TFLite's portable kernels)
};

/// Per-channel requantisation as it lies in the unified buffer.
struct ChannelParams {
    int32_t bias;
    uint32_t multiplier;  ///< fp32 bits (single) or Q31 in [2^30, 2^31) (gemmlowp)
    int32_t shift;        ///< gemmlowp: power of two, positive to the left; single: unused
};
static_assert(sizeof(ChannelParams) == 12);

/// int32 addition that wraps, as hardware does.
constexpr int32_t wrap_add(int32_t a, int32_t b) {
    return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}

/// fp32 to int32, half to even, saturating; NaN becomes 0.
inline int32_t round_half_even(float value) {
    if (std::isnan(value)) return 0;
    if (value >= 2147483648.0f) return std::numeric_limits<int32_t>::max();
    if (value < -2147483648.0f) return std::numeric_limits<int32_t>::min();
    return static_cast<int32_t>(std::nearbyint(value));
}

/// Saturating rounding doubling high multiply: (a * b) / 2^31, ties toward plus infinity.
constexpr int32_t doubling_high_multiply(int32_t a, int32_t b) {
    if (a == b && a == std::numeric_limits<int32_t>::min())
        return std::numeric_limits<int32_t>::max();
    const int64_t product = int64_t{a} * b;
    const int64_t nudge = product >= 0 ? (int64_t{1} << 30) : 1 - (int64_t{1} << 30);
    return static_cast<int32_t>((product + nudge) / (int64_t{1} << 31));
}

/// x / 2^exponent, ties away from zero; exponent 0 to 31.
constexpr int32_t rounding_divide_by_power_of_two(int32_t x, int exponent) {
    const auto mask = static_cast<int32_t>((int64_t{1} << exponent) - 1);
    const int32_t remainder = x & mask;
    const int32_t threshold = (mask >> 1) + (x < 0 ? 1 : 0);
    return (x >> exponent) + (remainder > threshold ? 1 : 0);
}

/// x * multiplier / 2^31 * 2^shift with TFLite's two roundings; shift is clamped to -31..30.
constexpr int32_t multiply_by_quantized(int32_t x, uint32_t multiplier, int32_t shift) {
    const int left = std::clamp(shift, 0, 30);
    const auto right = static_cast<int>(std::clamp<int64_t>(-int64_t{shift}, 0, 31));
    const auto shifted = static_cast<int32_t>(static_cast<uint32_t>(x) << left);
    return rounding_divide_by_power_of_two(
        doubling_high_multiply(shifted, static_cast<int32_t>(multiplier)), right);
}

/// acc scaled by one channel's multiplier (the bias is already in acc).
inline int32_t requantise(int32_t acc, uint32_t multiplier, int32_t shift, Rounding rounding) {
    if (rounding == Rounding::kGemmlowp) return multiply_by_quantized(acc, multiplier, shift);
    return round_half_even(static_cast<float>(acc) * std::bit_cast<float>(multiplier));
}

/// value + zero_point, clamped to [low, high]; value may be any int32.
constexpr int8_t to_int8(int32_t value, int32_t zero_point, int32_t low, int32_t high) {
    const int64_t sum = int64_t{value} + zero_point;
    return static_cast<int8_t>(std::clamp<int64_t>(sum, low, std::max(low, high)));
}

}  // namespace tandem::numerics
