// SPDX-License-Identifier: Apache-2.0
// The fast bf16 product of the model against plain loops, bit by bit.
#include "engine/gemm_bf16.h"

#include <gtest/gtest.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "testbench/support/naive_bf16.h"
#include "testbench/support/seeded.h"

namespace tandem::engine {
namespace {

namespace naive = testbench::naive_bf16;
using testbench::Seeded;

struct Problem {
    uint32_t count, k_len, array_rows, cols, stride;
    bool accumulate, sum4;
    std::vector<uint16_t> rows, tile;
    std::vector<int32_t> sums;
};

/// One column of the array, its zero rows included.
uint32_t column_sum(const Problem& p, uint32_t m, uint32_t c) {
    uint32_t sum = 0;
    std::vector<uint32_t> group;
    for (uint32_t k = 0; k < p.array_rows; ++k) {
        const bool inside = k < p.k_len;
        const uint32_t product = naive::product(inside ? p.rows[size_t{m} * p.stride + k] : 0,
                                                inside ? p.tile[size_t{k} * p.cols + c] : 0);
        if (!p.sum4) {
            sum = naive::sum(sum, product);
            continue;
        }
        group.push_back(product);
        if (k + 1 == p.array_rows) group.resize(4, 0);
        if (group.size() < 4) continue;
        sum = naive::sum(sum, naive::sum4(group));
        group.clear();
    }
    return sum;
}

std::vector<int32_t> naive_product(const Problem& p) {
    std::vector<int32_t> sums = p.sums;
    for (uint32_t m = 0; m < p.count; ++m)
        for (uint32_t c = 0; c < p.cols; ++c) {
            int32_t& sum = sums[size_t{m} * p.cols + c];
            const uint32_t column = column_sum(p, m, c);
            sum = static_cast<int32_t>(p.accumulate ? naive::sum(static_cast<uint32_t>(sum), column)
                                                    : column);
        }
    return sums;
}

std::vector<int32_t> multiply(GemmBf16& gemm, const Problem& p) {
    std::vector<int32_t> sums = p.sums;
    gemm.multiply(p.rows.data(), p.count, p.stride, p.tile.data(), p.k_len, p.array_rows, p.cols,
                  p.accumulate, sums.data(), p.sum4);
    return sums;
}

/// What the elements of a problem are like.
enum class Values {
    kUsual,     ///< around one: products and sums of groups are exact in the host's formats
    kWide,      ///< exponents far apart
    kEdges,     ///< products about where fp32 ends, at either side
    kAnything,  ///< any pattern
    kExtremes,  ///< zeros, subnormals, infinities, NaN among the usual
    kSpread,    ///< products of a group as far apart as a double can bear, and a little further
    kValues
};

uint16_t element(Values values, Seeded& random) {
    const auto bits = static_cast<uint16_t>(random.bits());
    const auto exponent = [&](int64_t low, int64_t high) {
        return static_cast<uint16_t>((bits & 0x807f) | random.between(low, high) << 7);
    };
    constexpr uint16_t kExtremes[] = {0, 0x8000, 0x0001, 0x807f, 0x7f80, 0xff80, 0x7f81, 0xffff};
    switch (values) {
        case Values::kUsual:
            return exponent(117, 130);
        case Values::kWide:
            return exponent(70, 180);
        case Values::kEdges:
            return random.chance(50) ? exponent(63, 64) : exponent(190, 191);
        case Values::kExtremes:
            return random.chance(5) ? kExtremes[random.below(8)] : exponent(117, 130);
        case Values::kSpread:
            return random.chance(50) ? exponent(110, 110) : exponent(127, 128);
        default:
            return bits;
    }
}

Problem problem(Values values, Seeded& random, uint32_t count, uint32_t k_len, uint32_t cols) {
    Problem p;
    p.count = count;
    p.k_len = k_len;
    p.cols = cols;
    p.array_rows = k_len + static_cast<uint32_t>(random.chance(50) ? random.below(6) : 0);
    p.stride = k_len + static_cast<uint32_t>(random.below(5));
    p.accumulate = random.chance(50);
    p.sum4 = random.chance(50);
    p.rows.resize(size_t{count} * p.stride);
    p.tile.resize(size_t{k_len} * cols);
    p.sums.resize(size_t{count} * cols);
    // Often one side of the edges throughout, so that not every problem has all of them.
    const bool low = random.chance(50), one_side = random.chance(70);
    for (auto* elements : {&p.rows, &p.tile})
        for (uint16_t& e : *elements) {
            e = element(values, random);
            if (values == Values::kEdges && one_side)
                e = static_cast<uint16_t>(
                    (e & 0x807f) | (low ? random.between(63, 64) : random.between(190, 191)) << 7);
        }
    for (int32_t& sum : p.sums)
        sum = static_cast<int32_t>(random.chance(70) ? element(values, random) << 16 | 0x1234
                                                     : random.bits());
    return p;
}

/// Every kernel that this machine can run.
class GemmBf16Kernel : public testing::TestWithParam<Bf16Kernel> {
  protected:
    void SetUp() override {
        if (GetParam() > best_bf16_kernel())
            GTEST_SKIP() << "this machine has no " << to_string(GetParam());
    }

