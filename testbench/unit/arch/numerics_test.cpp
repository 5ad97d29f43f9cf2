// SPDX-License-Identifier: Apache-2.0
// Arithmetic of the vector unit against a reference in wider types: 128-bit integers with floor
// division, long double with round(), double for products that it holds exactly.
#include "arch/numerics.h"

#include <gtest/gtest.h>

#include "testbench/support/seeded.h"

namespace tandem::numerics {
namespace {

using Wide = __int128;
constexpr int32_t kMin = std::numeric_limits<int32_t>::min(),
                  kMax = std::numeric_limits<int32_t>::max();
constexpr uint64_t kSeeds = 20000;

Wide floor_div(Wide a, Wide b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

int32_t low_word(Wide value) {
    return static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint64_t>(value)));
}

/// a * b / 2^31 to the nearest, ties toward plus infinity, saturated.
int32_t reference_high_multiply(int32_t a, int32_t b) {
    const Wide exact = floor_div(Wide{a} * b + (Wide{1} << 30), Wide{1} << 31);
    return exact > kMax ? kMax : static_cast<int32_t>(exact);
}

/// x / 2^e to the nearest, ties away from zero.
int32_t reference_divide(int32_t x, int e) {
    return static_cast<int32_t>(std::roundl(std::ldexp(static_cast<long double>(x), -e)));
}

int32_t reference_multiply(int32_t x, uint32_t multiplier, int64_t shift) {
    const int64_t left = std::min<int64_t>(std::max<int64_t>(shift, 0), 30);
    const int64_t right = std::min<int64_t>(std::max<int64_t>(-shift, 0), 31);
    const int32_t shifted = low_word(Wide{x} << left);
    return reference_divide(reference_high_multiply(shifted, static_cast<int32_t>(multiplier)),
                            static_cast<int>(right));
}

/// Half to even by hand.
int32_t reference_half_even(double value) {
    if (value != value) return 0;
    const double below = std::floor(value), rest = value - below;
    double rounded = rest > 0.5 ? below + 1 : below;
    if (rest == 0.5) rounded = std::fmod(below, 2.0) == 0.0 ? below : below + 1;
    return rounded > kMax ? kMax : rounded < kMin ? kMin : static_cast<int32_t>(rounded);
}

float single(double value) { return static_cast<float>(value); }

int32_t reference_single(int32_t acc, float multiplier) {
    return reference_half_even(
        single(double{single(static_cast<double>(acc))} * double{multiplier}));
}

int8_t reference_int8(int64_t value, int64_t zero, int64_t low, int64_t high) {
    const int64_t sum = value + zero;
    return static_cast<int8_t>(sum < low ? low : sum > high ? high : sum);
}

uint32_t random_multiplier(testbench::Seeded& random) {
    return static_cast<uint32_t>(random.between(1ll << 30, (1ll << 31) - 1));
}

float random_scale(testbench::Seeded& random) {
    return std::ldexp(static_cast<float>(1 + random.below(1u << 24)),
                      static_cast<int>(random.between(-50, -20)));
}

TEST(NumericsHighMultiply, RoundsTiesTowardPlusInfinity) {
    const int32_t half = 1 << 30;
    const std::pair<int32_t, int32_t> ties[] = {{-5, -2}, {-3, -1}, {-1, 0},
                                                {1, 1},   {3, 2},   {5, 3}};
    for (const auto& [x, expected] : ties)
        EXPECT_EQ(doubling_high_multiply(x, half), expected) << "x = " << x;
}

TEST(NumericsHighMultiply, SaturatesTheOnlyOverflow) {
    EXPECT_EQ(doubling_high_multiply(kMin, kMin), kMax);
}

TEST(NumericsHighMultiply, AgreesWithWideIntegers) {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
        testbench::Seeded random(seed);
        const int32_t a = random.int32(), b = random.int32();
        ASSERT_EQ(doubling_high_multiply(a, b), reference_high_multiply(a, b))
            << a << " * " << b << ", seed " << seed;
    }
}

TEST(NumericsDivideByPowerOfTwo, RoundsTiesAwayFromZero) {
    const std::pair<int32_t, int32_t> ties[] = {{-5, -3}, {-3, -2}, {-1, -1},
                                                {1, 1},   {3, 2},   {5, 3}};
    for (const auto& [x, expected] : ties)
        EXPECT_EQ(rounding_divide_by_power_of_two(x, 1), expected) << "x = " << x;
}

