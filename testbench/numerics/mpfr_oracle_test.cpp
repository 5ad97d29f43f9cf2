// SPDX-License-Identifier: Apache-2.0
// The oracle itself against results worked out by hand from docs/numerics.md, and the operands
// against what their classes promise.
#include "testbench/numerics/mpfr_oracle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "testbench/numerics/operands.h"

namespace tandem::testbench {
namespace {

constexpr uint32_t kNan = 0x7fc00000, kInf = 0x7f800000, kMinusInf = 0xff800000;
constexpr uint32_t kMax = 0x7f7fffff, kMin = 0x00800000, kMinusZero = 0x80000000;

TEST(MpfrOracle, Product) {
    MpfrOracle oracle;
    const struct {
        uint16_t a, b;
        uint32_t expected;
        const char* why;
    } cases[] = {
        {0x3f80, 0x3f80, 0x3f800000, "1 * 1"},
        {0x3fc0, 0xc020, 0xc0700000, "1.5 * -2.5"},
        {0x3fff, 0x3fff, 0x407e0100, "1.9921875 squared keeps its sixteen bits"},
        {0x0000, 0x3f80, 0, "0 * 1"},
        {0x8000, 0x3f80, kMinusZero, "-0 * 1"},
        {0x8000, 0xbf80, 0, "-0 * -1"},
        {0x7f7f, 0x7f7f, kInf, "overflow"},
        {0x7f7f, 0xff7f, kMinusInf, "overflow, negative"},
        {0x5f80, 0x5f80, kInf, "2^64 * 2^64 is 2^128"},
        {0x5f80, 0x5f7f, 0x7f7f0000, "2^64 times just less is finite"},
        {0x0080, 0x3f80, kMin, "2^-126 * 1"},
        {0x0080, 0x3f7f, 0, "just below 2^-126: flushed"},
        {0x8080, 0x3f7f, kMinusZero, "the same, negative"},
        {0x007f, 0x7f7f, 0, "a subnormal operand counts as 0"},
        {0x807f, 0x7f7f, kMinusZero, "with its sign"},
        {0x007f, 0x7f80, kNan, "subnormal * inf = 0 * inf"},
        {0x0000, 0xff80, kNan, "0 * -inf"},
        {0x7f80, 0xbf80, kMinusInf, "inf * -1"},
        {0xff80, 0xff80, kInf, "-inf * -inf"},
        {0xff81, 0x0000, kNan, "signalling NaN with a sign"},
        {0x3f80, 0x7fff, kNan, "payloads are dropped"},
    };
    for (const auto& c : cases) {
        EXPECT_EQ(oracle.product(c.a, c.b), c.expected) << c.why;
        EXPECT_EQ(oracle.product(c.b, c.a), c.expected) << c.why << ", exchanged";
    }
}

TEST(MpfrOracle, Sum) {
    MpfrOracle oracle;
    const struct {
        uint32_t a, b, expected;
        const char* why;
    } cases[] = {
        {0x3f800000, 0x3f800000, 0x40000000, "1 + 1"},
        {0x3f800000, 0xbf800000, 0, "1 - 1 is +0"},
        {0, kMinusZero, 0, "0 + -0 is +0"},
        {kMinusZero, kMinusZero, kMinusZero, "-0 + -0"},
        {0x3f800000, 0x33800000, 0x3f800000, "1 + 2^-24: tie to even, down"},
        {0x3f800001, 0x33800000, 0x3f800002, "tie to even, up"},
        {0x3f800000, 0x33800001, 0x3f800001, "just above the tie"},
        {0x3f800000, 0xb3000000, 0x3f800000, "1 - 2^-25: tie, up to 1"},
        {0x3f800000, 0xb3000001, 0x3f7fffff, "just beyond it"},
        {0x3f800000, 0x00800000, 0x3f800000, "far below"},
        {0x3f800000, 0x80800000, 0x3f800000, "far below, negative"},
        {kMax, 0x73000000, kInf, "max and half a unit: overflows"},
        {kMax, 0x72ffffff, kMax, "max and just less"},
        {kMax, kMax, kInf, "overflow"},
        {0xff7fffff, 0xff7fffff, kMinusInf, "overflow, negative"},
        {kMin, 0x80800001, kMinusZero, "-2^-149: flushed with its sign"},
        {0x00800001, 0x80800000, 0, "2^-149: flushed"},
        {0x01000000, 0x80800000, kMin, "2^-125 - 2^-126 stays"},
        {0x01000000, 0x80800001, 0, "just below 2^-126"},
        {0x00000001, 0x00400000, 0, "subnormal operands count as 0"},
        {0x807fffff, 0x80000001, kMinusZero, "with their signs"},
        {0x807fffff, kMin, kMin, "subnormal and normal"},
        {kInf, 0xff7fffff, kInf, "inf and finite"},
        {kMinusInf, kMinusInf, kMinusInf, "-inf twice"},
        {kInf, kMinusInf, kNan, "inf - inf"},
        {0xffc01234, 0x3f800000, kNan, "NaN"},
        {0x7f800001, kInf, kNan, "signalling NaN"},
    };
    for (const auto& c : cases) {
        EXPECT_EQ(oracle.sum(c.a, c.b), c.expected) << c.why;
        EXPECT_EQ(oracle.sum(c.b, c.a), c.expected) << c.why << ", exchanged";
    }
}

TEST(MpfrOracle, SumOfFourInAnyOrder) {
    MpfrOracle oracle;
    const struct {
        Fp32Group addends;
        uint32_t expected;
        const char* why;
    } cases[] = {
        {{0x3f800000, 0x40000000, 0x40400000, 0x40800000}, 0x41200000, "1 + 2 + 3 + 4"},
        {{0, 0, 0, kMinusZero}, 0, "one -0"},
        {{kMinusZero, kMinusZero, kMinusZero, 0}, 0, "three -0"},
        {{kMinusZero, kMinusZero, kMinusZero, kMinusZero}, kMinusZero, "four -0"},
        {{0x3f800000, 0xbf800000, kMinusZero, kMinusZero}, 0, "1 - 1 - 0 - 0"},
        {{0x7f7fff00, 0x7f7fff00, 0xff7fff00, 0xff7fff00}, 0, "no overflow on the way"},
        {{0x7f7fff00, 0x7f7fff00, 0xff7fff00, kMin}, 0x7f7fff00, "nor here"},
        {{0x7f7fff00, 0xff7fff00, kMin, 0x80800000}, 0, "2^-126 - 2^-126 beside the largest"},
        {{0x7f7fff00, 0xff7fff00, kMin, 0}, kMin, "only the smallest survives"},
        {{0x3f800000, 0x33800000, kMin, 0}, 0x3f800001, "tie broken by the smallest"},
        {{0x3f800000, 0x33800000, 0x80800000, 0}, 0x3f800000, "from the other side"},
        {{0x3f800000, 0x33000000, 0x33000000, 0}, 0x3f800000, "two quarters make a tie"},
        {{0x3f800000, 0x33000000, 0x33000000, 0x33000000}, 0x3f800001, "three quarters do not"},
        {{kMin, 0x80800100, 0, 0}, kMinusZero, "flushed with its sign"},
        {{0x7f000000, 0x7f000000, 0, 0}, kInf, "overflow"},
        {{kInf, 0x7f000000, 0xff000000, 0}, kInf, "infinity"},
        {{kInf, kMinusInf, 0, 0}, kNan, "both infinities"},
        {{kNan, kInf, 0, 0}, kNan, "NaN"},
    };
    for (const auto& c : cases) {
        std::array<int, 4> order = {0, 1, 2, 3};
        do {
            const auto& v = c.addends;
            EXPECT_EQ(oracle.sum4(v[order[0]], v[order[1]], v[order[2]], v[order[3]]), c.expected)
                << c.why;
        } while (std::next_permutation(order.begin(), order.end()));
    }
}

TEST(MpfrOracle, ColumnSumStartsFromPlusZeroAndGoesInOrder) {
    MpfrOracle oracle;
    const std::vector<uint16_t> minus_zero = {0x8000}, one = {0x3f80};
    EXPECT_EQ(oracle.column_sum(minus_zero, one), 0u) << "+0 + -0";
    EXPECT_EQ(oracle.column_sum(minus_zero, one, true), 0u);
    // 1 + 2^-24 + 2^-24: both are lost one by one, together they are not.
    const std::vector<uint16_t> activations = {0x3f80, 0x3380, 0x3380};
    const std::vector<uint16_t> ones = {0x3f80, 0x3f80, 0x3f80};
    EXPECT_EQ(oracle.column_sum(activations, ones), 0x3f800000u);
    EXPECT_EQ(oracle.column_sum(activations, ones, true), 0x3f800001u);
    const std::vector<uint16_t> reversed = {0x3380, 0x3380, 0x3f80};
    EXPECT_EQ(oracle.column_sum(reversed, ones), 0x3f800001u) << "row 0 first";
    // Five rows: a group of four and one more.
    const std::vector<uint16_t> five = {0x3f80, 0x3380, 0x3380, 0x0000, 0x3380};
    const std::vector<uint16_t> weights(5, 0x3f80);
    EXPECT_EQ(oracle.column_sum(five, weights, true), 0x3f800002u) << "then a tie to even, up";
    // -0 from two groups, then a group of -0: with +0 in the missing places the sum is +0.
    std::vector<uint16_t> zeros(12, 0x8000);
    zeros[0] = 0x0080;
    zeros[4] = 0x8081;
    const std::vector<uint16_t> twelve(12, 0x3f80);
    EXPECT_EQ(oracle.column_sum(zeros, twelve, true), kMinusZero);
    zeros.resize(9);
    EXPECT_EQ(oracle.column_sum(zeros, {twelve.data(), 9}, true), 0u);
    EXPECT_EQ(oracle.column_sum_from(0x3f800000, 4, five, weights, true), 0x3f800000u);
    EXPECT_EQ(oracle.commit(0x3f800000, 0x3f800000, true), 0x40000000u);
    EXPECT_EQ(oracle.commit(0x3f800000, kMinusZero, false), kMinusZero) << "replaced as it is";
}

// A round through the host's FPU, which rounds to nearest even as well. The FPU knows subnormals,
// so that results near them are left out here.
TEST(MpfrOracle, AgreesWithTheFpuOnSumsOfNormalNumbers) {
    MpfrOracle oracle;
    SplitMix random(1);
    for (int n = 0; n < 1'000'000; ++n) {
        const uint32_t a = random.bits(32);
        const uint32_t b = n % 2 ? random.bits(32) : a ^ (random.bits(1) << 31 | random.bits(27));
        const float x = std::bit_cast<float>(a), y = std::bit_cast<float>(b), z = x + y;
        if (!std::isnormal(x) || !std::isnormal(y) || !std::isnormal(z)) continue;
        ASSERT_EQ(oracle.sum(a, b), std::bit_cast<uint32_t>(z)) << std::hex << a << " " << b;
    }
}

double value(uint32_t bits) { return std::bit_cast<float>(bits); }

std::size_t class_named(const std::vector<OperandClass>& classes, const std::string& name) {
    for (std::size_t i = 0; i < classes.size(); ++i)
        if (classes[i].name == name) return i;
    ADD_FAILURE() << "no class " << name;
    return 0;
}

TEST(Operands, TieClassMakesTiesAndTheirNeighbours) {
    SumOperands operands(0);
    MpfrOracle oracle;
    const std::size_t tie = class_named(operands.classes(), "tie and its neighbours");
    unsigned ties = 0;
    constexpr unsigned kCount = 10'000;
    for (unsigned n = 0; n < kCount; ++n) {
        const Fp32Pair pair = operands.make(tie);
        const uint32_t sum = oracle.sum(pair.a, pair.b);
        if (!oracle.inexact() || (sum & 0x7f800000) == 0x7f800000) continue;
        // A tie lies as far from its rounded value as that is from the next one, in double exact
        // when the operands are near enough.
        const double exact = value(pair.a) + value(pair.b);
        const double away = exact - value(sum);
        const double other =
            std::nextafter(static_cast<float>(value(sum)), away > 0 ? INFINITY : -INFINITY);
        ties += std::abs(away) == std::abs(other - exact);
    }
    EXPECT_GT(ties, kCount / 6);
    EXPECT_LT(ties, kCount * 5 / 6);
}

TEST(Operands, BorderClassesLieOnBothSidesOfTheBorder) {
    MpfrOracle oracle;
    const auto share = [&](auto& operands, const char* name, auto happens) {
        const std::size_t index = class_named(operands.classes(), name);
        unsigned count = 0;
        for (unsigned n = 0; n < 1000; ++n) count += happens(operands.make(index));
        return count;
    };
    const auto expect_both = [](unsigned count, const char* what) {
        EXPECT_GT(count, 50u) << what;
        EXPECT_LT(count, 950u) << what;
    };
    const auto infinite = [](uint32_t bits) { return (bits & 0x7fffffff) == 0x7f800000; };
    const auto zero = [](uint32_t bits) { return (bits & 0x7fffffff) == 0; };
    ProductOperands products(3);
    SumOperands sums(3);
    Sum4Operands quads(3);
    const auto product = [&](Bf16Pair p) { return oracle.product(p.a, p.b); };
    const auto sum = [&](Fp32Pair p) { return oracle.sum(p.a, p.b); };
    const auto sum4 = [&](const Fp32Group& g) { return oracle.sum4(g[0], g[1], g[2], g[3]); };
    expect_both(share(products, "underflow border", [&](auto p) { return zero(product(p)); }),
                "flushed products");
    expect_both(share(products, "overflow border", [&](auto p) { return infinite(product(p)); }),
                "overflowing products");
    expect_both(share(sums, "underflow border", [&](auto p) { return zero(sum(p)); }),
                "flushed sums");
    expect_both(share(sums, "overflow border", [&](auto p) { return infinite(sum(p)); }),
                "overflowing sums");
    expect_both(share(quads, "underflow border", [&](auto g) { return zero(sum4(g)); }),
                "flushed sums of four");
    expect_both(share(quads, "overflow border", [&](auto g) { return infinite(sum4(g)); }),
                "overflowing sums of four");
    const unsigned survivors = share(quads, "one small survivor", [&](const Fp32Group& g) {
        const uint32_t s = sum4(g);
        return std::find(g.begin(), g.end(), s) != g.end();
    });
    EXPECT_GT(survivors, 950u);
}

}  // namespace
}  // namespace tandem::testbench
