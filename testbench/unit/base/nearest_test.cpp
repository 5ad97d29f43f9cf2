// SPDX-License-Identifier: Apache-2.0
// What a user may have meant.
#include "base/nearest.h"

#include <gtest/gtest.h>

namespace tandem::base {
namespace {

TEST(EditDistance, CountsEachKindOfMistakeOnce) {
    EXPECT_EQ(edit_distance("rows", "rows"), 0u);
    EXPECT_EQ(edit_distance("rows", "ros"), 1u) << "a letter missing";
    EXPECT_EQ(edit_distance("rows", "rowss"), 1u) << "a letter too many";
    EXPECT_EQ(edit_distance("rows", "rods"), 1u) << "a wrong letter";
    EXPECT_EQ(edit_distance("rows", "rwos"), 1u) << "neighbours swapped";
    EXPECT_EQ(edit_distance("", "rows"), 4u);
    EXPECT_EQ(edit_distance("rows", ""), 4u);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

const std::vector<std::string> kKeys = {"clock", "mxu.count", "mxu.cols", "memory.latency",
                                        "vector.latency"};

TEST(Nearest, IsTheKeyWithTheLeastDistance) {
    EXPECT_EQ(nearest("mxu.cuont", kKeys), "mxu.count");
    EXPECT_EQ(nearest("mxu.col", kKeys), "mxu.cols");
    EXPECT_EQ(nearest("vectr.latency", kKeys), "vector.latency");
    EXPECT_EQ(nearest("clok", kKeys), "clock");
}

TEST(Nearest, TakesTheLastPartOfAKeyForTheWhole) {
    EXPECT_EQ(nearest("count", kKeys), "mxu.count");
    EXPECT_EQ(nearest("latncy", kKeys), "memory.latency") << "the first of two that are as near";
}

TEST(Nearest, IsNothingWhenAllAreFarOff) {
    EXPECT_EQ(nearest("colour", kKeys), std::nullopt);
    EXPECT_EQ(nearest("x", kKeys), std::nullopt);
    EXPECT_EQ(nearest("", kKeys), std::nullopt);
    EXPECT_EQ(nearest("clock", {}), std::nullopt);
}

TEST(NearestHint, StandsInAMessage) {
    EXPECT_EQ(nearest_hint("clok", kKeys), " (nearest: clock)");
    EXPECT_EQ(nearest_hint("colour", kKeys), "");
}

}  // namespace
}  // namespace tandem::base
