// SPDX-License-Identifier: Apache-2.0
// Chain operations on one element, bit by bit as docs/numerics.md states them, without branches:
// the bodies of loops that become vectors.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "arch/bf16.h"
#include "arch/numerics.h"

namespace tandem::engine::chain {

[[gnu::always_inline]] inline float number(uint32_t bits) {
    return std::bit_cast<float>(bf16::flush(bits));
}

/// Subnormals are zero, one NaN.
[[gnu::always_inline]] inline uint32_t canonical(uint32_t bits) {
    return bf16::is_nan(bits) ? bf16::kNan : bf16::flush(bits);
}

[[gnu::always_inline]] inline uint32_t result(float value) {
    return canonical(std::bit_cast<uint32_t>(value));
}

/// What is tiny as a binary64 becomes zero; then rounds.
[[gnu::always_inline]] inline uint32_t rounded(double value) {
    const double flushed = std::fabs(value) < 0x1p-126 ? std::copysign(0.0, value) : value;
    return result(static_cast<float>(flushed));
}

[[gnu::always_inline]] inline int32_t as_int(uint32_t bits) { return static_cast<int32_t>(bits); }
[[gnu::always_inline]] inline uint32_t as_bits(int32_t value) {
    return static_cast<uint32_t>(value);
}

/// Binary64 holds quotients of int32 closely enough to tell on which side of a whole number they
/// lie.
[[gnu::always_inline]] inline uint32_t average(uint32_t x, uint32_t y) {
    const double count = as_int(y), sum = as_int(x);
    const double half = as_int(y) >> 1;
    const double quotient = (sum < 0.0 ? sum - half : sum + half) / (count < 1.0 ? 1.0 : count);
    return count < 1.0 ? 0 : as_bits(static_cast<int32_t>(quotient));
}

/// A whole number (or NaN) as int32: saturates, NaN becomes 0. Fractions are cut off.
[[gnu::always_inline]] inline uint32_t to_int(float whole) {
    constexpr float kEnd = 0x1p31f;
    const float inside = whole >= -kEnd && whole < kEnd ? whole : 0.0f;
    uint32_t value = as_bits(static_cast<int32_t>(inside));
    value = whole >= kEnd ? 0x7fffffffu : value;
    return whole < -kEnd ? 0x80000000u : value;
}

constexpr float kWholes = 0x1p23f;  ///< from here on fp32 are whole numbers

[[gnu::always_inline]] inline uint32_t round(uint32_t x) {
    const float value = number(x), shift = std::copysign(kWholes, value);
    const float near = (value + shift) - shift;
    return to_int(std::fabs(value) < kWholes ? near : value);
}

[[gnu::always_inline]] inline uint32_t floor(uint32_t x) {
    const float value = number(x);
    const bool small = std::fabs(value) < kWholes;
    const float cut = static_cast<float>(static_cast<int32_t>(small ? value : 0.0f));
    const float below = cut > value ? cut - 1.0f : cut;
    return result(small ? std::copysign(below, value) : value);
}

/// Order of fp32 numbers as int32, -0 below +0.
[[gnu::always_inline]] inline int32_t place(uint32_t bits) {
    return as_int(bits) < 0 ? as_int(bits ^ bf16::kMagnitude) : as_int(bits);
}

[[gnu::always_inline]] inline uint32_t min(uint32_t x, uint32_t y) {
    x = bf16::flush(x), y = bf16::flush(y);
    const uint32_t smaller = place(x) < place(y) ? x : y;
    return bf16::is_nan(x) || bf16::is_nan(y) ? bf16::kNan : smaller;
}

[[gnu::always_inline]] inline uint32_t max(uint32_t x, uint32_t y) {
    x = bf16::flush(x), y = bf16::flush(y);
    const uint32_t larger = place(x) > place(y) ? x : y;
    return bf16::is_nan(x) || bf16::is_nan(y) ? bf16::kNan : larger;
}

/// The product of two fp32 is exact in binary64.
[[gnu::always_inline]] inline uint32_t multiply(uint32_t x, uint32_t y) {
    return rounded(static_cast<double>(number(x)) * static_cast<double>(number(y)));
}

}  // namespace tandem::engine::chain
