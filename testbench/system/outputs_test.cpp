// SPDX-License-Identifier: Apache-2.0
// What commands write: never over what they read, refused before any work, and told in full.
#include "testbench/system/command_line.h"

namespace tandem::testing {
namespace {

class OutputsTest : public CommandLineTest {
  protected:
    void SetUp() override {
        const auto digits = source_dir() / "models/digits";
        std::filesystem::copy(digits / "digits_int8.tflite", folder_ / "m.tflite");
        std::filesystem::copy(digits / "inputs.bin", folder_ / "in.bin");
    }
    void expect_refused(const std::string& arguments, const std::vector<std::string>& texts) {
        const std::string model = read_text(folder_ / "m.tflite"),
                          inputs = read_text(folder_ / "in.bin");
        const auto result = run(arguments);
        EXPECT_EQ(result.status, 2) << arguments << "\n" << result.output;
        for (const auto& text : texts)
            EXPECT_NE(result.output.find(text), std::string::npos) << text << "\n" << result.output;
        EXPECT_TRUE(read_text(folder_ / "m.tflite") == model) << arguments;
        EXPECT_TRUE(read_text(folder_ / "in.bin") == inputs) << arguments;
    }
    static bool says(const CommandResult& result, const std::string& text) {
        return result.output.find(text) != std::string::npos;
    }
};

TEST_F(OutputsTest, AreNeverInputs) {
    expect_refused("run m.tflite --json m.tflite", {"--json", "MODEL"});
    expect_refused("run m.tflite --input in.bin --output ./in.bin", {"--output", "--input"});
    expect_refused("run m.tflite --input in.bin --backend rtl --wave in.bin",
                   {"--wave", "--input"});
    expect_refused("compile m.tflite -o m.tflite", {"--output", "MODEL"});
    expect_refused("gemm 4 4 4 --json x --trace x", {"--trace", "--json"});
}

TEST_F(OutputsTest, ThatCannotBeWrittenAreRefusedBeforeAnyWork) {
    for (const char* command : {"run m.tflite", "gemm 4 4 4", "verify --rows 4 --cols 4"}) {
        const auto result = run(std::string(command) + " --json nothing/x.json");
        EXPECT_EQ(result.status, 2) << result.output;
        EXPECT_TRUE(says(result, "nothing/x.json cannot be written")) << result.output;
        EXPECT_FALSE(says(result, "cycles (") || says(result, "streams (")) << result.output;
    }
}

TEST_F(OutputsTest, AWrongProductNamesItsFirstElement) {
    const auto result = run("gemm 16 16 16 --backend rtl --inject seed=1");
    EXPECT_EQ(result.status, 1) << result.output;
    EXPECT_TRUE(says(result, "outputs: ")) << result.output;
    EXPECT_FALSE(says(result, "expected 0, found 0")) << result.output;
    EXPECT_FALSE(says(result, "no output row changed")) << result.output;
}

TEST_F(OutputsTest, VerifyTellsWhatItInjected) {
    const auto result = run("verify --rows 4 --cols 4 --streams 3 --inject seed=1 --json r.json");
    EXPECT_TRUE(says(result, "injected pe[")) << result.output;
    EXPECT_TRUE(std::filesystem::exists(folder_ / "r.json"));
}

TEST_F(OutputsTest, AnOldWaveIsNotTakenForANewOne) {
    write_text(folder_ / "w.fst", "old");
    const auto result =
        run("gemm 4 4 4 --backend rtl --wave w.fst --wave-from 99999999 --wave-to 99999999");
    EXPECT_TRUE(says(result, "the run ended before the window")) << result.output;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "w.fst"));
}

}  // namespace
}  // namespace tandem::testing
