// SPDX-License-Identifier: Apache-2.0
// The fast product of the model against three plain loops.
#include "engine/gemm_int8.h"

#include <gtest/gtest.h>

#include "testbench/support/seeded.h"

namespace tandem::engine {
namespace {

using testbench::Seeded;

std::vector<int32_t> naive(const std::vector<int8_t>& rows, uint32_t count, uint32_t stride,
                           const std::vector<int8_t>& tile, uint32_t k_len, uint32_t cols,
                           bool accumulate, const std::vector<int32_t>& before) {
    std::vector<int32_t> sums(size_t{count} * cols);
    for (uint32_t m = 0; m < count; ++m)
        for (uint32_t c = 0; c < cols; ++c) {
            int64_t sum = accumulate ? before[size_t{m} * cols + c] : 0;
            for (uint32_t k = 0; k < k_len; ++k)
                sum += int64_t{rows[size_t{m} * stride + k]} * tile[size_t{k} * cols + c];
            sums[size_t{m} * cols + c] =
                static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint64_t>(sum)));
        }
    return sums;
}

/// Every kernel that this machine can run.
class GemmInt8Kernel : public testing::TestWithParam<GemmKernel> {
  protected:
    void SetUp() override {
        if (GetParam() > best_gemm_kernel())
            GTEST_SKIP() << "this machine has no " << to_string(GetParam());
    }
    GemmInt8 gemm_{GetParam()};
};

void expect_agreement(GemmInt8& gemm, uint64_t seed, uint32_t count, uint32_t k_len, uint32_t cols,
                      uint32_t gap) {
    Seeded random(seed);
    const uint32_t stride = k_len + gap;
    const bool accumulate = random.chance(50);
    const auto rows = random.int8s(size_t{count} * stride),
               tile = random.int8s(size_t{k_len} * cols);
    std::vector<int32_t> sums(size_t{count} * cols);
    for (int32_t& sum : sums) sum = random.int32();
    const auto expected = naive(rows, count, stride, tile, k_len, cols, accumulate, sums);
    gemm.multiply(rows.data(), count, stride, tile.data(), k_len, cols, accumulate, sums.data());
    ASSERT_EQ(sums, expected) << count << "x" << k_len << "x" << cols << ", accumulate "
                              << accumulate << ", seed " << seed;
}

TEST_P(GemmInt8Kernel, AgreesWithPlainLoops) {
    for (uint64_t seed = 0; seed < 400; ++seed) {
        Seeded random(~seed);
        const auto count = static_cast<uint32_t>(1 + random.below(20)),
                   k_len = static_cast<uint32_t>(1 + random.below(40)),
                   cols = static_cast<uint32_t>(1 + random.below(70)),
                   gap = static_cast<uint32_t>(random.below(5));
        ASSERT_NO_FATAL_FAILURE(expect_agreement(gemm_, seed, count, k_len, cols, gap));
    }
}

TEST_P(GemmInt8Kernel, AgreesForEverySmallShape) {
    for (uint32_t count = 1; count <= 5; ++count)
        for (uint32_t k_len = 1; k_len <= 5; ++k_len)
            for (uint32_t cols = 1; cols <= 35; ++cols)
                ASSERT_NO_FATAL_FAILURE(expect_agreement(gemm_, cols, count, k_len, cols, 0));
}

TEST_P(GemmInt8Kernel, AgreesForEveryWidthOfAPanel) {
    for (uint32_t cols = 36; cols <= 132; ++cols)
        ASSERT_NO_FATAL_FAILURE(expect_agreement(gemm_, cols, 1 + cols % 29, 7, cols, 1));
}

TEST_P(GemmInt8Kernel, TakesATileAgainThatIsNamed) {
    Seeded random(3);
    const auto rows = random.int8s(30 * 24), first = random.int8s(24 * 40),
               second = random.int8s(24 * 40);
    const std::vector<int32_t> none(30 * 40);
    const auto product = [&](const std::vector<int8_t>& tile, uint32_t k_len, uint64_t id) {
        std::vector<int32_t> sums = none;
        gemm_.multiply(rows.data(), 30, 24, tile.data(), k_len, 40, false, sums.data(), id);
        EXPECT_EQ(sums, naive(rows, 30, 24, tile, k_len, 40, false, none)) << "tile " << id;
    };
    product(first, 24, 1);
    product(first, 24, 1);
    product(second, 24, 2);
    product(first, 24, 0);
    product(second, 24, 0);
    product(first, 24, 1);
    product(first, 17, 1);
}

TEST_P(GemmInt8Kernel, AgreesForAWholeTile) { expect_agreement(gemm_, 0, 33, 256, 256, 0); }

TEST_P(GemmInt8Kernel, TakesTheSmallestTimesTheSmallest) {
    const std::vector<int8_t> rows(256, -128), tile(256, -128);
    int32_t sum = 7;
    gemm_.multiply(rows.data(), 1, 256, tile.data(), 256, 1, false, &sum);
    EXPECT_EQ(sum, 256 * 16384);
}

TEST_P(GemmInt8Kernel, WrapsUpwards) {
    const std::vector<int8_t> row = {127, 127}, tile = {127, 127};
    int32_t sum = 2147483647;
    gemm_.multiply(row.data(), 1, 2, tile.data(), 2, 1, true, &sum);
    EXPECT_EQ(sum, static_cast<int32_t>(2147483647u + 2 * 16129u));
}

TEST_P(GemmInt8Kernel, WrapsDownwards) {
    const std::vector<int8_t> row = {-128, -128}, tile = {127, 127};
    int32_t sum = -2147483647 - 1;
    gemm_.multiply(row.data(), 1, 2, tile.data(), 2, 1, true, &sum);
    EXPECT_EQ(sum, static_cast<int32_t>(2147483648u - 2 * 16256u));
}

TEST_P(GemmInt8Kernel, DoesNotReadBeyondTheReduction) {
    const std::vector<int8_t> rows = {1, 99, 2, 99}, tile = {3};
    std::vector<int32_t> sums(2);
    gemm_.multiply(rows.data(), 2, 2, tile.data(), 1, 1, false, sums.data());
    EXPECT_EQ(sums, (std::vector<int32_t>{3, 6}));
}

TEST_P(GemmInt8Kernel, LeavesOtherRowsAlone) {
    const std::vector<int8_t> row = {1}, tile = {3};
    std::vector<int32_t> sums = {5, 6, 7};
    gemm_.multiply(row.data(), 1, 1, tile.data(), 1, 1, false, sums.data() + 1);
    EXPECT_EQ(sums, (std::vector<int32_t>{5, 3, 7}));
}

INSTANTIATE_TEST_SUITE_P(Kernels, GemmInt8Kernel,
                         testing::Values(GemmKernel::kPlain, GemmKernel::kAvx2,
                                         GemmKernel::kAvx512Vnni),
                         [](const auto& info) {
                             return "Kernel" + std::to_string(static_cast<int>(info.param));
                         });

}  // namespace
}  // namespace tandem::engine