    void expect_agreement(const Problem& p, const std::string& what) {
        const auto expected = naive_product(p), actual = multiply(gemm_, p);
        for (size_t i = 0; i < expected.size(); ++i)
            ASSERT_EQ(actual[i], expected[i])
                << what << ", " << p.count << "x" << p.k_len << "x" << p.cols << " in "
                << p.array_rows << " rows, accumulate " << p.accumulate << ", sum4 " << p.sum4
                << ", element " << i << std::hex << ": " << actual[i] << ", expected "
                << expected[i];
    }

    GemmBf16 gemm_{GetParam()};
};

TEST_P(GemmBf16Kernel, AgreesWithPlainLoopsWhateverTheValues) {
    for (uint64_t seed = 0; seed < 150; ++seed)
        for (int values = 0; values < static_cast<int>(Values::kValues); ++values) {
            Seeded random(seed * 100 + static_cast<uint64_t>(values));
            const auto count = static_cast<uint32_t>(1 + random.below(20)),
                       k_len = static_cast<uint32_t>(1 + random.below(random.chance(50) ? 40 : 6)),
                       cols = static_cast<uint32_t>(1 + random.below(40));
            ASSERT_NO_FATAL_FAILURE(expect_agreement(
                problem(static_cast<Values>(values), random, count, k_len, cols),
                "values " + std::to_string(values) + ", seed " + std::to_string(seed)));
        }
}

TEST_P(GemmBf16Kernel, AgreesForEverySmallShape) {
    for (uint32_t count = 1; count <= 5; ++count)
        for (uint32_t k_len = 1; k_len <= 5; ++k_len)
            for (uint32_t cols = 1; cols <= 35; ++cols) {
                Seeded random(cols);
                ASSERT_NO_FATAL_FAILURE(expect_agreement(
                    problem(Values::kExtremes, random, count, k_len, cols), "small"));
            }
}

TEST_P(GemmBf16Kernel, AgreesForAWholeTile) {
    Seeded random(9);
    for (const bool sum4 : {false, true}) {
        Problem p = problem(Values::kUsual, random, 35, 256, 256);
        p.array_rows = 256;
        p.sum4 = sum4;
        expect_agreement(p, "whole tile");
    }
}

TEST_P(GemmBf16Kernel, AgreesForMoreRowsThanArePackedAtOnce) {
    Seeded random(11);
    for (const bool sum4 : {false, true}) {
        Problem p = problem(Values::kUsual, random, 405, 9, 33);
        p.sum4 = sum4;
        // The first block of rows has no product that is tiny, the last one has.
        for (size_t i = 400 * size_t{p.stride}; i < p.rows.size(); ++i)
            p.rows[i] = element(Values::kEdges, random);
        expect_agreement(p, "many rows");
    }
}

TEST_P(GemmBf16Kernel, TakesATileAgainThatIsNamed) {
    Seeded random(12);
    Problem p = problem(Values::kWide, random, 5, 12, 20);
    const auto first = p.tile;
    auto second = first;
    for (uint16_t& e : second) e = element(Values::kEdges, random);
    const auto product = [&](const std::vector<uint16_t>& tile, uint64_t id, bool sum4) {
        p.tile = tile;
        p.sum4 = sum4;
        std::vector<int32_t> sums = p.sums;
        gemm_.multiply(p.rows.data(), p.count, p.stride, tile.data(), p.k_len, p.array_rows, p.cols,
                       p.accumulate, sums.data(), sum4, id);
        EXPECT_EQ(sums, naive_product(p)) << "tile " << id << ", sum4 " << sum4;
    };
    for (const bool sum4 : {false, true}) {
        product(first, 1, sum4);
        product(first, 1, sum4);
        product(second, 2, sum4);
        product(first, 0, sum4);
        product(second, 0, sum4);
    }
    product(second, 2, false);
}

/// A row and a column, in an array of `array_rows` rows; the sum's bits.
class Bf16Column : public GemmBf16Kernel {
  protected:
    uint32_t sum_of(const std::vector<uint16_t>& row, const std::vector<uint16_t>& column,
                    bool sum4 = false, uint32_t array_rows = 0, int64_t accumulator = -1) {
        int32_t sum = accumulator < 0 ? 0x12345678 : static_cast<int32_t>(accumulator);
        const auto k_len = static_cast<uint32_t>(row.size());
        gemm_.multiply(row.data(), 1, k_len, column.data(), k_len, std::max(array_rows, k_len), 1,
                       accumulator >= 0, &sum, sum4);
        return static_cast<uint32_t>(sum);
    }
};

constexpr uint16_t kOne = 0x3f80, kMinusOne = 0xbf80, kHuge = 0x7f00, kLeast = 0x0080;
constexpr uint32_t kMinusZero = 0x80000000;

TEST_P(Bf16Column, DoesNotFuseAProductThatOverflows) {
    // 2^128 is infinity before -2^127 is added to it.
    EXPECT_EQ(sum_of({kHuge, kHuge}, {kMinusOne, 0x4000}), 0x7f800000u);
}

TEST_P(Bf16Column, DoesNotFuseAProductThatIsTiny) {
    // 2^-126 + 2^-126 * 0.75: the second is zero by itself.
    EXPECT_EQ(sum_of({kLeast, kLeast}, {kOne, 0x3f40}), 0x00800000u);
}

TEST_P(Bf16Column, AddsInOrder) {
    const std::vector<uint16_t> ones(4, kOne);
    EXPECT_EQ(sum_of(ones, {0x4b80, kOne, 0xcb80, kOne}), 0x3f800000u) << "2^24 swallows the first";
    EXPECT_EQ(sum_of(ones, {0x4b80, 0xcb80, kOne, kOne}), 0x40000000u);
    EXPECT_EQ(sum_of(ones, {0x4b80, kOne, 0xcb80, kOne}, true), 0x40000000u) << "one rounding";
}

TEST_P(Bf16Column, FirstProductOfMinusZeroGivesPlusZero) {
    EXPECT_EQ(sum_of({0x8000}, {kOne}), 0u);
    EXPECT_EQ(sum_of({0x8000}, {kOne}, true, 4), 0u);
}

TEST_P(Bf16Column, ASumFlushedToMinusZeroStaysInTheLastRowOnly) {
    const std::vector<uint16_t> row = {kLeast, kLeast}, column = {kOne, 0xbfc0};  // 1 - 1.5
    EXPECT_EQ(sum_of(row, column, false, 2), kMinusZero);
    EXPECT_EQ(sum_of(row, column, false, 3), 0u) << "the third row adds +0";
}

TEST_P(Bf16Column, AGroupFlushedToMinusZeroMeetsPlusZero) {
    // The group is -0, but the partial sum above it +0.
    const std::vector<uint16_t> row(4, kLeast);
    EXPECT_EQ(sum_of(row, {kOne, 0xbfc0, 0, 0}, true, 4), 0u);
    // The second group takes the first one's 2^-126 below zero.
    const std::vector<uint16_t> rows(5, kLeast), column = {kOne, 0, 0, 0, 0xbfc0};
    EXPECT_EQ(sum_of(rows, column, true, 8), kMinusZero);
    EXPECT_EQ(sum_of(rows, column, true, 9), 0u) << "a third group adds +0";
}

TEST_P(Bf16Column, AGroupKeepsWhatItsLargeProductsLeave) {
    // 2B + small - 2B, at every distance: where a double holds it all and where it does not.
    for (uint32_t distance = 20; distance < 100; ++distance) {
        const auto large = static_cast<uint16_t>((127 + distance / 2) << 7 | 0x7f),
                   twice = static_cast<uint16_t>((128 + distance / 2) << 7 | 0x807f),
                   factor = static_cast<uint16_t>((127 + (distance + 1) / 2) << 7 | 0x7f);
        EXPECT_EQ(sum_of({factor, factor, 0x3fff, factor}, {large, large, 0x3fff, twice}, true),
                  0x407e0100u)
            << "distance " << distance;
    }
}

TEST_P(Bf16Column, AccumulatesWithOneSum) {
    EXPECT_EQ(sum_of({kOne}, {kOne}, false, 1, 0x4b800000), 0x4b800000u);
    EXPECT_EQ(sum_of({kOne, kOne}, {kOne, kOne}, false, 2, 0x4b800000), 0x4b800001u);
    EXPECT_EQ(sum_of({kOne}, {kOne}, false, 1, 0x007fffff), 0x3f800000u) << "subnormal is zero";
    EXPECT_EQ(sum_of({0}, {0}, false, 1, 0x007fffff), 0u);
    EXPECT_EQ(sum_of({kOne}, {kOne}, false, 1, 0x7fffffff), naive::kNan);
}

TEST_P(Bf16Column, EveryNanIsTheCanonicalOne) {
    for (const bool sum4 : {false, true}) {
        EXPECT_EQ(sum_of({0xffff}, {kOne}, sum4), naive::kNan);
        EXPECT_EQ(sum_of({0x7f80}, {0}, sum4), naive::kNan);
        EXPECT_EQ(sum_of({0x7f80, 0xff80}, {kOne, kOne}, sum4), naive::kNan);
    }
}

#if defined(__x86_64__)
TEST_P(GemmBf16Kernel, TakesNoNoticeOfTheHostsModesAndLeavesThemAlone) {
    constexpr unsigned kMaskAll = 0x1f80, kRoundUp = 0x4000, kFlush = 0x8040, kUnmasked = 0;
    for (const unsigned modes : {kMaskAll, kMaskAll | kRoundUp, kMaskAll | kFlush, kUnmasked})
        for (int values = 0; values < static_cast<int>(Values::kValues); ++values) {
            Seeded random(static_cast<uint64_t>(values));
            Problem p = problem(static_cast<Values>(values), random, 7, 20, 20);
            for (const bool sum4 : {false, true}) {
                p.sum4 = sum4;
                const auto expected = naive_product(p);
                const unsigned saved = _mm_getcsr();
                _mm_setcsr(modes);
                const auto actual = multiply(gemm_, p);
                const unsigned after = _mm_getcsr();
                _mm_setcsr(saved);
                EXPECT_EQ(actual, expected) << "values " << values << ", modes " << modes;
                EXPECT_EQ(after, modes) << "flags or modes changed";
            }
        }
}
#endif

TEST_P(GemmBf16Kernel, DoesNotReadBeyondTheReduction) {
    const std::vector<uint16_t> rows = {kOne, 0x7fff, 0x4000, 0x7fff}, tile = {0x4040};
    std::vector<int32_t> sums(2);
    gemm_.multiply(rows.data(), 2, 2, tile.data(), 1, 1, 1, false, sums.data(), false);
    EXPECT_EQ(sums, (std::vector<int32_t>{0x40400000, 0x40c00000}));
}

TEST_P(GemmBf16Kernel, LeavesOtherRowsAlone) {
    const std::vector<uint16_t> row = {kOne}, tile = {0x4040};
    std::vector<int32_t> sums = {5, 6, 7};
    gemm_.multiply(row.data(), 1, 1, tile.data(), 1, 8, 1, false, sums.data() + 1, false);
    EXPECT_EQ(sums, (std::vector<int32_t>{5, 0x40400000, 7}));
}

const auto kKernels = testing::Values(Bf16Kernel::kPlain, Bf16Kernel::kAvx2, Bf16Kernel::kAvx512);
std::string kernel_name(const testing::TestParamInfo<Bf16Kernel>& info) {
    return std::string(to_string(info.param));
}
INSTANTIATE_TEST_SUITE_P(Kernels, GemmBf16Kernel, kKernels, kernel_name);
INSTANTIATE_TEST_SUITE_P(Kernels, Bf16Column, kKernels, kernel_name);

}  // namespace
}  // namespace tandem::engine
