// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/quantise.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <stdexcept>

#include "testbench/support/naive_ops.h"

namespace tandem::testbench {
namespace {

using compiler::Activation;
using compiler::Tensor;
using numerics::Rounding;

Tensor tensor(float scale, int32_t zero_point) {
    Tensor t;
    t.quantization = {{scale}, {zero_point}, 0};
    return t;
}

TEST(ChannelMultiplier, SingleIsTheFp32Quotient) {
    const auto m = compiler::channel_multiplier(0.1f, 0.2f, 0.3f, Rounding::kSingle);
    EXPECT_EQ(std::bit_cast<float>(m.value), 0.1f * 0.2f / 0.3f);
}

TEST(ChannelMultiplier, GemmlowpIsTheOraclesQ31) {
    std::mt19937 random(0);
    std::uniform_real_distribution<float> exponent(-12, 2);
    for (int i = 0; i < 1000; ++i) {
        const float in = std::exp2(exponent(random)), weight = std::exp2(exponent(random)),
                    out = std::exp2(exponent(random));
        const auto m = compiler::channel_multiplier(in, weight, out, Rounding::kGemmlowp);
        const auto expected = naive_quantise(double{in} * double{weight} / double{out});
        ASSERT_EQ(m.value, static_cast<uint32_t>(expected.multiplier));
        ASSERT_EQ(m.shift, expected.shift);
        ASSERT_GE(m.value, 1u << 30);
        ASSERT_LT(m.value, 1u << 31);
    }
}

TEST(ChannelMultiplier, RoundsUpToThePowerOfTwo) {
    const auto m =
        compiler::channel_multiplier(std::nextafter(1.0f, 0.0f), 1.0f, 1.0f, Rounding::kGemmlowp);
    EXPECT_EQ(m.shift, 0);
    EXPECT_LT(m.value, 1u << 31);
    const auto one = compiler::channel_multiplier(1, 1, 1, Rounding::kGemmlowp);
    EXPECT_EQ(one.value, 1u << 30);
    EXPECT_EQ(one.shift, 1);
}

TEST(ChannelMultiplier, BecomesZeroBelowTheLeastShift) {
    const auto m = compiler::channel_multiplier(1e-10f, 1e-10f, 1.0f, Rounding::kGemmlowp);
    EXPECT_EQ(m.value, 0u);
    EXPECT_EQ(m.shift, 0);
}

TEST(ChannelMultiplier, RejectsWhatIsTooLarge) {
    for (const Rounding rounding : {Rounding::kSingle, Rounding::kGemmlowp}) {
        EXPECT_THROW(compiler::channel_multiplier(1e30f, 1e30f, 1e-30f, rounding),
                     std::domain_error);
        EXPECT_THROW(compiler::channel_multiplier(1e9f, 2.0f, 1.0f, rounding), std::domain_error);
    }
}

TEST(OutputRange, FollowsTheFusedActivation) {
    const Tensor t = tensor(0.05f, -10);
    const auto range = [&](Activation a) {
        const auto r = compiler::output_range(t, a, Rounding::kSingle);
        return std::pair{r.low, r.high};
    };
    EXPECT_EQ(range(Activation::kNone), (std::pair{-128, 127}));
    EXPECT_EQ(range(Activation::kRelu), (std::pair{-10, 127}));
    EXPECT_EQ(range(Activation::kRelu6), (std::pair{-10, 110}));
    EXPECT_EQ(range(Activation::kReluN1To1), (std::pair{-30, 10}));
}

TEST(OutputRange, StaysWithinInt8) {
    const auto r =
        compiler::output_range(tensor(0.001f, 120), Activation::kRelu6, Rounding::kSingle);
    EXPECT_EQ(r.low, 120);
    EXPECT_EQ(r.high, 127);
    const auto s =
        compiler::output_range(tensor(1e-30f, -128), Activation::kReluN1To1, Rounding::kGemmlowp);
    EXPECT_EQ(s.low, -128);
    EXPECT_EQ(s.high, 127);
}

TEST(MeanMultiplier, DividesByTheCount) {
    const auto m = compiler::mean_multiplier(0.5f, 0.25f, 49, Rounding::kSingle);
    EXPECT_FLOAT_EQ(std::bit_cast<float>(m.value), 2.0f / 49);
    const auto q = compiler::mean_multiplier(0.5f, 0.25f, 49, Rounding::kGemmlowp);
    EXPECT_NEAR(std::ldexp(q.value, q.shift - 31), 2.0 / 49, 1e-8);
}

TEST(SoftmaxTable, FallsFromOne) {
    const auto table = compiler::softmax_table(0.1f, 1.0f);
    EXPECT_EQ(table[0], 1.0f);
    EXPECT_FLOAT_EQ(table[10], std::exp(-1.0f));
    for (size_t d = 1; d < table.size(); ++d) EXPECT_LT(table[d], table[d - 1]);
}

}  // namespace
}  // namespace tandem::testbench
