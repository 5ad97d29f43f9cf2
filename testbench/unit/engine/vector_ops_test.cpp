// SPDX-License-Identifier: Apache-2.0
// Values of the vector unit against plain loops. Arithmetic is written out here in wider types; its
// corner cases have tests of their own (numerics_test).
#include "engine/vector_ops.h"

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

TEST_P(Rounding, OfPoolMeanAgreesWithPlainLoops) {
    for (uint64_t seed = 0; seed < 200; ++seed) {
        Seeded random(seed);
        auto buffer = random.bytes(4096);
        const auto height = static_cast<uint16_t>(1 + random.below(6)),
                   width = static_cast<uint16_t>(1 + random.below(6)),
                   depth = static_cast<uint16_t>(1 + random.below(5));
        const isa::Geometry g{.in_height = height,
                              .in_width = width,
                              .pixel_stride = depth,
                              .channels = depth,
                              .kernel_h = static_cast<uint8_t>(height),
                              .kernel_w = static_cast<uint8_t>(width),
                              .stride_h = 1,
                              .stride_w = 1,
                              .dilation_h = 1,
                              .dilation_w = 1,
                              .pad_top = 0,
                              .pad_left = 0,
                              .out_height = 1,
                              .out_width = 1,
                              .image_stride = 0,
                              .pad_value = 0};
        const Channel channel(random);
        channel.put_into(buffer, 2048, GetParam());
        isa::Pool op;
        op.in_addr = static_cast<uint32_t>(random.below(100)), op.out_addr = 1000, op.images = 1,
        op.kind = 2, op.rounding = GetParam();
        op.zero_point = random.int8(), op.clamp_min = -128, op.clamp_max = 127,
        op.params_addr = 2048;
        const auto before = buffer;
        pool_windows(op, g, buffer);
        for (uint32_t c = 0; c < depth; ++c) {
            int64_t sum = 0;
            for (uint32_t pixel = 0; pixel < uint32_t{height} * width; ++pixel)
                sum += byte_at(before, op.in_addr + pixel * depth + c);
            ASSERT_EQ(byte_at(buffer, 1000 + c),
                      clamped(channel.apply(sum, GetParam()) + op.zero_point, -128, 127))
                << "channel " << c << ", seed " << seed;
        }
    }
}

TEST_P(Rounding, OfAddAgreesWithPlainLoops) {
    for (uint64_t seed = 0; seed < 300; ++seed) {
        Seeded random(seed);
        auto buffer = random.bytes(4096);
        const Channel a(random), b(random), out(random);
        const std::array<int32_t, 3> zero = {random.int8(), random.int8(), random.int8()};
        const int right[3] = {static_cast<int>(random.between(0, 5)),
                              static_cast<int>(random.between(0, 5)),
                              static_cast<int>(random.between(17, 20))};
        for (int i = 0; i < 3; ++i)
            put(buffer, 2048 + 4 * static_cast<uint64_t>(i), zero[static_cast<size_t>(i)]);
        const auto scale = [&](const Channel& channel) {
            return GetParam() ? channel.multiplier : std::bit_cast<uint32_t>(channel.scale);
        };
        put(buffer, 2060, scale(a)), put(buffer, 2064, -right[0]);
        put(buffer, 2068, scale(b)), put(buffer, 2072, -right[1]);
        put(buffer, 2076, scale(out)), put(buffer, 2080, -right[2]);
        put(buffer, 2084, -100), put(buffer, 2088, 90);
        isa::Add op;
        op.a_addr = 10, op.b_addr = 301, op.out_addr = 1003,
        op.count = static_cast<uint32_t>(1 + random.below(200)), op.params_addr = 2048;
        op.rounding = GetParam();
        auto expected = buffer;
        for (uint32_t i = 0; i < op.count; ++i) {
            const int x = byte_at(buffer, 10 + i) - zero[0], y = byte_at(buffer, 301 + i) - zero[1];
            double sum = 0;
            if (GetParam())
                sum = gemmlowp(
                    static_cast<int64_t>(gemmlowp(int64_t{x} << 20, a.multiplier, right[0]) +
                                         gemmlowp(int64_t{y} << 20, b.multiplier, right[1])),
                    out.multiplier, right[2]);
            else
                sum =
                    half_even(static_cast<float>(double{static_cast<float>(x * double{a.scale})} +
                                                 double{static_cast<float>(y * double{b.scale})}));
            expected[1003 + i] = static_cast<uint8_t>(clamped(sum + zero[2], -100, 90));
        }
        add_elements(op, buffer);
        ASSERT_EQ(first_difference(buffer, expected), "") << op.count << " elements, seed " << seed;
    }
}

