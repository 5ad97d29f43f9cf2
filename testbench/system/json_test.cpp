// SPDX-License-Identifier: Apache-2.0
// All JSON that the command writes fits its schema in docs/. Reports of runs are checked by every
// test that asks for one (run_with_report); here are the other writers, and that none is left out.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "testbench/system/command_line.h"

namespace tandem::testbench {
namespace {

using nlohmann::json;

class JsonTest : public CommandLineTest {
  protected:
    /// Names below "Subcommands:" in the command's own help.
    std::vector<std::string> subcommands(const std::string& of = "") const {
        std::istringstream help(run(of + " --help").output);
        std::vector<std::string> names;
        bool listed = false;
        for (std::string line; std::getline(help, line);) {
            if (listed && !line.starts_with("  ")) break;
            if (listed) names.push_back(line.substr(2, line.find(' ', 2) - 2));
            listed = listed || line.starts_with("Subcommands:");
        }
        return names;
    }
    json printed(const std::string& arguments) const {
        const auto result = run(arguments);
        EXPECT_EQ(result.status, 0) << result.output;
        return json::parse(result.output);
    }
    static std::string model() {
        return (source_dir() / "models/digits/digits_int8.tflite").string();
    }
};

TEST_F(JsonTest, EverySubcommandThatWritesJsonHasASchema) {
    const auto names = subcommands();
    ASSERT_GE(names.size(), 7u);
    size_t writers = 0;
    for (const std::string& name : names) {
        std::vector<std::string> inner = subcommands(name);
        if (inner.empty()) inner.push_back("");
        for (const std::string& below : inner) {
            const bool writes =
                run(name + " " + below + " --help").output.find("--json") != std::string::npos;
            writers += writes ? 1 : 0;
            EXPECT_EQ(writes, !schema_of(name).empty()) << name << " " << below;
        }
    }
    EXPECT_GE(writers, 5u);
}

TEST_F(JsonTest, ChipsAreAsTheirSchemaSays) {
    const json list = printed("chips --json");
    EXPECT_GE(list.size(), 13u);
    EXPECT_EQ(mistakes_of(list, "chip"), "");
    EXPECT_EQ(mistakes_of(printed("chips tpu_v1 --set mxu.count=2 --json"), "chip"), "");
}

TEST_F(JsonTest, TheCommandLineIsAsItsSchemaSays) {
    EXPECT_EQ(mistakes_of(printed("--dump-options"), "options"), "");
}

TEST_F(JsonTest, ReportsOfVerifyAreAsTheirSchemaSays) {
    const auto good = run_with_report("verify --rows 3 --cols 5 --streams 2");
    EXPECT_EQ(good.status, 0) << good.output;
    for (const char* dtype : {"int8", "bf16"}) {
        const auto bad = run_with_report(
            std::string("verify --rows 3 --cols 5 --streams 4 --inject seed=1 --dtype ") + dtype);
        EXPECT_EQ(bad.status, 1) << bad.output;
        EXPECT_TRUE(bad.report.contains("first_divergence"));
    }
}

TEST_F(JsonTest, PlansAreAsTheirSchemaSays) {
    const auto mlp = (source_dir() / "models/applications/mlp0.yaml").string();
    for (const std::string& arguments : {model() + " --chip tpu_v4", mlp + " --chip tpu_v1"}) {
        const auto result = run_with_report("compile " + arguments);
        EXPECT_EQ(result.status, 0) << result.output;
        EXPECT_GE(result.report.at("kernels").size(), 5u);
    }
}

TEST_F(JsonTest, TimelinesAreAsTheirSchemaSays) {
    for (const char* chip : {"test_16x16", "tpu_v4"}) {
        const auto result = run("run " + model() + " --count 1 --trace t.json --chip " + chip);
        ASSERT_EQ(result.status, 0) << result.output;
        EXPECT_EQ(mistakes_of(json::parse(read_text(folder_ / "t.json")), "trace"), "") << chip;
    }
}

TEST_F(JsonTest, CountsOfScalesimAreAsTheirSchemaSays) {
    write_text(folder_ / "x.csv", "Layer, M, N, K\nfc, 4, 20, 30\n");
    const auto result =
        run_with_report("run x.csv --chip test_8x8 --timing scalesim-ws --backend rtl");
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_EQ(result.report.at("rtl").size(), 1u);
}

// The checker itself: a schema that is not kept is told.
TEST_F(JsonTest, WhatDoesNotFitIsNamed) {
    json chip = printed("chips tpu_v1 --json");
    chip["clock_hz"] = "fast";
    chip["mxu"].erase("rows");
    chip["hash"] = "xyz";
    chip["bogus"] = 1;
    const std::string text = mistakes_of(chip, "chip");
    for (const char* part : {"$.clock_hz: is no", "$.mxu: has no rows",
                             "$.hash: \"xyz\" does not match", "unknown key bogus"})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    EXPECT_THROW(JsonSchema(json{{"typo", 1}}).mistakes(1), std::logic_error);
}

}  // namespace
}  // namespace tandem::testbench
