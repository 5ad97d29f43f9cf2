// SPDX-License-Identifier: Apache-2.0
// What the study of plans judges by: bounds, shares, orders, targets.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <stdexcept>

#include "base/error.h"
#include "benchmarks/efficiency.h"
#include "benchmarks/plan/miss_cause.h"
#include "benchmarks/plan/public_tables.h"
#include "benchmarks/plan/setup.h"
#include "benchmarks/plan/shortfalls.h"
#include "benchmarks/plan/spread.h"
#include "benchmarks/plan/target.h"
#include "run/paths.h"

namespace tandem::benchmarks {
namespace {

TEST(PlanStudy, ATargetIsMetUpToItsBound) {
    const Target least{"share", 80, Target::Side::kAtLeast, 80, " %"};
    const Target most{"rise", 1.01, Target::Side::kAtMost, 1, " %", 2};
    EXPECT_EQ(least.line(), "good   share: 80.0 %, at least 80.0 %");
    EXPECT_EQ(most.line(), "MISSED rise: 1.01 %, at most 1.00 %");
}

/// A file of known shortfalls that lives as long as its test.
class ShortfallsTest : public ::testing::Test {
  protected:
    ~ShortfallsTest() override { std::filesystem::remove(file_); }

    Shortfalls read(const std::string& text, const std::string& form = "full") const {
        std::ofstream(file_) << text;
        return {file_, form};
    }
    static std::string entry(const std::string& figure, const std::string& cause = "why") {
        return "full:\n  - target: share\n    figure: " + figure + "\n    cause: " + cause + "\n";
    }
    static Targets share(double figure) {
        return {{"share", figure, Target::Side::kAtLeast, 80, " %"}};
    }

    const std::filesystem::path file_ =
        std::filesystem::path(::testing::TempDir()) / fmt::format("shortfalls-{}.yaml", getpid());
};

TEST_F(ShortfallsTest, AMissedTargetNeedsAnEntryThatIsNoBetter) {
    EXPECT_EQ(read("full: []").faults(share(80), true).size(), 0);
    EXPECT_EQ(read("full: []").faults(share(79.96), true),
              std::vector<std::string>{"MISSED share: 80.0 %, at least 80.0 %"});
    EXPECT_EQ(read(entry("73.9 %")).faults(share(73.9), true).size(), 0);
    EXPECT_EQ(read(entry("73.9 %")).faults(share(73.86), true).size(), 0) << "rounded to 73.9";
    EXPECT_EQ(read(entry("73.9 %")).faults(share(73.84), true).size(), 1);
    EXPECT_EQ(read(entry("73.9 %")).faults(share(79), true).size(), 0);
    Targets rise = {{"rise", 2.0, Target::Side::kAtMost, 1, " %"}};
    rise[0].name = "share";
    EXPECT_EQ(read(entry("2.0 %")).faults(rise, true).size(), 0);
    EXPECT_EQ(read(entry("1.9 %")).faults(rise, true).size(), 1);
}

TEST_F(ShortfallsTest, AnEntryThatIsNotNeededIsAFault) {
    EXPECT_EQ(read(entry("73.9 %")).faults(share(80), true).size(), 1);
    EXPECT_EQ(read(entry("73.9 %")).faults({}, true).size(), 1);
    EXPECT_EQ(read(entry("73.9 %")).faults({}, false).size(), 0) << "a part of the study";
    EXPECT_EQ(read(entry("73.9 %"), "reduced").faults({}, true).size(), 0);
}

TEST_F(ShortfallsTest, ATimeHasAnAllowanceInPlaceOfAnEntry) {
    Target time{"planning", 14, Target::Side::kAtMost, 5, " ms", 2, "", 3};
    EXPECT_FALSE(time.good());
    EXPECT_EQ(read("full: []").faults({time}, true).size(), 0);
    time.figure = 15.1;
    EXPECT_EQ(read("full: []").faults({time}, true).size(), 1);
    Shortfalls known = read("full: []");
    known.update({time}, true);
    EXPECT_EQ(Shortfalls(file_, "full").find("planning"), nullptr);
}

TEST_F(ShortfallsTest, AnUpdateKeepsCausesAndAsksForNewOnes) {
    Targets targets = share(70.26);
    targets.push_back({"it's rise", 3, Target::Side::kAtMost, 2, " %"});
    read(entry("73.9 %") + "reduced:\n  - {target: other, figure: 1 %, cause: known}\n")
        .update(targets, true);
    const Shortfalls full(file_, "full"), reduced(file_, "reduced");
    EXPECT_EQ(full.find("share")->figure, "70.3 %");
    EXPECT_EQ(full.find("share")->cause, "why");
    EXPECT_EQ(reduced.find("other")->cause, "known");
    EXPECT_EQ(full.faults(targets, true),
              std::vector<std::string>{"it's rise: its entry names no cause"});
}

TEST_F(ShortfallsTest, AMistakeInTheFileNamesItsPlace) {
    for (const std::string text : {"full: 3", "whole: []", "full:\n  - {target: a, figure: 1}",
                                   "full:\n  - {target: a, figure: much, cause: b}"})
        EXPECT_THROW(read(text), UserError) << text;
}

TEST(PlanStudy, OrdersAreComparedByRank) {
    EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3, 4}, {10, 100, 101, 1e9}), 1);
    EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3, 4}, {4, 3, 2, 1}), -1);
    // Ranks 0 1 2 3 and 0 1 3 2: 1 - 6 * 2 / (4 * 15).
    EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3, 4}, {1, 2, 4, 3}), 0.8);
    // A tie shares the middle: 0, 1.5, 1.5, 3 against 0 1 2 3.
    EXPECT_NEAR(rank_correlation({1, 2, 2, 3}, {1, 2, 3, 4}), 4.5 / std::sqrt(4.5 * 5), 1e-12);
    EXPECT_DOUBLE_EQ(rank_correlation({1, 1, 1}, {1, 2, 3}), 0);
}

