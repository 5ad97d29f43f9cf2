// SPDX-License-Identifier: Apache-2.0
// Every cycle has one cause.
#include "systemc/kernel/cycle_account.h"

#include <gtest/gtest.h>

#include "testbench/support/seeded.h"

namespace tandem::sim {
namespace {

uint64_t cycles(const CycleAccount& account, Cause cause) {
    return account.cycles()[static_cast<size_t>(cause)];
}

TEST(CycleAccount, ChargesFromTheLastChargeOn) {
    CycleAccount account;
    account.begin(100);
    account.charge(Cause::kWaitFlag, 110);
    account.charge(Cause::kBusy, 125);
    EXPECT_EQ(cycles(account, Cause::kWaitFlag), 10u);
    EXPECT_EQ(cycles(account, Cause::kBusy), 15u);
    EXPECT_EQ(account.busy(), 15u);
}

TEST(CycleAccount, LeavesChargedCyclesAsTheyAre) {
    CycleAccount account;
    account.begin(0);
    account.charge(Cause::kBusy, 50);
    account.charge(Cause::kIdle, 20);
    account.charge(Cause::kIdle, 50);
    EXPECT_EQ(cycles(account, Cause::kIdle), 0u);
    EXPECT_EQ(account.cursor(), 50u);
}

TEST(CycleAccount, AddsUpProgramsWithoutTheTimeBetween) {
    CycleAccount account;
    account.begin(0);
    account.charge(Cause::kBusy, 10);
    account.begin(1000);
    account.charge(Cause::kBusy, 1005);
    EXPECT_EQ(account.busy(), 15u);
}

TEST(CycleAccount, AddsUpToTheCyclesThatPassed) {
    for (uint64_t seed = 0; seed < 200; ++seed) {
        testbench::Seeded random(seed);
        CycleAccount account;
        const Cycle start = random.below(1000);
        account.begin(start);
        Cycle latest = start;
        for (int i = 0; i < 100; ++i) {
            const Cycle until = start + random.below(5000);
            account.charge(static_cast<Cause>(random.below(kCauses)), until);
            latest = std::max(latest, until);
        }
        uint64_t sum = 0;
        for (const uint64_t each : account.cycles()) sum += each;
        ASSERT_EQ(sum, latest - start) << "cycles, seed " << seed;
    }
}

}  // namespace
}  // namespace tandem::sim
