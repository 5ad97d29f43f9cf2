// SPDX-License-Identifier: Apache-2.0
// Cycles of the vector unit, counted by hand.
#include "engine/vector_timing.h"

#include <gtest/gtest.h>

namespace tandem::engine {
namespace {

constexpr VectorTiming kTiming{.lanes = 8, .latency_cycles = 5};

TEST(VectorTimingDrain, TakesOneCyclePerStartedGroupOfLanes) {
    EXPECT_EQ(kTiming.drain_interval(1), 1u);
    EXPECT_EQ(kTiming.drain_interval(8), 1u);
    EXPECT_EQ(kTiming.drain_interval(9), 2u);
    EXPECT_EQ(kTiming.drain_interval(256), 32u);
}

TEST(VectorTimingAdd, StreamsLanesAndAddsTheLatencyOnce) {
    EXPECT_EQ(kTiming.add(0), 5u);
    EXPECT_EQ(kTiming.add(8), 6u);
    EXPECT_EQ(kTiming.add(9), 7u);
    EXPECT_EQ(kTiming.add(8ull << 32), (1ull << 32) + 5) << "beyond 32 bits";
}

TEST(VectorTimingPool, ReadsEachTapOfEachOutput) {
    EXPECT_EQ(kTiming.pool(1, 1, 1), 6u);
    EXPECT_EQ(kTiming.pool(4, 9, 6), 4u * 6 * 2 + 5);
}

TEST(VectorTimingSoftmax, PassesFourTimesOverEachRow) {
    EXPECT_EQ(kTiming.softmax(1, 8), 4u * (1 + 5));
    EXPECT_EQ(kTiming.softmax(3, 10), 3u * 4 * (2 + 5));
}

TEST(VectorTimingCeilDiv, RoundsUp) {
    EXPECT_EQ(base::divide_up(0, 3), 0u);
    EXPECT_EQ(base::divide_up(1, 3), 1u);
    EXPECT_EQ(base::divide_up(3, 3), 1u);
    EXPECT_EQ(base::divide_up(4, 3), 2u);
}

}  // namespace
}  // namespace tandem::engine
