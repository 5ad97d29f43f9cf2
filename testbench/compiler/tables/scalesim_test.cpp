// SPDX-License-Identifier: Apache-2.0
// Closed forms of cycles: SCALE-Sim's against a count that walks through its folds cycle by cycle,
// ours against the transaction-level array.
#include "compiler/import/tables/scalesim.h"

#include <gtest/gtest.h>

#include "engine/tlm_mxu_engine.h"
#include "testbench/support/seeded.h"

namespace tandem::tables {
namespace {

using compiler::Counts;

using testbench::Seeded;

Counts product(uint64_t m, uint64_t k, uint64_t n) {
    Counts layer;
    layer.m = m;
    layer.k = k;
    layer.n = n;
    return layer;
}

/// One line of requests per cycle, as the tool lists them: per fold a line for each row of the
/// array that loads its weights, then a line for each cycle until the last row of the input, which
/// enters the first column M - 1 cycles after the first one, has left the array over its rows and
/// columns. What it reports is the number of the last line, counted from 0.
uint64_t walk(uint64_t m, uint64_t k, uint64_t n, uint64_t rows, uint64_t cols) {
    uint64_t lines = 0;
    for (uint64_t column = 0; column < n; column += cols)
        for (uint64_t row = 0; row < k; row += rows) {
            for (uint64_t weight_row = 0; weight_row < rows; ++weight_row) ++lines;
            const uint64_t first = lines;
            for (uint64_t i = 0; i < m; ++i) {
                // Line of the partial sum of input i, last row, last column.
                const uint64_t leaves = first + i + (rows - 1) + (cols - 1);
                while (lines <= leaves) ++lines;
            }
        }
    return lines - 1;
}

TEST(ScaleSimCycles, AreThoseOfAWalkThroughItsFolds) {
    Seeded random(1);
    for (int i = 0; i < 3000; ++i) {
        const auto m = static_cast<uint64_t>(random.between(1, 60));
        const auto k = static_cast<uint64_t>(random.between(1, 70));
        const auto n = static_cast<uint64_t>(random.between(1, 70));
        const auto rows = static_cast<uint32_t>(random.between(1, 20));
        const auto cols = static_cast<uint32_t>(random.between(1, 20));
        ASSERT_EQ(scalesim_ws_cycles(product(m, k, n), rows, cols), walk(m, k, n, rows, cols))
            << m << "x" << k << "x" << n << " on " << rows << "x" << cols;
    }
}

TEST(ScaleSimCycles, AreKnownForSmallArrays) {
    EXPECT_EQ(scalesim_ws_cycles(product(1, 1, 1), 1, 1), 1u);
    EXPECT_EQ(scalesim_ws_cycles(product(4, 4, 4), 4, 4), 13u);
    EXPECT_EQ(scalesim_ws_cycles(product(4, 5, 4), 4, 4), 27u);
    EXPECT_EQ(scalesim_ws_cycles(product(10, 256, 512), 128, 64), 2u * 8 * (256 + 64 + 8) - 1);
}

TEST(ScaleSimCycles, TakeGroupsAndRepeatsAsLayersOfTheirOwn) {
    Counts layer = product(4, 4, 4);
    layer.groups = 3;
    layer.repeat = 5;
    EXPECT_EQ(scalesim_ws_cycles(layer, 4, 4), 15u * 13);
}

TEST(Cycles, AreNoneWithoutAProduct) {
    Counts layer;
    layer.elements = 1000;
    EXPECT_EQ(scalesim_ws_cycles(layer, 8, 8), 0u);
    EXPECT_EQ(double_buffered_cycles(layer, 8, 8), 0u);
}

/// The edge of the last commit with everything pushed at edge 0.
uint64_t last_commit(uint32_t rows, uint32_t cols, uint64_t tiles, uint32_t m) {
    engine::TlmMxuEngine engine({rows, cols, m});
    for (uint64_t tile = 0; tile < tiles; ++tile) engine.push_weights({tile, 0, {}});
    for (uint64_t block = 0; block < tiles; ++block)
        engine.push_rows({block, 0, m, rows, 0, true, block != 0, {}});
    uint64_t edge = 0;
    while (const auto event = engine.advance(~engine::Cycle{0}))
        if (event->kind == engine::MxuEvent::Kind::kBlockCommitted) edge = event->cycle;
    EXPECT_FALSE(engine.busy());
    return edge;
}

TEST(DoubleBufferedCycles, AreThoseOfTheArray) {
    Seeded random(2);
    for (int i = 0; i < 3000; ++i) {
        const auto rows = static_cast<uint32_t>(random.between(1, 64));
        const auto cols = static_cast<uint32_t>(random.between(1, 64));
        // Often around R + 1, where the longer of rows and weights changes.
        const auto m = static_cast<uint32_t>(random.chance(40) ? random.between(rows, rows + 2)
                                                               : random.between(1, 500));
        const auto down = static_cast<uint64_t>(random.between(1, 10));
        const auto across = static_cast<uint64_t>(random.between(1, 5));
        const uint64_t k = down * rows - random.below(rows);
        const uint64_t n = across * cols - random.below(cols);
        ASSERT_EQ(double_buffered_cycles(product(m, k, n), rows, cols),
                  last_commit(rows, cols, down * across, m))
            << m << "x" << k << "x" << n << " on " << rows << "x" << cols;
    }
}

TEST(DoubleBufferedCycles, HaveTheTilesOfAllGroupsInARow) {
    Counts layer = product(20, 9, 1);
    layer.groups = 7;
    EXPECT_EQ(double_buffered_cycles(layer, 8, 8), last_commit(8, 8, 14, 20));
}

TEST(DoubleBufferedCycles, TakeEveryRowOncePerPass) {
    Counts layer = product(20, 16, 8);
    layer.passes = 2;
    EXPECT_EQ(double_buffered_cycles(layer, 8, 8), last_commit(8, 8, 2, 40));
}

TEST(DoubleBufferedCycles, DoNotOverlapRepeats) {
    Counts layer = product(20, 16, 8);
    layer.repeat = 3;
    EXPECT_EQ(double_buffered_cycles(layer, 8, 8), 3 * last_commit(8, 8, 2, 20));
}

}  // namespace
}  // namespace tandem::tables
