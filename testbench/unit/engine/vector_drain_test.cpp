// SPDX-License-Identifier: Apache-2.0
// Values of the vector unit against plain loops. Arithmetic is written out here in wider types; its
// corner cases have tests of their own (numerics_test).
#include "engine/vector_drain.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "arch/numerics.h"
#include "testbench/support/naive_bf16.h"
#include "testbench/support/seeded.h"

namespace tandem::engine {
namespace {

using testbench::Seeded;
namespace naive_bf16 = testbench::naive_bf16;

double half_even(double value) {
    const double below = std::floor(value), rest = value - below;
    if (rest == 0.5) return std::fmod(below, 2.0) == 0.0 ? below : below + 1;
    return rest > 0.5 ? below + 1 : below;
}

/// acc * scale, rounded to fp32 and then to the nearest integer.
double single(double acc, float scale) {
    return half_even(
        static_cast<float>(static_cast<double>(static_cast<float>(acc)) * double{scale}));
}

/// x * m / 2^31 with ties up, then / 2^right with ties away from zero.
double gemmlowp(int64_t x, uint32_t multiplier, int right) {
    const auto high = std::floor(
        std::ldexp(static_cast<long double>(x) * static_cast<long double>(multiplier), -31) + 0.5L);
    return static_cast<double>(std::roundl(std::ldexp(high, -right)));
}

int clamped(double value, double low, double high) {
    return static_cast<int>(value < low ? low : value > high ? high : value);
}

int byte_at(const std::vector<uint8_t>& buffer, uint64_t address) {
    return static_cast<int8_t>(buffer.at(address));
}

/// Empty when the buffers are the same.
std::string first_difference(const std::vector<uint8_t>& found,
                             const std::vector<uint8_t>& expected) {
    for (size_t i = 0; i < expected.size(); ++i)
        if (found[i] != expected[i])
            return "byte " + std::to_string(i) + ": expected " +
                   std::to_string(byte_at(expected, i)) + ", found " +
                   std::to_string(byte_at(found, i));
    return {};
}

template <class T>
void put(std::vector<uint8_t>& buffer, uint64_t address, T value) {
    std::memcpy(buffer.data() + address, &value, sizeof value);
}

/// Requantisation of one channel, both forms.
struct Channel {
    explicit Channel(Seeded& random)
        : bias(static_cast<int32_t>(random.between(-9000, 9000))),
          scale(static_cast<float>(1 + random.below(4000)) / 262144.0f),
          multiplier(static_cast<uint32_t>(random.between(1ll << 30, (1ll << 31) - 1))),
          right(static_cast<int>(random.between(3, 12))) {}
    void put_into(std::vector<uint8_t>& buffer, uint64_t address, bool gemmlowp_form) const {
        put(buffer, address, bias);
        put(buffer, address + 4, gemmlowp_form ? multiplier : std::bit_cast<uint32_t>(scale));
        put(buffer, address + 8, gemmlowp_form ? -right : 0);
    }
    double apply(int64_t sum, bool gemmlowp_form) const {
        return gemmlowp_form ? gemmlowp(sum + bias, multiplier, right)
                             : single(static_cast<double>(sum + bias), scale);
    }
    int32_t bias;
    float scale;
    uint32_t multiplier;
    int right;
};

/// Those that this machine can run.
std::vector<VectorKernel> kernels() {
    std::vector<VectorKernel> list;
    for (const auto kernel : {VectorKernel::kPlain, VectorKernel::kAvx2, VectorKernel::kAvx512})
        if (kernel <= best_vector_kernel()) list.push_back(kernel);
    return list;
}

class Rounding : public testing::TestWithParam<bool> {};

TEST_P(Rounding, OfRequantiseAgreesWithPlainLoops) {
    constexpr uint32_t kArrayCols = 9;
    for (uint64_t seed = 0; seed < 300; ++seed) {
        Seeded random(seed);
        auto buffer = random.bytes(4096);
        isa::Requantise op;
        op.rows = static_cast<uint16_t>(1 + random.below(10)),
        op.cols = static_cast<uint16_t>(1 + random.below(kArrayCols));
        op.row_stride = static_cast<uint16_t>(op.cols + random.below(5));
        op.ub_addr = static_cast<uint32_t>(random.below(500)), op.params_addr = 1024;
        op.zero_point = random.int8();
        op.clamp_min = static_cast<int8_t>(random.between(-128, 0)),
        op.clamp_max = static_cast<int8_t>(random.between(0, 127));
        op.rounding = GetParam();
        std::vector<Channel> channels;
        for (uint32_t c = 0; c < op.cols; ++c) {
            channels.emplace_back(random);
            channels.back().put_into(buffer, 1024 + c * 12, GetParam());
        }
        std::vector<int32_t> sums(size_t{op.rows} * kArrayCols);
        for (int32_t& sum : sums) sum = static_cast<int32_t>(random.between(-200000, 200000));
        auto expected = buffer;
        for (uint32_t row = 0; row < op.rows; ++row)
            for (uint32_t c = 0; c < op.cols; ++c)
                expected[op.ub_addr + row * op.row_stride + c] = static_cast<uint8_t>(clamped(
                    channels[c].apply(sums[row * kArrayCols + c], GetParam()) + op.zero_point,
                    op.clamp_min, op.clamp_max));
        requantise_rows(op, sums, kArrayCols, buffer);
        ASSERT_EQ(first_difference(buffer, expected), "")
            << op.rows << " rows, " << op.cols << " columns, seed " << seed;
    }
}

/// Whatever the bits of sums and parameters: against the arithmetic of one value at a time.
TEST_P(Rounding, OfRequantiseAgreesForAnyBits) {
    constexpr uint32_t kArrayCols = 70;
    for (uint64_t seed = 0; seed < 300; ++seed) {
        Seeded random(seed);
        auto buffer = random.bytes(4096);
        isa::Requantise op;
        op.rows = 3, op.cols = static_cast<uint16_t>(1 + random.below(kArrayCols));
        op.row_stride = op.cols, op.params_addr = 1024, op.rounding = GetParam();
        op.zero_point = random.int8(), op.clamp_min = random.int8(), op.clamp_max = random.int8();
        std::vector<int32_t> sums(size_t{op.rows} * kArrayCols);
        for (int32_t& sum : sums) sum = random.int32();
        for (uint32_t c = 0; c < op.cols; ++c) {
            // Often a factor that brings large sums next to the clamp, and to halves.
            const float factor = std::ldexp(1.0f, static_cast<int>(random.between(-34, -20)));
            if (random.chance(60)) put(buffer, 1024 + c * 12 + 4, std::bit_cast<uint32_t>(factor));
            if (random.chance(30)) sums[c] = static_cast<int32_t>(random.between(-40, 40)) << 24;
            if (random.chance(30)) put(buffer, 1024 + c * 12, 0);
        }
        auto expected = buffer;
        for (uint32_t row = 0; row < op.rows; ++row)
            for (uint32_t c = 0; c < op.cols; ++c) {
                numerics::ChannelParams p;
                std::memcpy(&p, buffer.data() + 1024 + c * 12, sizeof p);
                const int32_t value = numerics::requantise(
                    numerics::wrap_add(sums[row * kArrayCols + c], p.bias), p.multiplier, p.shift,
                    static_cast<numerics::Rounding>(op.rounding));
                expected[row * op.cols + c] = static_cast<uint8_t>(
                    numerics::to_int8(value, op.zero_point, op.clamp_min, op.clamp_max));
            }
        for (const auto kernel : kernels()) {
            auto found = buffer;
            requantise_rows(op, sums, kArrayCols, found, kernel);
            ASSERT_EQ(first_difference(found, expected), "")
                << op.cols << " columns, kernel " << static_cast<int>(kernel) << ", seed " << seed;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Forms, Rounding, testing::Bool(), [](const auto& info) {
    return std::string(info.param ? "gemmlowp" : "single");
});

/// What docs/numerics.md says of sums, in double; then the function; then bf16 by halving.
uint32_t float_activation(uint32_t sum, uint32_t bias, const isa::Convert& op) {
    uint32_t bits = op.bias != 0 ? naive_bf16::sum(sum, bias) : naive_bf16::sum(sum, 0x80000000);
    if (op.function == 1 && naive_bf16::value(bits) <= 0) bits = 0;
    return bits;
}

uint16_t to_bf16(uint32_t fp32) {
    const uint32_t below = fp32 & 0xffff0000;
    if (std::isnan(naive_bf16::value(fp32))) return 0x7fc0;
    const uint32_t rest = fp32 - below;
    const bool up = rest > 0x8000 || (rest == 0x8000 && (below & 0x10000) != 0);
    return static_cast<uint16_t>((below >> 16) + (up ? 1 : 0));
}

TEST(VectorConvert, AgreesWithPlainLoops) {
    constexpr uint32_t kArrayCols = 40;
    constexpr uint32_t kExtremes[] = {0,          0x80000000, 0x00000001, 0x807fffff,
                                      0x7f800000, 0xff800000, 0x7f800001, 0xffffffff,
                                      0x7f7fffff, 0x3f808000, 0x3f818000, 0xbf808000};
    for (uint64_t seed = 0; seed < 400; ++seed) {
        Seeded random(seed);
        const auto any = [&]() -> uint32_t {
            if (random.chance(20)) return kExtremes[random.below(std::size(kExtremes))];
            const auto bits = static_cast<uint32_t>(random.int32());
            return random.chance(70) ? (bits & 0x807fffff) | 0x3f800000 : bits;
        };
        auto buffer = random.bytes(8192);
        isa::Convert op;
        op.rows = static_cast<uint16_t>(1 + random.below(10)),
        op.cols = static_cast<uint16_t>(1 + random.below(kArrayCols));
        op.wide = random.chance(50), op.bias = random.chance(50), op.function = random.chance(50);
        const uint32_t bytes = op.wide != 0 ? 4 : 2;
        op.row_stride = static_cast<uint32_t>(op.cols * bytes + random.below(9));
        op.ub_addr = static_cast<uint32_t>(random.below(500)), op.params_addr = 4096;
        for (uint32_t c = 0; c < op.cols; ++c) put(buffer, op.params_addr + c * 4, any());
        std::vector<int32_t> sums(size_t{op.rows} * kArrayCols);
        for (int32_t& sum : sums) sum = static_cast<int32_t>(any());
        auto expected = buffer;
        for (uint32_t row = 0; row < op.rows; ++row)
            for (uint32_t c = 0; c < op.cols; ++c) {
                uint32_t bias;
                std::memcpy(&bias, buffer.data() + op.params_addr + c * 4, 4);
                const uint32_t result =
                    float_activation(static_cast<uint32_t>(sums[row * kArrayCols + c]), bias, op);
                const uint64_t at = op.ub_addr + uint64_t{row} * op.row_stride + c * bytes;
                op.wide != 0 ? put(expected, at, result) : put(expected, at, to_bf16(result));
            }
        for (const auto kernel : kernels()) {
            auto found = buffer;
            convert_rows(op, {}, sums, kArrayCols, found, kernel);
            ASSERT_EQ(first_difference(found, expected), "")
                << op.rows << " rows, " << op.cols << " columns, kernel "
                << static_cast<int>(kernel) << ", seed " << seed;
        }
    }
}

/// r0 is the sum, r1 the bias or 0; what comes out is r0's bits, or the bf16 next to it.
TEST(VectorConvert, RunsAChainOverSumsOfAnyType) {
    constexpr uint32_t kArrayCols = 1100;  // more than one block
    using isa::ChainOp;
    for (const bool floats : {false, true})
        for (const bool bias : {false, true})
            for (const bool wide : {false, true}) {
                Seeded random(floats * 4u + bias * 2u + wide);
                auto buffer = random.bytes(1 << 15);
                isa::Convert op;
                op.rows = 3, op.cols = 1050, op.function = 2, op.bias = bias, op.wide = wide;
                op.row_stride = 4 * op.cols + 3, op.ub_addr = 1, op.params_addr = 1 << 14;
                arch::VectorState state;
                state.constants[0] = floats ? 0x3e800000 : 3;  // 1/4
                state.chain[0] = {floats ? ChainOp::kAddF : ChainOp::kAddI, 0, 0, 1, 0};
                state.chain[1] = {floats ? ChainOp::kMulF : ChainOp::kMulI, 0, 0, 4, 0};
                state.chain[2] = {floats ? ChainOp::kAddF : ChainOp::kAddI, 0, 0, 2, 0};
                std::vector<int32_t> sums(size_t{op.rows} * kArrayCols);
                for (int32_t& sum : sums) sum = random.int32();
                auto expected = buffer;
                for (uint32_t row = 0; row < op.rows; ++row)
                    for (uint32_t c = 0; c < op.cols; ++c) {
                        uint32_t bits = 0;
                        if (bias) std::memcpy(&bits, buffer.data() + op.params_addr + c * 4, 4);
                        const auto sum = static_cast<uint32_t>(sums[row * kArrayCols + c]);
                        uint32_t result = (sum + bits) * 3;
                        if (floats) {
                            const double total =
                                naive_bf16::value(naive_bf16::sum(sum, bits)) / 4.0;
                            result = naive_bf16::bits(naive_bf16::flushed(total) + 0.0);
                        }
                        const uint64_t at =
                            op.ub_addr + uint64_t{row} * op.row_stride + c * (wide ? 4 : 2);
                        if (wide)
                            put(expected, at, result);
                        else
                            put(expected, at,
                                to_bf16(naive_bf16::bits(
                                    naive_bf16::flushed(naive_bf16::value(result)))));
                    }
                for (const auto kernel : kernels()) {
                    auto found = buffer;
                    convert_rows(op, state, sums, kArrayCols, found, kernel);
                    ASSERT_EQ(first_difference(found, expected), "")
                        << "floats " << floats << ", bias " << bias << ", wide " << wide
                        << ", kernel " << static_cast<int>(kernel);
                }
            }
}

}  // namespace
}  // namespace tandem::engine