INSTANTIATE_TEST_SUITE_P(Forms, Rounding, testing::Bool(), [](const auto& info) {
    return std::string(info.param ? "gemmlowp" : "single");
});

isa::Geometry random_window(Seeded& random, unsigned most_dilation) {
    const auto small = [&](uint64_t most) { return 1 + random.below(most); };
    isa::Geometry g;
    g.in_height = static_cast<uint16_t>(small(7)), g.in_width = static_cast<uint16_t>(small(7));
    g.channels = static_cast<uint16_t>(small(5)),
    g.pixel_stride = static_cast<uint16_t>(g.channels + random.below(3));
    g.kernel_h = static_cast<uint8_t>(small(4)), g.kernel_w = static_cast<uint8_t>(small(4));
    g.stride_h = static_cast<uint8_t>(small(3)), g.stride_w = static_cast<uint8_t>(small(3));
    g.dilation_h = static_cast<uint8_t>(small(most_dilation)),
    g.dilation_w = static_cast<uint8_t>(small(most_dilation));
    g.pad_top = static_cast<uint8_t>(random.below(3)),
    g.pad_left = static_cast<uint8_t>(random.below(3));
    g.out_height = static_cast<uint16_t>(small(4)), g.out_width = static_cast<uint16_t>(small(4));
    g.image_stride = static_cast<uint32_t>(uint64_t{g.in_height} * g.in_width * g.pixel_stride +
                                           random.below(7));
    return g;
}

/// Maximum (kind 0) or average (1) over the taps that lie inside the image.
int pooled(const std::vector<uint8_t>& buffer, const isa::Geometry& g, const isa::Pool& op,
           uint32_t image, int oh, int ow, uint32_t channel) {
    int largest = -128, sum = 0, count = 0;
    for (int kh = 0; kh < g.kernel_h; ++kh)
        for (int kw = 0; kw < g.kernel_w; ++kw) {
            const int ih = oh * g.stride_h + kh * g.dilation_h - g.pad_top,
                      iw = ow * g.stride_w + kw * g.dilation_w - g.pad_left;
            if (ih < 0 || iw < 0 || ih >= g.in_height || iw >= g.in_width) continue;
            const int value = byte_at(
                buffer, op.in_addr + uint64_t{image} * g.image_stride +
                            static_cast<uint64_t>(ih * g.in_width + iw) * g.pixel_stride + channel);
            largest = std::max(largest, value);
            sum += value, ++count;
        }
    const double average = count == 0
                               ? 0.0
                               : static_cast<double>(std::roundl(static_cast<long double>(sum) /
                                                                 static_cast<long double>(count)));
    return clamped(op.kind == 0 ? largest : average, op.clamp_min, op.clamp_max);
}

