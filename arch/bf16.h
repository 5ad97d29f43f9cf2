// SPDX-License-Identifier: Apache-2.0
// Arithmetic of the array with bf16 elements, bit by bit as docs/numerics.md states it. In
// integers, so that no mode of the host's floating-point unit matters. For one value at a time:
// tests, oracles and whatever the fast product cannot do in the host's own arithmetic.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace tandem::bf16 {

constexpr uint32_t kNan = 0x7fc00000;  ///< every NaN result
constexpr uint32_t kInfinity = 0x7f800000;
constexpr uint32_t kSign = 0x80000000;
constexpr uint32_t kMagnitude = 0x7fffffff;
constexpr int kFractionBits = 23;

/// Subnormals become zero of their sign.
constexpr uint32_t flush(uint32_t fp32) { return (fp32 & kInfinity) == 0 ? fp32 & kSign : fp32; }

constexpr bool is_nan(uint32_t fp32) { return (fp32 & kMagnitude) > kInfinity; }
constexpr bool is_infinite(uint32_t fp32) { return (fp32 & kMagnitude) == kInfinity; }

/// The fp32 of a bf16, subnormals flushed.
constexpr uint32_t widen(uint16_t bf16) { return flush(uint32_t{bf16} << 16); }

/// The bf16 next to an fp32, ties to even; from the middle beyond the largest one on infinity.
constexpr uint16_t narrow(uint32_t fp32) {
    fp32 = flush(fp32);
    const uint32_t rounded = (fp32 + 0x7fff + (fp32 >> 16 & 1)) >> 16;
    return static_cast<uint16_t>(is_nan(fp32) ? kNan >> 16 : rounded);
}

/// significand * 2^(exponent - 150), rounded to nearest even; significand > 0, its lowest bit may
/// stand for anything not zero below it as long as it has more than 25 bits.
constexpr uint32_t round_to_fp32(uint32_t sign, int exponent, uint64_t significand) {
    const int shift = static_cast<int>(std::bit_width(significand)) - (kFractionBits + 1);
    exponent += shift;
    // Tiny sums are exact: to judge them before rounding or after is the same.
    if (exponent <= 0) return sign;
    if (shift <= 0) {
        significand <<= -shift;
    } else {
        const uint64_t half = uint64_t{1} << (shift - 1), rest = significand & (2 * half - 1);
        significand >>= shift;
        if (rest > half || (rest == half && significand % 2 != 0)) ++significand;
    }
    // A carry out of the fraction goes into the exponent, as it should.
    const uint64_t bits = (static_cast<uint64_t>(exponent - 1) << kFractionBits) + significand;
    return sign | static_cast<uint32_t>(bits < kInfinity ? bits : kInfinity);
}

/// Exact, or infinity beyond fp32, or zero below its normal numbers.
constexpr uint32_t product(uint16_t a, uint16_t b) {
    const uint32_t x = widen(a), y = widen(b), sign = (x ^ y) & kSign;
    if (is_nan(x) || is_nan(y)) return kNan;
    const bool zero = (x & kMagnitude) == 0 || (y & kMagnitude) == 0;
    if (is_infinite(x) || is_infinite(y)) return zero ? kNan : sign | kInfinity;
    if (zero) return sign;
    const auto significand = [](uint16_t v) { return uint64_t{v} % 128 + 128; };
    const auto exponent = [](uint16_t v) { return v >> 7 & 0xff; };
    // Either factor is significand * 2^(exponent - 134).
    return round_to_fp32(sign, exponent(a) + exponent(b) - 2 * 134 + 150,
                         significand(a) * significand(b));
}

/// Rounded to nearest even; tiny results become zero of their sign.
constexpr uint32_t sum(uint32_t a, uint32_t b) {
    a = flush(a);
    b = flush(b);
    if (is_nan(a) || is_nan(b)) return kNan;
    if ((a & kMagnitude) < (b & kMagnitude)) {
        const uint32_t larger = b;
        b = a;
        a = larger;
    }
    if (is_infinite(a)) return is_infinite(b) && a != b ? kNan : a;
    if ((b & kMagnitude) == 0) return (a & kMagnitude) == 0 ? a & b : a;
    constexpr int kGuard = 32;  // bits below the larger operand; what falls out stays as one bit
    const auto significand = [](uint32_t v) {
        return (uint64_t{v} % (1u << kFractionBits) + (1u << kFractionBits)) << kGuard;
    };
    const auto exponent = [](uint32_t v) { return static_cast<int>(v >> kFractionBits & 0xff); };
    const int distance = exponent(a) - exponent(b);
    uint64_t addend = 1;
    if (distance < 2 * kGuard - 8) {
        addend = significand(b) >> distance;
        if (addend << distance != significand(b)) addend |= 1;
    }
    const uint64_t total =
        ((a ^ b) & kSign) == 0 ? significand(a) + addend : significand(a) - addend;
    return total == 0 ? 0 : round_to_fp32(a & kSign, exponent(a) - kGuard, total);
}

/// Four addends, one rounding.
uint32_t sum4(const std::array<uint32_t, 4>& addends);

}  // namespace tandem::bf16
