// SPDX-License-Identifier: Apache-2.0
// Arithmetic of docs/numerics.md for bf16 arrays, in double and apart from everything under test.
// Wants the host's usual modes: to nearest even, nothing flushed.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace tandem::testbench::naive_bf16 {

inline constexpr uint32_t kNan = 0x7fc00000;

inline float value(uint32_t fp32) { return std::bit_cast<float>(fp32); }

inline double flushed(double x) { return std::fabs(x) < 0x1p-126 ? std::copysign(0.0, x) : x; }

/// Rounds once more and gives the bits.
inline uint32_t bits(double x) {
    return std::isnan(x) ? kNan : std::bit_cast<uint32_t>(static_cast<float>(flushed(x)));
}

/// 8 bits times 8 bits, exponents from -252 to 254: exact in double.
inline uint32_t product(uint16_t a, uint16_t b) {
    return bits(flushed(value(uint32_t{a} << 16)) * flushed(value(uint32_t{b} << 16)));
}

/// Rounded twice, first to 53 bits and then to 24, which is harmless: a sum that does not fit 53
/// bits has a smaller operand below 2^-29 of it. It lies close to the larger one, an fp32 number,
/// and far from the ties halfway between two of them, so that the first rounding cannot reach a
/// tie.
inline uint32_t sum(uint32_t a, uint32_t b) { return bits(flushed(value(a)) + flushed(value(b))); }

/// Each part takes what its larger neighbour cannot hold; parts that nothing is left of go.
inline std::vector<double> carried(const std::vector<double>& parts) {
    std::vector<double> result;
    double carry = 0;
    for (const double part : parts) {
        const double total = carry + part, of_part = total - carry;
        const double lost = (carry - (total - of_part)) + (part - of_part);  // exactly
        if (lost != 0) result.push_back(lost);
        carry = total;
    }
    if (carry != 0) result.push_back(carry);
    return result;
}

/// The addends become doubles of the same sum, each at most half a bit of the next; then the last
/// one is the sum but for less than its last bit, and made odd it rounds to 24 bits as the sum
/// does.
inline uint32_t sum4(const std::vector<uint32_t>& addends) {
    bool all_minus_zero = true;
    double rough = 0;
    std::vector<double> parts;
    for (const uint32_t addend : addends) {
        parts.push_back(flushed(value(addend)));
        all_minus_zero = all_minus_zero && parts.back() == 0 && std::signbit(parts.back());
        rough += parts.back();
    }
    if (!std::isfinite(rough)) return bits(rough);  // finite addends do not overflow double
    if (all_minus_zero) return 0x80000000;
    for (auto next = carried(parts); next != parts; next = carried(parts)) parts = next;
    if (parts.empty()) return 0;
    double largest = parts.back();
    if (parts.size() > 1 && std::bit_cast<uint64_t>(largest) % 2 == 0)
        largest = std::nextafter(largest, parts[parts.size() - 2] > 0 ? INFINITY : -INFINITY);
    return bits(largest);
}

/// fp32 to bf16, half to even.
inline uint16_t narrow(uint32_t fp32) {
    if (std::isnan(value(fp32))) return kNan >> 16;
    const uint32_t rest = fp32 & 0xffff, kept = fp32 >> 16;
    const bool up = rest > 0x8000 || (rest == 0x8000 && (kept & 1) != 0);
    return static_cast<uint16_t>(kept + (up ? 1 : 0));
}

}  // namespace tandem::testbench::naive_bf16
