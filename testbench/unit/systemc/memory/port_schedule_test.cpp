// SPDX-License-Identifier: Apache-2.0
// A port of the unified buffer against a calendar of cycles: each is taken by one user or none.
#include "systemc/memory/port_schedule.h"

#include <gtest/gtest.h>

#include <set>

#include "testbench/support/seeded.h"

namespace tandem::sim {
namespace {

using testbench::Seeded;

TEST(PortScheduleTest, ABeatTakesAsManyCyclesAsItIsWide) {
    const PortSchedule port(32);
    for (const auto& [bytes, cycles] :
         {std::pair{0, 1}, {1, 1}, {31, 1}, {32, 1}, {33, 2}, {64, 2}, {65, 3}, {256, 8}})
        EXPECT_EQ(port.beat_cycles(static_cast<uint64_t>(bytes)), static_cast<uint32_t>(cycles))
            << bytes << " bytes through 32 a cycle";
}

TEST(PortScheduleTest, WithoutAWidthNobodyWaits) {
    PortSchedule port(0);
    EXPECT_EQ(port.beat_cycles(1'000'000), 1u);
    port.take(100, 100, 1'000'000);
    EXPECT_EQ(port.free_from(100, 100), 100u);
    EXPECT_EQ(port.done(100, 1'000'000), 100u);
    EXPECT_EQ(port.busy_cycles(), 0u);
}

TEST(PortScheduleTest, WhoComesLaterBeginsWhenItIsFree) {
    PortSchedule port(8);
    port.take(10, 10, 80);
    EXPECT_EQ(port.free_from(12, 12), 20u) << "cycle";
    EXPECT_EQ(port.free_from(25, 25), 25u) << "cycle, long after";
    EXPECT_EQ(port.done(20, 17), 23u) << "cycle";
}

TEST(PortScheduleTest, ABeatWiderThanThePortTakesWholeCycles) {
    PortSchedule port(5);
    port.take(100, 100, port.beat_bytes(60, 8));
    EXPECT_EQ(port.free_from(300, 0), 220u) << "60 beats of 2 cycles";
    port.take(300, 300, port.beat_bytes(60, 4));
    EXPECT_EQ(port.free_from(300, 0), 348u) << "240 bytes, narrow beats share cycles";
    EXPECT_EQ(port.busy_cycles(), 168u);
    PortSchedule wide(0);
    wide.take(100, 100, wide.beat_bytes(60, 8));
    EXPECT_EQ(wide.free_from(100, 100), 100u);
}

// What DMA takes of the port in a cycle is not seen by who looks in the same cycle, whichever of
// the two the kernel runs first; in the next cycle everybody sees it.
TEST(PortScheduleTest, WhoLooksAndWhoTakesInOneCycleMayComeInEitherOrder) {
    for (const bool take_first : {false, true}) {
        PortSchedule port(8);
        port.take(4, 4, 8 * 8);  // up to cycle 12
        if (take_first) port.take_later(10, 3 * 8);
        EXPECT_EQ(port.free_from(10, 10), 12u) << "in the same cycle";
        if (!take_first) port.take_later(10, 3 * 8);
        EXPECT_EQ(port.free_from(10, 10), 12u) << "in the same cycle";
        EXPECT_EQ(port.free_from(11, 11), 15u) << "three cycles more";
        EXPECT_EQ(port.busy_cycles(), 11u);
    }
}

TEST(PortScheduleTest, TakesOfOneCycleAddUp) {
    PortSchedule port(8);
    port.take_later(10, 16);
    port.take_later(10, 24);
    EXPECT_EQ(port.free_from(11, 11), 15u);
    port.take_later(20, 8);
    EXPECT_EQ(port.free_from(30, 0), 21u) << "long after";
}

/// Everybody asks for the first free cycle from some wish on and takes the port for a block.
TEST(PortScheduleTest, RandomUsersNeverShareACycle) {
    for (uint64_t seed = 0; seed < 100; ++seed) {
        Seeded random(seed);
        const auto width = static_cast<uint32_t>(1 + random.below(64));
        PortSchedule port(width);
        std::set<Cycle> taken;
        Cycle time = 0;
        for (int i = 0; i < 50; ++i) {
            time += random.below(20);
            const uint64_t bytes = random.below(500);
            const Cycle start = port.free_from(time, time);
            const Cycle first = taken.empty() ? time : std::max(time, *taken.rbegin() + 1);
            ASSERT_EQ(start, first) << "seed " << seed << ", user " << i;
            Cycle cycle = start;
            for (uint64_t gone = 0; gone < bytes; gone += width)
                ASSERT_TRUE(taken.insert(cycle++).second) << "cycle " << cycle;
            ASSERT_EQ(port.done(start, bytes), cycle) << "seed " << seed << ", user " << i;
            port.take(time, start, bytes);
            ASSERT_EQ(port.busy_cycles(), taken.size()) << "seed " << seed << ", user " << i;
        }
    }
}

}  // namespace
}  // namespace tandem::sim