TEST(PlanStudy, QuantilesAreValuesThatOccur) {
    EXPECT_EQ(quantile({3, 1, 2}, 0), 1);
    EXPECT_EQ(quantile({3, 1, 2}, 0.5), 2);
    EXPECT_EQ(quantile({3, 1, 2}, 1), 3);
}

TEST(PlanStudy, EqualKernelsCountOnceAndChainedListsAreNoKernels) {
    tables::Workload list = gemm(8, 16, 32);
    list.layers.push_back(list.layers.front());
    list.layers.back().name = "the same under another name";
    list.layers.push_back(gemm(8, 32, 16).layers.front());
    tables::Workload network = gemm(1, 2, 3);
    network.chained = true;
    const auto kernels = single_kernels({list, network, gemm(8, 16, 32)});
    ASSERT_EQ(kernels.size(), 2);
    EXPECT_EQ(kernels[0].layers.front().k, 16);
    EXPECT_EQ(kernels[1].layers.front().k, 32);
}

TEST(PlanStudy, AllIsDoneOnceAndAMistakeComesBack) {
    std::multiset<size_t> done;
    std::mutex mutex;
    do_all(100, 3, [&](size_t i) {
        const std::scoped_lock lock(mutex);
        done.insert(i);
    });
    EXPECT_EQ(done.size(), 100);
    EXPECT_EQ(std::set<size_t>(done.begin(), done.end()).size(), 100);
    const auto fails = [](size_t i) {
        if (i == 7) throw std::runtime_error("seven");
    };
    EXPECT_THROW(do_all(100, 3, fails), std::runtime_error);
}

TEST(PlanStudy, TheBoundOfAProductIsItsTilesOrItsBytes) {
    const arch::ChipConfig chip = arch::find_chip("tpu_v1", run::chips_dir());
    // 4 x 4 tiles of 2048 rows: more than 3 MB at 34 GB/s, 65 k cycles, and they fit everywhere.
    const auto square = lower_bound(gemm(2048, 1024, 1024), chip);
    EXPECT_DOUBLE_EQ(square->compute, 16 * 2048);
    EXPECT_STREQ(square->name(), "traffic");
    const double rate = 34e9 * chip.memory.efficiency_percent / 100;
    const double bytes = 1024.0 * 1024 + 2 * 2048.0 * 1024;
    EXPECT_NEAR(square->traffic, bytes / rate * 700e6, 1);
    // Rows that are fewer than a tile's: a tile takes as long as it takes to come in.
    EXPECT_DOUBLE_EQ(lower_bound(gemm(1, 1024, 1024), chip)->compute, 16 * 257);
}

TEST(PlanStudy, NoRunIsBelowItsBound) {
    const arch::ChipConfig chip = arch::find_chip("tpu_v4", run::chips_dir());
    const Measured run = measure(gemm(1000, 700, 900), chip);
    ASSERT_TRUE(run.result) << run.refused;
    EXPECT_GE(run.ratio(), 1);
    EXPECT_FALSE(miss_cause(run, chip).empty());
}

TEST(PlanStudy, WhatHasNoRoomSaysSo) {
    const arch::ChipConfig chip = arch::find_chip("edge_tpu", run::chips_dir());
    const tables::Workload large = gemm(64, 16384, 16384);
    EXPECT_FALSE(lower_bound(large, chip));
    EXPECT_FALSE(measure(large, chip).refused.empty());
}

}  // namespace
}  // namespace tandem::benchmarks