class Pooling : public testing::TestWithParam<unsigned> {
  protected:
    void expect_agreement(unsigned most_dilation) {
        for (uint64_t seed = 0; seed < 500; ++seed) {
            Seeded random(seed);
            auto buffer = random.bytes(8192);
            const isa::Geometry g = random_window(random, most_dilation);
            isa::Pool op;
            op.in_addr = static_cast<uint32_t>(random.below(100)), op.out_addr = 4096,
            op.images = static_cast<uint16_t>(1 + random.below(3));
            op.kind = static_cast<uint8_t>(GetParam());
            op.clamp_min = static_cast<int8_t>(random.between(-128, 0)),
            op.clamp_max = static_cast<int8_t>(random.between(0, 127));
            auto expected = buffer;
            uint64_t out = op.out_addr;
            for (uint32_t image = 0; image < op.images; ++image)
                for (int oh = 0; oh < g.out_height; ++oh)
                    for (int ow = 0; ow < g.out_width; ++ow)
                        for (uint32_t c = 0; c < g.channels; ++c)
                            expected[out++] =
                                static_cast<uint8_t>(pooled(buffer, g, op, image, oh, ow, c));
            pool_windows(op, g, buffer);
            ASSERT_EQ(first_difference(buffer, expected), "")
                << "kernel " << int{g.kernel_h} << "x" << int{g.kernel_w} << ", seed " << seed;
        }
    }
};

TEST_P(Pooling, AgreesWithPlainLoops) { expect_agreement(1); }

// The geometry of a pool instruction has dilations like any other.
TEST_P(Pooling, AgreesWithPlainLoopsWithDilation) { expect_agreement(3); }

INSTANTIATE_TEST_SUITE_P(Kinds, Pooling, testing::Values(0u, 1u), [](const auto& info) {
    return std::string(info.param == 0 ? "max" : "average");
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

TEST(VectorSoftmax, AgreesWithPlainLoops) {
    for (uint64_t seed = 0; seed < 200; ++seed) {
        Seeded random(seed);
        auto buffer = random.bytes(8192);
        const double beta = static_cast<double>(1 + random.below(100)) / 200.0;
        std::vector<float> table(256);
        for (size_t d = 0; d < 256; ++d)
            table[d] = static_cast<float>(std::exp(-beta * static_cast<double>(d)));
        std::memcpy(buffer.data() + 4096, table.data(), 1024);
        isa::Softmax op;
        op.in_addr = 3, op.out_addr = 2000, op.params_addr = 4096;
        op.rows = static_cast<uint16_t>(1 + random.below(4)),
        op.cols = static_cast<uint16_t>(1 + random.below(40));
        auto expected = buffer;
        for (uint32_t row = 0; row < op.rows; ++row) {
            int largest = -128;
            for (uint32_t c = 0; c < op.cols; ++c)
                largest = std::max(largest, byte_at(buffer, 3 + row * op.cols + c));
            float sum = 0;
            const auto at = [&](uint32_t c) {
                return table[static_cast<size_t>(largest - byte_at(buffer, 3 + row * op.cols + c))];
            };
            for (uint32_t c = 0; c < op.cols; ++c)
                sum = static_cast<float>(double{sum} + double{at(c)});
            const auto inverse = static_cast<float>(256.0 / double{sum});
            for (uint32_t c = 0; c < op.cols; ++c) {
                const auto scaled = static_cast<float>(
                    double{static_cast<float>(double{at(c)} * double{inverse})} + 0.5);
                expected[2000 + row * op.cols + c] =
                    static_cast<uint8_t>(clamped(std::floor(double{scaled}) - 128, -128, 127));
            }
        }
        softmax_rows(op, buffer);
        ASSERT_EQ(first_difference(buffer, expected), "")
            << op.rows << "x" << op.cols << ", seed " << seed;
    }
}

TEST(VectorSoftmax, WorksInPlace) {
    std::vector<uint8_t> buffer(4096);
    const float table[2] = {1.0f, 0.5f};
    std::memcpy(buffer.data() + 1024, table, sizeof table);
    buffer[0] = 5, buffer[1] = 5;
    isa::Softmax op;
    op.rows = 1, op.cols = 2, op.params_addr = 1024;
    softmax_rows(op, buffer);
    EXPECT_EQ(byte_at(buffer, 0), 0) << "one half of 256, less 128";
    EXPECT_EQ(byte_at(buffer, 1), 0) << "one half of 256, less 128";
}

}  // namespace
}  // namespace tandem::engine