TEST(NumericsDivideByPowerOfTwo, AgreesWithRoundForEveryExponent) {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
        testbench::Seeded random(seed);
        const int32_t x = random.int32();
        for (int e = 0; e <= 31; ++e)
            ASSERT_EQ(rounding_divide_by_power_of_two(x, e), reference_divide(x, e))
                << x << " / 2^" << e << ", seed " << seed;
    }
}

TEST(NumericsMultiplyByQuantized, AgreesWithTheTwoRoundings) {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
        testbench::Seeded random(seed);
        const int32_t x = random.int32();
        const uint32_t multiplier = random_multiplier(random);
        const auto shift = static_cast<int32_t>(random.between(-35, 35));
        ASSERT_EQ(multiply_by_quantized(x, multiplier, shift),
                  reference_multiply(x, multiplier, shift))
            << x << " * " << multiplier << " shift " << shift << ", seed " << seed;
    }
}

TEST(NumericsMultiplyByQuantized, ClampsTheLargestShifts) {
    EXPECT_EQ(multiply_by_quantized(3, 1u << 30, kMax), reference_multiply(3, 1u << 30, kMax))
        << "shift " << kMax;
    EXPECT_EQ(multiply_by_quantized(-1000, 1u << 30, -kMax),
              reference_multiply(-1000, 1u << 30, -int64_t{kMax}))
        << "shift " << -kMax;
}

TEST(NumericsMultiplyByQuantized, ClampsTheSmallestShift) {
    EXPECT_EQ(multiply_by_quantized(-1000, 1u << 30, kMin),
              reference_multiply(-1000, 1u << 30, kMin))
        << "shift " << kMin;
}

TEST(NumericsRoundHalfEven, TakesTiesToTheEvenNeighbour) {
    const std::pair<float, int32_t> ties[] = {{-2.5f, -2}, {-1.5f, -2}, {-0.5f, 0}, {0.5f, 0},
                                              {1.5f, 2},   {2.5f, 2},   {3.5f, 4}};
    for (const auto& [x, expected] : ties) EXPECT_EQ(round_half_even(x), expected) << "x = " << x;
}

TEST(NumericsRoundHalfEven, SaturatesAndMakesNanZero) {
    const float infinity = std::numeric_limits<float>::infinity();
    EXPECT_EQ(round_half_even(2147483648.0f), kMax);
    EXPECT_EQ(round_half_even(infinity), kMax);
    EXPECT_EQ(round_half_even(-2147483648.0f), kMin);
    EXPECT_EQ(round_half_even(-2147483904.0f), kMin);
    EXPECT_EQ(round_half_even(-infinity), kMin);
    EXPECT_EQ(round_half_even(std::numeric_limits<float>::quiet_NaN()), 0);
}

TEST(NumericsRoundHalfEven, AgreesForAnyBits) {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
        const auto value =
            std::bit_cast<float>(static_cast<uint32_t>(testbench::Seeded(seed).bits()));
        ASSERT_EQ(round_half_even(value), reference_half_even(value)) << value << ", seed " << seed;
    }
}

TEST(NumericsRequantise, SingleRoundsOnceFromTheExactProduct) {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
        testbench::Seeded random(seed);
        const int32_t acc = random.int32();
        const float scale = random_scale(random);
        ASSERT_EQ(requantise(acc, std::bit_cast<uint32_t>(scale), 0, Rounding::kSingle),
                  reference_single(acc, scale))
            << acc << " * " << scale << ", seed " << seed;
    }
}

TEST(NumericsRequantise, GemmlowpIsMultiplyByQuantized) {
    EXPECT_EQ(requantise(1000, 1u << 30, -2, Rounding::kGemmlowp),
              reference_multiply(1000, 1u << 30, -2));
}

TEST(NumericsWrapAdd, WrapsAtBothEnds) {
    EXPECT_EQ(wrap_add(kMax, 1), kMin);
    EXPECT_EQ(wrap_add(kMin, -1), kMax);
    EXPECT_EQ(wrap_add(kMin, kMin), 0);
}

TEST(NumericsToInt8, ClampsTheExactSum) {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
        testbench::Seeded random(seed);
        const int32_t value = random.int32(), zero = random.int8(),
                      low = static_cast<int32_t>(random.between(-128, 0)),
                      high = static_cast<int32_t>(random.between(low, 127));
        ASSERT_EQ(to_int8(value, zero, low, high), reference_int8(value, zero, low, high))
            << value << " + " << zero << ", seed " << seed;
    }
}

}  // namespace
}  // namespace tandem::numerics
