// SPDX-License-Identifier: Apache-2.0
// The project's own network through the whole chain, and what the command line promises about it.
#include "testbench/system/command_line.h"

namespace tandem::testbench {
namespace {

using DigitsTest = CommandLineTest;

TEST_F(DigitsTest, AllSamplesAreRightInTandem) {
    const auto result = run_with_report(digits() + "--backend tandem --host riscv");
    ASSERT_EQ(result.status, 0) << result.output;
    EXPECT_EQ(result.report["samples"], 200);
    EXPECT_EQ(result.report["checks"]["compared"], 2000);
    EXPECT_EQ(result.report["checks"]["mismatches"], 0);
    EXPECT_GE(result.report["checks"]["accuracy"], 0.97);
    EXPECT_GT(result.report["checks"]["rows_compared"], 100000);
}

TEST_F(DigitsTest, EveryChipGivesTheSameAnswersAndItsOwnCyclesOnAllBackends) {
    for (const char* chip : {"test_8x8", "test_16x16", "tpu_v1"}) {
        uint64_t cycles = 0;
        for (const char* backend : {"tlm", "rtl", "tandem"}) {
            const auto result = run_with_report(digits() + "--host native --count 5 --chip " +
                                                chip + " --backend " + backend);
            ASSERT_EQ(result.status, 0) << chip << " " << backend << "\n" << result.output;
            if (cycles == 0) cycles = result.report["cycles"];
            EXPECT_EQ(result.report["cycles"], cycles) << chip << " " << backend;
        }
    }
}

TEST_F(DigitsTest, AllCoresAndEverySubsetOfTheirArraysAsRtlGiveTheSameAnswersInTheSameCycles) {
    const std::string chip = "--host native --count 6 --batch 2 --set cores=2 --set mxu.count=2 ";
    const auto model = run_with_report(digits() + chip);
    ASSERT_EQ(model.status, 0) << model.output;
    EXPECT_EQ(model.report["cores"], 2);
    EXPECT_EQ(model.report["arrays"], 2);
    EXPECT_EQ(model.report["rtl_arrays"].size(), 0u);
    for (const char* backend : {"rtl", "tandem"})
        for (const char* arrays : {"all", "0.0", "1.1", "0.0,0.1", "0.0,1.0", "0.0,1.1", "0.1,1.0",
                                   "0.1,1.1", "1.1,1.0"}) {
            const auto result = run_with_report(digits() + chip + "--backend " + backend +
                                                " --rtl-arrays " + arrays);
            ASSERT_EQ(result.status, 0) << result.output;
            EXPECT_EQ(result.report["cycles"], model.report["cycles"]) << backend << " " << arrays;
            EXPECT_EQ(result.report["checks"]["mismatches"], 0);
            const size_t count =
                std::string(arrays) == "all" ? 4 : (std::string(arrays).size() + 1) / 4;
            EXPECT_EQ(result.report["rtl_arrays"].size(), count);
        }
}

TEST_F(DigitsTest, ArraysThatAreNotThereAreRefused) {
    const std::string chip = "--host native --count 1 --set cores=2 --set mxu.count=2 ";
    for (const char* arrays :
         {"2.0", "0.2", "0", "0.0,", "0.0,0.0", "-1.0", "0.0 1.0", "some", "''"}) {
        const auto result =
            run(digits() + chip + "--backend rtl --rtl-arrays '" + std::string(arrays) + "'");
        EXPECT_EQ(result.status, 2) << arrays << "\n" << result.output;
        EXPECT_NE(result.output.find("--rtl-arrays"), std::string::npos) << result.output;
    }
    EXPECT_EQ(run(digits() + chip + "--rtl-arrays 0.0").status, 2) << "backend tlm";
}

TEST_F(DigitsTest, AProgramForTwoCoresComesBackFromItsFile) {
    const auto model = (source_dir() / "models/digits/digits_int8.tflite").string();
    const std::string chip = " --chip test_16x16 --set cores=2";
    ASSERT_EQ(run("compile " + model + chip + " -o digits.tpu").status, 0);
    const auto direct = run_with_report("run " + model + chip + " --host native --seed 5");
    const auto compiled = run_with_report("run digits.tpu" + chip + " --host native --seed 5");
    ASSERT_EQ(compiled.status, 0) << compiled.output;
    EXPECT_EQ(compiled.report["cycles"], direct.report["cycles"]);
    EXPECT_EQ(compiled.report["cores"], 2);
    EXPECT_NE(run("disasm digits.tpu").output.find("; core 1"), std::string::npos);
}

TEST_F(DigitsTest, FirmwareThatUsesUpItsBudgetEndsTheRun) {
    const auto result = run(digits() + "--count 1 --firmware-budget 5000");
    EXPECT_EQ(result.status, 3) << result.output;
    EXPECT_NE(result.output.find("the budget of 5000 firmware instructions is used up"),
              std::string::npos)
        << result.output;
}

TEST_F(DigitsTest, ABatchGivesTheSameAnswersInFewerCycles) {
    const auto single = run_with_report(digits() + "--host native --count 8");
    const auto batch = run_with_report(digits() + "--host native --count 8 --batch 4");
    ASSERT_EQ(batch.status, 0) << batch.output;
    EXPECT_LT(batch.report["cycles"], single.report["cycles"]);
}

TEST_F(DigitsTest, ACompiledProgramRunsLikeItsModel) {
    const auto model = (source_dir() / "models/digits/digits_int8.tflite").string();
    ASSERT_EQ(run("compile " + model + " --chip test_8x8 -o digits.tpu").status, 0);
    const auto direct = run_with_report("run " + model + " --chip test_8x8 --host native --seed 5");
    const auto compiled = run_with_report("run digits.tpu --chip test_8x8 --host native --seed 5");
    ASSERT_EQ(compiled.status, 0) << compiled.output;
    EXPECT_EQ(compiled.report["cycles"], direct.report["cycles"]);
    const auto text = run("disasm digits.tpu");
    EXPECT_EQ(text.status, 0);
    EXPECT_NE(text.output.find("matmul"), std::string::npos);
}

TEST_F(DigitsTest, UnitCausesAddUpToTheCycles) {
    const auto result = run_with_report(digits() + "--host native --count 3");
    const uint64_t cycles = result.report["cycles"];
    ASSERT_GT(cycles, 0u);
    for (const auto& [unit, causes] : result.report["units"].items()) {
        uint64_t sum = 0;
        for (const auto& [cause, value] : causes.items()) sum += value.get<uint64_t>();
        EXPECT_EQ(sum, cycles) << unit;
    }
}

TEST_F(DigitsTest, TimingModeNamesTheSameCyclesWithoutData) {
    const auto functional = run_with_report(digits() + "--host native --count 3");
    const auto model = (source_dir() / "models/digits/digits_int8.tflite").string();
    const auto timing = run_with_report("run " + model + " --host native --count 3 --mode timing");
    ASSERT_EQ(timing.status, 0) << timing.output;
    EXPECT_EQ(timing.report["cycles"], functional.report["cycles"]);
}

TEST_F(DigitsTest, TheTimelineIsJsonWithOneSlicePerInstruction) {
    const auto result = run_with_report(digits() + "--host native --count 1 --trace trace.json");
    ASSERT_EQ(result.status, 0) << result.output;
    const auto trace = nlohmann::json::parse(read_text(folder_ / "trace.json"));
    uint64_t slices = 0;
    for (const auto& event : trace["traceEvents"]) slices += event["ph"] == "X";
    EXPECT_EQ(slices, result.report["instructions"]);
}

TEST_F(DigitsTest, AWrongExpectationIsAMismatch) {
    std::string expected = read_text(source_dir() / "models/digits/expected.bin");
    expected[13] = static_cast<char>(expected[13] ^ 1);
    write_text(folder_ / "wrong.bin", expected);
    const auto model = (source_dir() / "models/digits").string();
    const auto result = run("run " + model + "/digits_int8.tflite --host native --input " + model +
                            "/inputs.bin --expect wrong.bin");
    EXPECT_EQ(result.status, 1);
    EXPECT_NE(result.output.find("sample 1, element 3"), std::string::npos) << result.output;
}

TEST_F(DigitsTest, AProductIsRightByPlainLoops) {
    for (const char* shape : {"1 1 1", "17 33 5", "64 100 40"}) {
        const auto result =
            run_with_report(std::string("gemm ") + shape + " --backend tandem --host native");
        ASSERT_EQ(result.status, 0) << shape << "\n" << result.output;
        EXPECT_EQ(result.report["checks"]["mismatches"], 0) << shape;
        EXPECT_GT(result.report["checks"]["compared"], 0) << shape;
    }
}

TEST_F(DigitsTest, AWholeRunCanBeRecorded) {
    const auto result = run(digits() + "--host native --count 1 --backend rtl --wave all.fst");
    ASSERT_EQ(result.status, 0) << result.output;
    EXPECT_GT(std::filesystem::file_size(folder_ / "all.fst"), 1000u);
}

}  // namespace
}  // namespace tandem::testbench
