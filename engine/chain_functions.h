// SPDX-License-Identifier: Apache-2.0
// Transcendental functions of chains in binary64, as docs/numerics.md defines them (chain
// operations): + - * / and comparisons in the order written here, no branches, so that loops over
// them become vectors. Results are rounded to fp32 by who calls; arguments are fp32 numbers.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tandem::engine::chain_functions {

/// Coefficients from the lowest on; Horner's rule.
template <size_t First = 0, size_t N>
[[gnu::always_inline]] inline double polynomial(const double (&coefficients)[N], double x) {
    if constexpr (First + 1 == N)
        return coefficients[First];
    else
        return polynomial<First + 1>(coefficients, x) * x + coefficients[First];
}

inline constexpr double kInverseFactorials[] = {1.0,
                                                1.0,
                                                1.0 / 2,
                                                1.0 / 6,
                                                1.0 / 24,
                                                1.0 / 120,
                                                1.0 / 720,
                                                1.0 / 5040,
                                                1.0 / 40320,
                                                1.0 / 362880,
                                                1.0 / 3628800,
                                                1.0 / 39916800,
                                                1.0 / 479001600,
                                                1.0 / 6227020800};
/// ln 2 = high + low; high times a whole number of up to 12 bits is exact.
inline constexpr double kLn2High = 0x1.62e42fefa2p-1, kLn2Low = 0x1.9ef35793c7673p-41;

/// |x| <= 110, or NaN.
[[gnu::always_inline]] inline double exponential(double x) {
    constexpr double kWholes = 0x1.8p52;  // next to it doubles are whole numbers
    const double shifted = x * 0x1.71547652b82fep+0 + kWholes;
    const double k = shifted - kWholes;
    const double rest = (x - k * kLn2High) - k * kLn2Low;
    const double scale = std::bit_cast<double>((std::bit_cast<uint64_t>(shifted) + 1023) << 52);
    return polynomial(kInverseFactorials, rest) * scale;
}

/// NaN stays.
[[gnu::always_inline]] inline double clamped(double x, double low, double high) {
    x = x < low ? low : x;
    return x > high ? high : x;
}

[[gnu::always_inline]] inline double exp(double x) {
    return exponential(clamped(x, -110.0, 110.0));
}

/// x = 2^e * m, m from sqrt(1/2) to sqrt(2); ln m = 2 artanh((m - 1) / (m + 1)).
[[gnu::always_inline]] inline double log(double x) {
    constexpr double kSeries[] = {2.0,      2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9, 2.0 / 11,
                                  2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21};
    constexpr uint64_t kRootOfHalf = 0x3fe6a09e667f3bcd, kOne = 0x3ff0000000000000;
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const uint64_t shifted = std::bit_cast<uint64_t>(x) + (kOne - kRootOfHalf);
    const double m = std::bit_cast<double>((shifted & 0xfffffffffffff) + kRootOfHalf);
    // Behind the fraction of 2^52 stands the exponent as a whole number.
    const double e = std::bit_cast<double>(shifted >> 52 | 0x4330000000000000) - (0x1p52 + 1023.0);
    const double s = (m - 1.0) / (m + 1.0);
    const double of_m = s * polynomial(kSeries, s * s);
    double result = e * kLn2High + (of_m + e * kLn2Low);
    result = x == kInfinity ? kInfinity : result;
    result = x == 0.0 ? -kInfinity : result;
    return x >= 0.0 ? result : std::numeric_limits<double>::quiet_NaN();
}

/// The continued fraction x / (1 + x^2 / (3 + ... / 15)); |x| <= 3/4.
[[gnu::always_inline]] inline double small_tanh(double x) {
    constexpr double kOver[] = {2027025, 270270, 6930, 36};
    constexpr double kUnder[] = {2027025, 945945, 51975, 630, 1};
    const double square = x * x;
    return x * polynomial(kOver, square) / polynomial(kUnder, square);
}

