// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/tile.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace tandem::testing {
namespace {

using compiler::MatmulGroup;
using compiler::MatmulOp;

arch::ChipConfig::Mxu array(uint32_t rows, uint32_t cols, uint32_t accumulator_rows) {
    return {
        .rows = rows, .cols = cols, .accumulator_rows = accumulator_rows, .weight_fifo_tiles = 4};
}

MatmulOp random_product(std::mt19937& random) {
    MatmulOp op;
    op.rows = 1 + random() % 300;
    const uint32_t groups = 1 + random() % 3;
    for (uint32_t g = 0; g < groups; ++g) {
        MatmulGroup group;
        group.k = 1 + random() % 40;
        group.n = 1 + random() % 30;
        group.useful_n = group.n;
        group.out_channel = op.out_channels;
        op.out_channels += group.n;
        for (uint32_t i = 0; i < group.k * group.n; ++i)
            group.weights.push_back(static_cast<int8_t>(random()));
        op.groups.push_back(group);
    }
    return op;
}

TEST(TilePlan, ComputesEveryOutputOnceInBlocksOfHalfTheAccumulators) {
    for (uint32_t seed = 0; seed < 50; ++seed) {
        std::mt19937 random(seed);
        const MatmulOp op = random_product(random);
        const auto mxu = array(1 + random() % 12, 1 + random() % 12, 2 + random() % 100);
        std::vector<int> done(op.rows * op.out_channels);
        for (const auto& block : compiler::plan_tiles(op, mxu).blocks) {
            EXPECT_LE(block.m_len, mxu.accumulator_rows / 2) << "seed " << seed;
            EXPECT_LE(block.n_len, mxu.cols) << "seed " << seed;
            for (uint64_t m = block.m_start; m < block.m_start + block.m_len; ++m)
                for (uint32_t n = 0; n < block.n_len; ++n)
                    ++done.at(m * op.out_channels + op.groups[block.group].out_channel +
                              block.n_start + n);
        }
        for (const int times : done) ASSERT_EQ(times, 1) << "seed " << seed;
    }
}

TEST(TilePlan, LaysOutEveryWeightAtItsPlaceInItsTile) {
    std::mt19937 random(1);
    const MatmulOp op = random_product(random);
    const auto mxu = array(7, 5, 64);
    const auto plan = compiler::plan_tiles(op, mxu);
    for (const auto& block : plan.blocks) {
        const MatmulGroup& group = op.groups[block.group];
        for (uint32_t k = 0; k < block.k_tiles * mxu.rows; ++k)
            for (uint32_t n = 0; n < mxu.cols; ++n) {
                const bool used = k < group.k && n < block.n_len;
                const size_t at = (size_t{block.first_tile} * mxu.rows + k) * mxu.cols + n;
                ASSERT_EQ(static_cast<int8_t>(plan.weights.at(at)),
                          used ? group.weights[k * group.n + block.n_start + n] : 0)
                    << "k " << k << ", n " << n;
            }
    }
}

TEST(TilePlan, FetchesTheTilesThatTheBlocksSwitchToInTheirOrder) {
    for (uint32_t seed = 0; seed < 50; ++seed) {
        std::mt19937 random(seed);
        const MatmulOp op = random_product(random);
        const auto plan = compiler::plan_tiles(op, array(8, 8, 32));
        std::vector<uint32_t> fetched, used;
        for (const auto& run : plan.runs)
            for (uint32_t i = 0; i < run.tiles; ++i) fetched.push_back(run.first_tile + i);
        for (const auto& block : plan.blocks)
            for (uint32_t k = 0; block.loads_weights && k < block.k_tiles; ++k)
                used.push_back(block.first_tile + k);
        EXPECT_EQ(fetched, used) << "seed " << seed;
    }
}

TEST(TilePlan, KeepsATileForAllBlocksWhenOneIsEnough) {
    MatmulOp op;
    op.rows = 64;
    op.out_channels = 4;
    op.groups.push_back(
        {.window = {}, .k = 8, .n = 4, .useful_n = 4, .weights = std::vector<int8_t>(32, 1)});
    const auto plan = compiler::plan_tiles(op, array(8, 8, 32));
    ASSERT_EQ(plan.blocks.size(), 4u);
    EXPECT_TRUE(plan.blocks[0].loads_weights);
    for (size_t i = 1; i < 4; ++i) EXPECT_FALSE(plan.blocks[i].loads_weights) << i;
    ASSERT_EQ(plan.runs.size(), 1u);
    EXPECT_EQ(plan.runs[0].tiles, 1u);
}

TEST(SplitRows, KeepsTheSumAndTheLeastSize) {
    const auto mxu = array(8, 8, 4096);
    for (const uint32_t rows : {1u, 63u, 127u, 128u, 255u, 2048u}) {
        const auto parts = compiler::split_rows(rows, mxu);
        EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), 0u), rows);
        EXPECT_LE(parts.size(), 4u);
        for (const uint32_t part : parts) EXPECT_GE(part, std::min(rows, 64u)) << rows;
    }
}

TEST(TilePlan, CutsBf16MatricesIntoTilesOfTwoBytesAnElement) {
    MatmulOp op;
    op.rows = 1;
    op.out_channels = 5;
    MatmulGroup group;
    group.k = 3, group.n = group.useful_n = 5;
    // Element (k, n) has the bytes 10 * k + n and 100.
    for (int k = 0; k < 3; ++k)
        for (int n = 0; n < 5; ++n)
            for (const int byte : {10 * k + n, 100})
                group.weights.push_back(static_cast<int8_t>(byte));
    op.groups.push_back(group);
    auto mxu = array(2, 4, 8);
    mxu.dtype = arch::Dtype::kBf16;
    const auto plan = compiler::plan_tiles(op, mxu);
    ASSERT_EQ(plan.weights.size(), 4u * 2 * 4 * 2);
    // Two tiles of k for columns 0 to 3, two for column 4.
    for (size_t tile = 0; tile < 4; ++tile)
        for (size_t row = 0; row < 2; ++row)
            for (size_t column = 0; column < 4; ++column) {
                const size_t k = tile % 2 * 2 + row, n = tile / 2 * 4 + column;
                const uint8_t* at = &plan.weights[((tile * 2 + row) * 4 + column) * 2];
                const bool inside = k < 3 && n < 5;
                EXPECT_EQ(int{at[0]}, inside ? int(10 * k + n) : 0) << k << ", " << n;
                EXPECT_EQ(int{at[1]}, inside ? 100 : 0) << k << ", " << n;
            }
    EXPECT_EQ(plan.blocks.back().first_tile, 2u);
}

}  // namespace
}  // namespace tandem::testing
