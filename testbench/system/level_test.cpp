// SPDX-License-Identifier: Apache-2.0
// Loosely timed runs: the values of approximately timed ones, cycles that are an estimate, and
// what they are not for.
#include "testbench/system/command_line.h"

namespace tandem::testbench {
namespace {

class LevelTest : public CommandLineTest {
  protected:
    /// Outputs and report of a run at a level.
    std::pair<std::string, nlohmann::json> outcome(const std::string& command,
                                                   const std::string& level) const {
        const auto file = (folder_ / "outputs.bin").string();
        std::filesystem::remove(file);
        const auto result = run_with_report(command + " --output " + file + " --level " + level);
        EXPECT_EQ(result.status, 0) << result.output;
        EXPECT_EQ(result.report["level"], level.substr(0, 2));
        EXPECT_TRUE(result.report["laws_broken"].empty()) << result.report["laws_broken"];
        EXPECT_EQ(result.output.find("approximately") != std::string::npos,
                  level.starts_with("lt"));
        return {read_text(file), result.report};
    }
    /// Of both levels: all that is counted is equal, cycles are near each other.
    void compare(const std::string& command, double share = 0.35) const {
        const auto [at_outputs, at] = outcome(command, "at");
        const auto [lt_outputs, lt] = outcome(command, "lt");
        EXPECT_FALSE(at_outputs.empty()) << command;
        EXPECT_TRUE(at_outputs == lt_outputs) << command;
        for (const char* key : {"macs", "array_macs", "weight_tiles", "instructions"})
            EXPECT_EQ(at[key], lt[key]) << command << ": " << key;
        for (const char* key : {"memory_write", "host_to_chip", "chip_to_host"})
            EXPECT_EQ(at["traffic"][key], lt["traffic"][key]) << command << ": " << key;
        const double ratio = lt["cycles"].get<double>() / at["cycles"].get<double>();
        EXPECT_NEAR(ratio, 1, share) << command;
    }
    static std::string model(const std::string& file) {
        return "run " + environment("TANDEM_MODELS") + "/" + file + " ";
    }
};

TEST_F(LevelTest, DigitsHaveTheSameValues) {
    for (const char* chip : {"test_16x16", "test_8x8", "tpu_v1", "edge_tpu"})
        compare(digits() + "--chip " + chip);
    const auto floats = (source_dir() / "models/digits/digits_float.tflite").string();
    for (const char* chip : {"test_16x16_bf16", "tpu_v2", "tpu_v4"})
        compare("run " + floats + " --count 5 --chip " + chip);
}

TEST_F(LevelTest, TheQuantumChangesNoValue) {
    const auto floats = "run " + (source_dir() / "models/digits/digits_float.tflite").string() +
                        " --count 5 --chip tpu_v3";
    const std::string expected = outcome(floats, "at").first;
    for (const char* quantum : {"1", "777", "100000000"})
        EXPECT_TRUE(outcome(floats, std::string("lt --quantum ") + quantum).first == expected)
            << quantum;
}

TEST_F(LevelTest, NetworksHaveTheSameValues) {
    TANDEM_NEEDS_NETWORKS();
    for (const char* chip : {"test_16x16", "tpu_v1",
                             "test_16x16 --set cores=2 --set mxu.count=2 --set "
                             "'sequencer.cross_core_latency=80 ns'"}) {
        for (const char* file : {"resnet8-cifar10/resnet8_int8.tflite",
                                 "dscnn-kws/dscnn_int8.tflite", "ad-autoencoder/ad01_int8.tflite"})
            compare(model(file) + "--count 3 --chip " + chip);
    }
    for (const char* chip : {"tpu_v2", "tpu_v4i", "tpu_v5p"})
        for (const char* file :
             {"resnet8-cifar10/resnet8_float.tflite", "dscnn-kws/dscnn_float.tflite"})
            compare(model(file) + "--count 3 --chip " + chip);
}

TEST_F(LevelTest, EveryOperatorHasTheSameValues) {
    TANDEM_NEEDS_NETWORKS();
    const auto folder = environment("TANDEM_MODELS") + "/resnet8-cifar10";
    const auto result = run_with_report(
        model("resnet8-cifar10/resnet8_int8.tflite") + "--level lt --input " + folder +
        "/inputs/int8.bin --count 2 --layers " + folder + "/layers/int8_sample0.layers.bin");
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_GT(result.report["checks"]["layer_bytes_compared"], 0);
    EXPECT_EQ(result.report["checks"]["layer_mismatches"], 0);
}

TEST_F(LevelTest, ProductsAreThoseOfPlainLoops) {
    for (const char* product :
         {"64 64 64", "300 70 90 --chip tpu_v1", "33 200 65 --chip tpu_v4i"}) {
        const auto result = run(std::string("gemm ") + product + " --level lt --host native");
        EXPECT_EQ(result.status, 0) << product << "\n" << result.output;
    }
}

TEST_F(LevelTest, RefusesWhatItIsNotFor) {
    const auto list = (source_dir() / "models/applications/mlp0.yaml").string();
    const std::pair<std::string, const char*> mistakes[] = {
        {digits() + "--level lt --backend rtl", "--level lt: --backend: expected tlm"},
        {digits() + "--level lt --backend tandem", "--level lt: --backend: expected tlm"},
        {"run " + (source_dir() / "models/digits/digits_int8.tflite").string() +
             " --level lt --mode timing",
         "--level lt: --mode: expected functional"},
        {digits() + "--level lt --trace t.json", "--level lt: --trace: expected --level at"},
        {"run " + list + " --level lt", "--level: expected at, or a network"},
        {"run " + list + " --level lt --timing scalesim-ws", "--level: expected at"},
        {"gemm 16 16 16 --arrays all --level lt", "--level: expected at, or a network"},
        {digits() + "--quantum 10", "--quantum needs --level lt"},
        {digits() + "--level lt --quantum 0", "--quantum"},
        {digits() + "--level high", "--level"},
    };
    for (const auto& [command, text] : mistakes) {
        const auto result = run(command);
        EXPECT_EQ(result.status, 2) << command << "\n" << result.output;
        EXPECT_NE(result.output.find(text), std::string::npos) << command << "\n" << result.output;
    }
}

}  // namespace
}  // namespace tandem::testbench
