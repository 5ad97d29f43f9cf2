// SPDX-License-Identifier: Apache-2.0
// tandem gemm with both types of elements: model, RTL and plain loops agree; sizes that have no
// room are refused before anything is done.
#include "testbench/system/command_line.h"

namespace tandem::testbench {
namespace {

class GemmTest : public CommandLineTest {
  protected:
    void expect_right(const std::string& arguments) {
        const auto result = run_with_report("gemm " + arguments + " --host native");
        ASSERT_EQ(result.status, 0) << arguments << "\n" << result.output;
        EXPECT_EQ(result.report["checks"]["mismatches"], 0) << arguments;
        EXPECT_GT(result.report["checks"]["compared"], 0) << arguments;
    }
    void expect_refused(const std::string& arguments, const std::vector<std::string>& texts) {
        const auto result = run("gemm " + arguments);
        EXPECT_EQ(result.status, 2) << arguments << "\n" << result.output;
        for (const auto& text : texts)
            EXPECT_NE(result.output.find(text), std::string::npos) << text << "\n" << result.output;
    }
    /// A chip like a shipped one with a line changed.
    std::string changed_chip(const std::string& name, const std::string& from,
                             const std::string& to) {
        std::string text = read_text(source_dir() / "arch/chips" / (name + ".yaml"));
        const auto at = text.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        text.replace(at, from.size(), to);
        write_text(folder_ / "chip.yaml", text);
        return " --chip chip.yaml";
    }
};

TEST_F(GemmTest, Bf16OfTheModelIsThatOfThePlainLoops) {
    for (const char* shape : {"1 1 1", "17 33 5", "64 100 40", "150 70 90"})
        for (const char* chip : {"test_8x8_bf16", "test_16x16_bf16"})
            expect_right(std::string(shape) + " --chip " + chip + " --seed 3");
}

TEST_F(GemmTest, Bf16OfTheModelIsThatOfTheRtl) {
    expect_right("20 30 40 --chip test_8x8_bf16 --dtype bf16 --backend tandem");
    expect_right("20 30 40 --chip test_16x16_bf16 --backend rtl");
}

TEST_F(GemmTest, Bf16WithSumsOfFourIsThatOfThePlainLoops) {
    expect_right("33 50 20" + changed_chip("test_8x8_bf16", "dtype: bf16",
                                           "dtype: bf16\n  pipeline: 4\n  sum4: true"));
}

TEST_F(GemmTest, LargeProductsAreRight) {
    expect_right("300 700 500 --chip tpu_v1");
    expect_right("1 65535 3 --chip tpu_v1");
    expect_right("1 3 65535 --chip tpu_v1");
    expect_right("65535 3 1 --chip tpu_v1");
}

TEST_F(GemmTest, Bf16TakesTheLongestRows) {
    const auto chip =
        changed_chip("test_16x16_bf16", "unified_buffer: 64 KiB", "unified_buffer: 2 MiB");
    expect_right("1 65535 3" + chip);
    expect_right("1 3 65535" + chip);
    expect_right("65535 3 1" + chip);
}

TEST_F(GemmTest, TimeIsThatOfTheFunctionalRun) {
    const std::string product = "gemm 100 80 60 --chip test_16x16_bf16 --host native";
    const auto functional = run_with_report(product),
               timing = run_with_report(product + " --mode timing");
    ASSERT_EQ(functional.status, 0) << functional.output;
    ASSERT_EQ(timing.status, 0) << timing.output;
    EXPECT_EQ(functional.report["cycles"], timing.report["cycles"]);
}

TEST_F(GemmTest, AChipWithBothTypesTakesTheOneThatIsAskedFor) {
    for (const char* type : {"int8", "bf16"}) {
        const std::string product =
            "150 300 90 --chip tpu_v5e --dtype " + std::string(type) + " --arrays ";
        expect_right(product + "first");
        expect_right(product + "all");
    }
    expect_right("40 300 90 --chip tpu_v4i --dtype int8 --backend tandem");
    expect_right("40 600 90 --chip tpu_v6e --dtype int8");
}

TEST_F(GemmTest, ATypeThatIsNotTheChips) {
    expect_refused("4 4 4 --chip test_8x8 --dtype bf16",
                   {"--dtype bf16", "take bf16 (", "tpu_v2", "found test_8x8"});
    expect_refused("4 4 4 --chip test_8x8_bf16 --dtype int8",
                   {"--dtype int8", "take int8 (", "tpu_v5e", "found test_8x8_bf16"});
    expect_refused("4 4 4 --dtype fp32", {"--dtype", "fp32"});
}

TEST_F(GemmTest, MatricesThatHaveNoRoom) {
    expect_refused("65535 65535 4 --chip tpu_v1", {"gemm 65535x65535x4", "unified buffer"});
    expect_refused("200 200 4 --chip test_8x8_bf16", {"unified buffer", "65536", "81600"});
    expect_refused("1 65535 65535 --chip tpu_v1", {"device memory"});
    expect_refused("1 60000 60000 --chip tpu_v1", {"host memory"});
}

TEST_F(GemmTest, SizesOutOfRange) {
    expect_refused("0 4 4", {"M"});
    expect_refused("4 65536 4", {"K", "65535"});
}

}  // namespace
}  // namespace tandem::testbench
