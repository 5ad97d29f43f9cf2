// SPDX-License-Identifier: Apache-2.0
// The clock grid on simulated time. Expected femtoseconds are 128-bit integers. One simulation per
// process.
#include "systemc/kernel/clock.h"

#include <gtest/gtest.h>

#include "testbench/support/seeded.h"

namespace tandem::sim {
namespace {

constexpr uint64_t kFrequencies[] = {700000000,  500000000, 333333333,  1000000,
                                     2300000000, 999999999, 10000000000};

class ClockGrid : public testing::Test {
  protected:
    ClockGrid() { require_femtoseconds(); }
};

TEST_F(ClockGrid, DoesNotDriftAt700MHz) {
    const Clock clock(700000000);
    EXPECT_EQ(clock.time_of(0).value(), 0u) << "fs";
    EXPECT_EQ(clock.time_of(1).value(), 1428571u) << "fs";
    EXPECT_EQ(clock.time_of(7).value(), 10000000u) << "fs, seven cycles are ten nanoseconds";
    EXPECT_EQ(clock.time_of(1000000000).value(), 1428571428571428u) << "fs";
    EXPECT_EQ(clock.time_of(700000000).value(), 1000000000000000u) << "fs, one second";
}

TEST_F(ClockGrid, StandsAtTheRoundedDownFemtosecond) {
    testbench::Seeded random(0);
    for (const uint64_t hz : kFrequencies)
        for (int i = 0; i < 2000; ++i) {
            const uint64_t cycle = random.below(10000000000);
            const auto expected = static_cast<uint64_t>(static_cast<unsigned __int128>(cycle) *
                                                        1000000000000000u / hz);
            ASSERT_EQ(Clock(hz).time_of(cycle).value(), expected)
                << "cycle " << cycle << " at " << hz << " Hz, seed 0";
        }
}

TEST_F(ClockGrid, AtOrAfterIsTheInverseOfTimeOf) {
    testbench::Seeded random(0);
    for (const uint64_t hz : kFrequencies) {
        const Clock clock(hz);
        for (int i = 0; i < 5000; ++i) {
            const Cycle cycle = i < 1000 ? static_cast<Cycle>(i) : 1 + random.below(1000000000);
            const sc_core::sc_time time = clock.time_of(cycle),
                                   step = sc_core::sc_time::from_value(1);
            ASSERT_EQ(clock.at_or_after(time), cycle) << "at its start, " << hz << " Hz, seed 0";
            ASSERT_EQ(clock.at_or_after(time + step), cycle + 1)
                << "1 fs later, " << hz << " Hz, seed 0";
            if (cycle == 0) continue;
            ASSERT_EQ(clock.at_or_after(time - step), cycle)
                << "1 fs earlier, " << hz << " Hz, seed 0";
        }
    }
}

struct Waiter : sc_core::sc_module {
    explicit Waiter(sc_core::sc_module_name name) : sc_module(name) {
        SC_HAS_PROCESS(Waiter);
        SC_THREAD(wait_thread);
    }
    void wait_thread() {
        for (const Cycle cycle : {Cycle{1}, Cycle{3}, Cycle{1000000}, Cycle{7}}) {
            clock.wait_until(cycle);
            seen.push_back(clock.now());
        }
    }
    Clock clock{700000000};
    std::vector<Cycle> seen;
};

TEST_F(ClockGrid, WaitsForACycleAndNotForAPastOne) {
    Waiter waiter("waiter");
    sc_core::sc_start();
    EXPECT_EQ(waiter.seen, (std::vector<Cycle>{1, 3, 1000000, 1000000})) << "cycles";
}

}  // namespace
}  // namespace tandem::sim
