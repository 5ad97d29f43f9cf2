// SPDX-License-Identifier: Apache-2.0
#include "base/process.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace tandem::base {
namespace {

using namespace std::chrono_literals;

TEST(OutputOf, TellsFailureFromLateness) {
    EXPECT_EQ(output_of({"sh", "-c", "echo said; echo more"}, 60s), "said\nmore\n");
    EXPECT_EQ(output_of({"sh", "-c", "echo said; exit 3"}, 60s), "");
    EXPECT_EQ(output_of({"no-such-tool-anywhere"}, 60s), "");
    for (const char* script :
         {"echo said; sleep 600", "exec >&-; sleep 600", "trap '' TERM INT; sleep 600 & wait"}) {
        const auto start = std::chrono::steady_clock::now();
        EXPECT_EQ(output_of({"sh", "-c", script}, 300ms), std::nullopt) << script;
        EXPECT_LT(std::chrono::steady_clock::now() - start, 60s) << script;
    }
}

TEST(InPath, FindsTheFile) {
    EXPECT_TRUE(in_path("sh").has_value());
    EXPECT_FALSE(in_path("no-such-tool-anywhere").has_value());
}

}  // namespace
}  // namespace tandem::base
