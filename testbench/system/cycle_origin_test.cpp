// SPDX-License-Identifier: Apache-2.0
// Cycles that people see and give count from the start of the program: what comes before depends on
// the host, and on the length of names in the image.
#include "testbench/system/command_line.h"

namespace tandem::testbench {
namespace {

class CycleOriginTest : public CommandLineTest {
  protected:
    std::string model_called(const std::string& name) const {
        std::filesystem::copy(source_dir() / "models/digits/digits_int8.tflite", folder_ / name);
        return "run " + name + " --count 2 --backend tandem ";
    }
    static nlohmann::json cycles_of(const nlohmann::json& divergence) {
        nlohmann::json cycles;
        for (const char* key : {"cycle_tlm", "cycle_rtl", "pe_cycle", "wave_window"})
            cycles[key] = divergence.at(key);
        return cycles;
    }
};

TEST_F(CycleOriginTest, TheNameOfAFileMovesNoCycle) {
    const auto plain = run_with_report(model_called("m.tflite") + "--inject seed=1");
    ASSERT_EQ(plain.status, 1) << plain.output;
    const std::string long_name = std::string(180, 'n') + ".tflite";
    const auto renamed = run_with_report(model_called(long_name) + "--inject seed=1");
    ASSERT_EQ(renamed.status, 1) << renamed.output;
    EXPECT_EQ(renamed.report["injected"], plain.report["injected"]);
    EXPECT_EQ(cycles_of(renamed.report["first_divergence"]),
              cycles_of(plain.report["first_divergence"]));
    // The line that one prints is good for the other.
    const std::string inject = " --inject '" + plain.report["injected"].get<std::string>() + "'";
    const auto again = run_with_report("run " + long_name + " --count 2 --backend tandem" + inject);
    EXPECT_EQ(again.report["injected"], plain.report["injected"]);
    EXPECT_EQ(cycles_of(again.report["first_divergence"]),
              cycles_of(plain.report["first_divergence"]));
}

TEST_F(CycleOriginTest, TheHostMovesNoCycle) {
    const std::string command = model_called("m.tflite") + "--inject seed=1";
    const auto riscv = run_with_report(command + " --host riscv");
    const auto native = run_with_report(command + " --host native");
    ASSERT_EQ(native.status, 1) << native.output;
    EXPECT_EQ(native.report["injected"], riscv.report["injected"]);
    EXPECT_EQ(cycles_of(native.report["first_divergence"]),
              cycles_of(riscv.report["first_divergence"]));
}

TEST_F(CycleOriginTest, NoCycleIsBeyondThoseOfTheRun) {
    const auto result = run_with_report(model_called("m.tflite") +
                                        "--wave w.fst --wave-from 0 --wave-to 999 --trace t.json");
    ASSERT_EQ(result.status, 0) << result.output;
    EXPECT_EQ(result.report["wave"]["from_cycle"], 0);
    EXPECT_EQ(result.report["wave"]["to_cycle"], 999);
    const auto trace = nlohmann::json::parse(read_text(folder_ / "t.json"));
    uint64_t first = ~uint64_t{0};
    for (const auto& event : trace["traceEvents"])
        if (event["ph"] == "X") first = std::min(first, event["args"]["cycle"].get<uint64_t>());
    EXPECT_LT(first, 200u) << "counted from the first cycle of the program";
    // One inference behind the other: with two of them the second begins later than one takes.
    EXPECT_LT(first, result.report["cycles"].get<uint64_t>());
}

TEST_F(CycleOriginTest, ATraceOfADivergenceIsWhole) {
    const auto result =
        run_with_report(model_called("m.tflite") + "--inject seed=1 --trace t.json");
    ASSERT_EQ(result.status, 1) << result.output;
    EXPECT_FALSE(result.report["first_divergence"]["pe_cycle"].is_null()) << "a replay was made";
    EXPECT_TRUE(nlohmann::json::accept(read_text(folder_ / "t.json")));
}

TEST_F(CycleOriginTest, AnInjectionThatIsNotReachedIsAMistakeEverywhere) {
    write_text(folder_ / "x.csv", "Layer, M, N, K\nfirst, 20, 8, 8\n");
    const std::string never = " --backend tandem --inject 'pe[0][0].psum:bit0@cycle=999999999'";
    for (const std::string command : {"gemm 16 16 16", "gemm 16 16 16 --arrays all", "run x.csv",
                                      "run x.csv --chip test_8x8"}) {
        const auto result = run(command + never);
        EXPECT_EQ(result.status, 2) << command << "\n" << result.output;
        EXPECT_NE(result.output.find("which was not reached"), std::string::npos) << result.output;
    }
    const auto network = run(model_called("m.tflite") + never.substr(17));
    EXPECT_EQ(network.status, 2) << network.output;
    const auto verify = run("verify --rows 4 --cols 4 --streams 1" + never.substr(17));
    EXPECT_EQ(verify.status, 2) << verify.output;
}

TEST_F(CycleOriginTest, AnEmptyInjectionIsAMistake) {
    const std::string model = model_called("m.tflite");
    for (const std::string& command :
         {model, std::string("gemm 4 4 4 --backend rtl "), std::string("verify --streams 1 ")}) {
        const auto result = run(command + "--inject ''");
        EXPECT_EQ(result.status, 2) << command << "\n" << result.output;
        EXPECT_NE(result.output.find("--inject: expected pe[R][C]"), std::string::npos)
            << result.output;
    }
}

}  // namespace
}  // namespace tandem::testbench