[[gnu::always_inline]] inline double tanh(double x) {
    const double a = std::fabs(x);
    const double far = 1.0 - 2.0 / (exponential(2.0 * clamped(a, 0.0, 20.0)) + 1.0);
    const double near = small_tanh(x);
    return a <= 0.75 ? near : std::copysign(far, x);
}

/// a + b for a >= |b|; the last bit of an inexact sum is 1 (round to odd), so that rounding it
/// again is as good as rounding the exact one.
[[gnu::always_inline]] inline double odd_sum(double a, double b) {
    const double sum = a + b, lost = b - (sum - a);
    const auto bits = std::bit_cast<uint64_t>(sum);
    const uint64_t other = lost > 0.0 ? bits + 1 : bits - 1;
    const bool keep = lost == 0.0 || (bits & 1) != 0;
    return std::bit_cast<double>(keep ? bits : other);
}

/// Next to 0 the fp32 closest to 1/2 + x/4 - ... is often decided by the third term.
[[gnu::always_inline]] inline double sigmoid(double x) {
    const double far = 1.0 / (1.0 + exponential(clamped(-x, -110.0, 110.0)));
    const double near = odd_sum(0.5, 0.5 * small_tanh(0.5 * x));
    return std::fabs(x) <= 1.0 ? near : far;
}

/// erf(5/2 + 3/2 t), |t| <= 1: through 29 Chebyshev nodes.
inline constexpr double kErfFar[] = {
    0x1.ffcaa8f4c9beap-1,   0x1.ac44a2979f1cap-9,   -0x1.9180586e25361p-7,  0x1.cdb9ff4b78563p-6,
    -0x1.65964ec219021p-5,  0x1.7c8c499337526p-5,   -0x1.0521f983a8989p-5,  0x1.2fae21fd57335p-7,
    0x1.b5d3674cf4848p-8,   -0x1.3b499a1b1e000p-7,  0x1.29cd0a31581bap-8,   0x1.d1ec59d2629b8p-12,
    -0x1.dee47ca508263p-10, 0x1.dea5744a51b50p-11,  0x1.bc248a4446493p-15,  -0x1.266c846612ba2p-12,
    0x1.edc8bf4739500p-14,  0x1.29506e81a4dc8p-16,  -0x1.26732c2694916p-15, 0x1.4cfefa30d408cp-17,
    0x1.fc2a3d8ac0bcep-19,  -0x1.c9914a6e96018p-19, 0x1.aa13375d11628p-22,  0x1.1fd74c3cd16c4p-21,
    -0x1.d34ee63eade32p-23, -0x1.69e46ee30a623p-25, 0x1.4419f079a06cdp-25,  0x1.cedff356db950p-31,
    -0x1.9087af3dbd8c1p-29};
/// Coefficients of x^(2n + 1) * 2 / sqrt(pi).
inline constexpr double kErfNear[] = {1.0,
                                      -1.0 / 3,
                                      1.0 / (2.0 * 5),
                                      -1.0 / (6.0 * 7),
                                      1.0 / (24.0 * 9),
                                      -1.0 / (120.0 * 11),
                                      1.0 / (720.0 * 13),
                                      -1.0 / (5040.0 * 15),
                                      1.0 / (40320.0 * 17),
                                      -1.0 / (362880.0 * 19),
                                      1.0 / (3628800.0 * 21),
                                      -1.0 / (39916800.0 * 23),
                                      1.0 / (479001600.0 * 25),
                                      -1.0 / (6227020800.0 * 27),
                                      1.0 / (87178291200.0 * 29),
                                      -1.0 / (1307674368000.0 * 31),
                                      1.0 / (20922789888000.0 * 33),
                                      -1.0 / (355687428096000.0 * 35)};

[[gnu::always_inline]] inline double erf(double x) {
    const double a = std::fabs(x);
    const double far = polynomial(kErfFar, (clamped(a, 1.0, 4.0) - 2.5) / 1.5);
    const double near = 0x1.20dd750429b6dp+0 * x * polynomial(kErfNear, x * x);
    return a <= 1.0 ? near : std::copysign(far, x);
}

[[gnu::always_inline]] inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }

}  // namespace tandem::engine::chain_functions
