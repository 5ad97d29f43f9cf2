// SPDX-License-Identifier: Apache-2.0
// Arithmetic of bf16 arrays: the rules of docs/numerics.md one by one, then random values against
// the same in double. (The oracle by MPFR is in testbench/numerics.)
#include "arch/bf16.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "testbench/support/naive_bf16.h"
#include "testbench/support/seeded.h"

namespace tandem::bf16 {
namespace {

namespace naive = testbench::naive_bf16;
using testbench::Seeded;

constexpr uint32_t kMinusZero = 0x80000000, kMinusInfinity = 0xff800000;
constexpr uint32_t kLeastNormal = 0x00800000, kLargest = 0x7f7fffff, kOne = 0x3f800000;
constexpr uint32_t kMinusOne = 0xbf800000;

struct Case {
    const char* name;
    uint32_t a, b, result;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }
std::string name_of(const testing::TestParamInfo<Case>& info) { return info.param.name; }

TEST(Bf16Narrow, RoundsToNearestEven) {
    EXPECT_EQ(narrow(0x3f807fff), 0x3f80);
    EXPECT_EQ(narrow(0x3f808000), 0x3f80) << "a tie, the lower one is even";
    EXPECT_EQ(narrow(0x3f808001), 0x3f81);
    EXPECT_EQ(narrow(0x3f818000), 0x3f82) << "a tie, the upper one is even";
    EXPECT_EQ(narrow(0xbf818000), 0xbf82);
    EXPECT_EQ(narrow(0x7f7f7fff), 0x7f7f);
    EXPECT_EQ(narrow(0x7f7f8000), 0x7f80) << "infinity from the middle on";
    EXPECT_EQ(narrow(kMinusInfinity), 0xff80);
}

TEST(Bf16Narrow, KnowsNoSubnormalsAndOneNan) {
    EXPECT_EQ(narrow(0x007fffff), 0);
    EXPECT_EQ(narrow(0x807fffff), 0x8000);
    EXPECT_EQ(narrow(kLeastNormal), 0x0080);
    for (const uint32_t nan : {0x7f800001u, 0xffffffffu, kNan}) EXPECT_EQ(narrow(nan), 0x7fc0);
}

TEST(Bf16Narrow, GivesBackWhatWasWidened) {
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
        const auto value = static_cast<uint16_t>(bits);
        if (is_nan(widen(value))) continue;
        EXPECT_EQ(narrow(widen(value)), (value & 0x7f80) == 0 ? value & 0x8000 : value);
    }
}

class Bf16Product : public testing::TestWithParam<Case> {};

TEST_P(Bf16Product, IsAsStatedInEitherOrder) {
    const auto a = static_cast<uint16_t>(GetParam().a), b = static_cast<uint16_t>(GetParam().b);
    EXPECT_EQ(product(a, b), GetParam().result);
    EXPECT_EQ(product(b, a), GetParam().result);
}

INSTANTIATE_TEST_SUITE_P(Rules, Bf16Product,
                         testing::Values(Case{"OneByOne", 0x3f80, 0x3f80, kOne},
                                         Case{"SignsCancel", 0xbf80, 0xbf80, kOne},
                                         Case{"SignsDiffer", 0xbf80, 0x3f80, kMinusOne},
                                         Case{"KeepsAllBits", 0x3fff, 0x3fff, 0x407e0100},
                                         Case{"JustFits", 0x7f00, 0x3fff, 0x7f7f0000},
                                         Case{"Overflows", 0x7f00, 0x4000, kInfinity},
                                         Case{"OverflowsDownwards", 0x7f00, 0xc000, kMinusInfinity},
                                         Case{"LargestByLargest", 0x7f7f, 0x7f7f, kInfinity},
                                         Case{"LeastNormal", 0x0080, 0x3f80, kLeastNormal},
                                         Case{"Tiny", 0x0080, 0x3f7f, 0},
                                         Case{"TinyBelowZero", 0x0080, 0xbf7f, kMinusZero},
                                         Case{"LeastByLeast", 0x8080, 0x0080, kMinusZero},
                                         Case{"ZeroByMinus", 0x0000, 0xbf80, kMinusZero},
                                         Case{"SubnormalCountsAsZero", 0x007f, 0x7f7f, 0},
                                         Case{"SubnormalKeepsItsSign", 0x807f, 0x3f80, kMinusZero},
                                         Case{"InfinityByZero", 0x7f80, 0x0000, kNan},
                                         Case{"InfinityBySubnormal", 0x7f80, 0x0001, kNan},
                                         Case{"InfinityByLeast", 0x7f80, 0x8080, kMinusInfinity},
                                         Case{"InfinityByInfinity", 0xff80, 0x7f80, kMinusInfinity},
                                         Case{"NanByZero", 0x7f81, 0x0000, kNan},
                                         Case{"NanByInfinity", 0xffff, 0x7f80, kNan},
                                         Case{"NanByNan", 0xff81, 0x7fc1, kNan}),
                         name_of);

class Bf16Sum : public testing::TestWithParam<Case> {};

TEST_P(Bf16Sum, IsAsStatedInEitherOrder) {
    const auto& [name, a, b, result] = GetParam();
    EXPECT_EQ(sum(a, b), result);
    EXPECT_EQ(sum(b, a), result);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, Bf16Sum,
    testing::Values(Case{"OneAndOne", kOne, kOne, 0x40000000},
                    Case{"TieGoesToEvenDown", kOne, 0x33800000, kOne},
                    Case{"TieGoesToEvenUp", 0x3f800001, 0x33800000, 0x3f800002},
                    Case{"AboveTheTie", kOne, 0x33800001, 0x3f800001},
                    Case{"BelowTheTie", 0x3f800001, 0x337fffff, 0x3f800001},
                    Case{"BelowAPowerOfTwo", kOne, 0xb3000000, kOne},
                    Case{"HalfAStepBelowAPowerOfTwo", kOne, 0xb3000001, 0x3f7fffff},
                    Case{"FarApart", 0x7f000000, 0x00800000, 0x7f000000},
                    Case{"FarApartAndOpposite", 0x7f000000, 0x80800000, 0x7f000000},
                    Case{"OppositeIsPlusZero", kMinusOne, kOne, 0},
                    Case{"ZerosOfBothSigns", kMinusZero, 0, 0},
                    Case{"MinusZeros", kMinusZero, kMinusZero, kMinusZero},
                    Case{"ZeroAndOne", kMinusZero, kOne, kOne},
                    Case{"TinyAboveZero", 0x00c00000, 0x80800000, 0},
                    Case{"TinyBelowZero", 0x00800000, 0x80c00000, kMinusZero},
                    Case{"LeastNormal", 0x01000000, 0x80800000, kLeastNormal},
                    Case{"SubnormalOperand", kOne, 0x007fffff, kOne},
                    Case{"SubnormalsOnly", 0x807fffff, 0x80000001, kMinusZero},
                    Case{"SubnormalDoesNotLift", kLeastNormal, 0x007fffff, kLeastNormal},
                    Case{"Overflows", kLargest, kLargest, kInfinity},
                    Case{"RoundsToInfinity", kLargest, 0x73000000, kInfinity},
                    Case{"RoundsBelowInfinity", kLargest, 0x72ffffff, kLargest},
                    Case{"InfinityAndFinite", kMinusInfinity, kLargest, kMinusInfinity},
                    Case{"InfinityTwice", kInfinity, kInfinity, kInfinity},
                    Case{"Infinities", kInfinity, kMinusInfinity, kNan},
                    Case{"NanAndOne", 0xff800001, kOne, kNan},
                    Case{"NanAndInfinity", 0x7fffffff, kInfinity, kNan}),
    name_of);

struct GroupCase {
    const char* name;
    std::array<uint32_t, 4> addends;
    uint32_t result;
};
void PrintTo(const GroupCase& c, std::ostream* out) { *out << c.name; }

class Bf16Sum4 : public testing::TestWithParam<GroupCase> {};

TEST_P(Bf16Sum4, IsAsStatedInEveryOrder) {
    auto addends = GetParam().addends;
    std::sort(addends.begin(), addends.end());
    do EXPECT_EQ(sum4(addends), GetParam().result);
    while (std::next_permutation(addends.begin(), addends.end()));
}

INSTANTIATE_TEST_SUITE_P(
    Rules, Bf16Sum4,
    testing::Values(
        GroupCase{"Ones", {kOne, kOne, kOne, kOne}, 0x40800000},
        GroupCase{"OneRounding", {kOne, 0x33000000, 0x33000000, 0x33000000}, 0x3f800001},
        GroupCase{"TieBrokenFarBelow", {kOne, 0x33800000, 0x00800000, 0}, 0x3f800001},
        GroupCase{"TieKeptBelow", {0x3f800001, 0x33800000, 0x80800000, 0}, 0x3f800001},
        GroupCase{"TieGoesToEven", {kOne, 0x33800000, 0, 0}, kOne},
        GroupCase{"SmallLeftOfLarge", {0x7f7fffff, 0xff7fffff, 0x00800001, 0}, 0x00800001},
        GroupCase{"TwoPairsCancel", {0x7f000000, 0xff000000, 0x00800000, 0x80800000}, 0},
        GroupCase{"ReachesBeyondFp32", {kLargest, kLargest, 0xff7fffff, kOne}, kLargest},
        GroupCase{"Overflows", {kLargest, kLargest, kLargest, kLargest}, kInfinity},
        GroupCase{"OverflowsAfterRounding", {kLargest, 0x73000000, 0, 0}, kInfinity},
        GroupCase{"BelowTheHalfStepToInfinity", {kLargest, 0x73000000, 0x80800000, 0}, kLargest},
        GroupCase{"TinyAboveZero", {0x00c00000, 0x80800000, 0, 0}, 0},
        GroupCase{"TinyBelowZero", {0x80c00000, 0x00800000, 0, kMinusZero}, kMinusZero},
        GroupCase{"TinyThatFourMakeNormal",
                  {0x00c00000, 0x80800000, 0x00c00000, 0x80800000},
                  kLeastNormal},
        GroupCase{"MinusZeros", {kMinusZero, kMinusZero, kMinusZero, kMinusZero}, kMinusZero},
        GroupCase{"OnePlusZero", {kMinusZero, kMinusZero, kMinusZero, 0}, 0},
        GroupCase{"ExactZeroOfTwoSigns", {kOne, kMinusOne, kMinusZero, kMinusZero}, 0},
        GroupCase{"SubnormalsCountAsZero", {0x007fffff, 0x007fffff, 0x807fffff, kOne}, kOne},
        GroupCase{"OneInfinity", {kMinusInfinity, kLargest, kLargest, kLargest}, kMinusInfinity},
        GroupCase{"Infinities", {kMinusInfinity, kInfinity, 0, 0}, kNan},
        GroupCase{"Nan", {0xffffffff, kInfinity, 0, 0}, kNan}),
    [](const auto& info) { return std::string(info.param.name); });

/// fp32 of any kind; those that meet in one sum often lie close to each other.
uint32_t any_fp32(Seeded& random) {
    const auto bits = static_cast<uint32_t>(random.bits());
    const auto exponent = static_cast<uint32_t>(random.below(40));
    switch (random.below(6)) {
        case 0:
            return bits;
        case 1:
            return (bits & 0x807fffff) | exponent << 23;  // at the lower end
        case 2:
            return (bits & 0x807fffff) | (255 - exponent) << 23;  // at the upper end
        case 3:
            return bits & 0x80000000;
        default:
            return (bits & 0x807fffff) | (127 + exponent) << 23;
    }
}

/// Turned into something that cancels with `other`, nearly.
uint32_t opposite(uint32_t other, Seeded& random) {
    return (other ^ 0x80000000) + static_cast<uint32_t>(random.below(5)) - 2;
}

TEST(Bf16Arithmetic, MultipliesAsDoubleDoes) {
    Seeded random(1);
    for (int i = 0; i < 1000000; ++i) {
        const auto a = static_cast<uint16_t>(any_fp32(random) >> 16),
                   b = static_cast<uint16_t>(any_fp32(random) >> 16);
        ASSERT_EQ(product(a, b), naive::product(a, b)) << std::hex << a << " by " << b;
    }
}

TEST(Bf16Arithmetic, AddsAsDoubleDoes) {
    Seeded random(2);
    for (int i = 0; i < 1000000; ++i) {
        const uint32_t a = any_fp32(random);
        const uint32_t b = random.chance(20) ? opposite(a, random) : any_fp32(random);
        ASSERT_EQ(sum(a, b), naive::sum(a, b)) << std::hex << a << " and " << b;
    }
}

TEST(Bf16Arithmetic, AddsFourAsDoublesDo) {
    Seeded random(3);
    for (int i = 0; i < 300000; ++i) {
        std::array<uint32_t, 4> q;
        for (uint32_t& addend : q) addend = any_fp32(random);
        if (random.chance(40)) q[1] = opposite(q[0], random);
        if (random.chance(40)) q[3] = opposite(q[random.below(3)], random);
        ASSERT_EQ(sum4(q), naive::sum4({q.begin(), q.end()}))
            << std::hex << q[0] << ", " << q[1] << ", " << q[2] << ", " << q[3];
    }
}

TEST(Bf16Arithmetic, HoldsAtCompileTime) {
    static_assert(product(0x4000, 0x4040) == 0x40c00000);
    static_assert(sum(0x40c00000, 0xc0c00000) == 0);
}

}  // namespace
}  // namespace tandem::bf16
