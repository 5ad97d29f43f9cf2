// SPDX-License-Identifier: Apache-2.0
// Float networks through the whole chain: bit by bit by plain loops, close to what others computed.
#include <cstring>

#include "testbench/system/command_line.h"

namespace tandem::testbench {
namespace {

using nlohmann::json;

class FloatTest : public CommandLineTest {
  protected:
    static std::string folder() { return (source_dir() / "models/digits").string(); }
    static std::string model() { return folder() + "/digits_float.tflite"; }
    static std::string inputs() { return " --input " + folder() + "/inputs_float.bin"; }
    static std::string expected() { return " --expect " + folder() + "/expected_float.bin"; }
};

TEST_F(FloatTest, DigitsAreRightInTandemAndByPlainLoops) {
    const auto result =
        run_with_report("run " + model() + " --chip test_16x16_bf16 --backend tandem" + inputs() +
                        expected() + " --labels " + folder() + "/labels.bin --check plain");
    ASSERT_EQ(result.status, 0) << result.output;
    const json& checks = result.report["checks"];
    EXPECT_EQ(checks["compared"], 200 * 10 * 4);
    EXPECT_EQ(checks["mismatches"], 0);
    EXPECT_GT(checks["rows_compared"], 100000);
    EXPECT_EQ(checks["floats"]["compared"], 2000);
    EXPECT_EQ(checks["floats"]["beyond_tolerance"], 0);
    EXPECT_EQ(checks["floats"]["same_class"], 200);
    EXPECT_GE(checks["accuracy"], 0.995) << "of int8 it is 0.995";
}

TEST_F(FloatTest, DigitsAreThoseOfPlainLoopsOnEveryChip) {
    for (const char* chip : {"test_8x8_bf16", "tpu_v2", "tpu_v3", "tpu_v4", "tpu_v4i", "tpu_v5e",
                             "tpu_v5p", "tpu_v6e"}) {
        const auto result =
            run_with_report("run " + model() + " --host native --count 4 --batch 2 --chip " + chip +
                            inputs() + expected() + " --check plain");
        ASSERT_EQ(result.status, 0) << chip << "\n" << result.output;
        EXPECT_EQ(result.report["checks"]["compared"], 4 * 10 * 4) << chip;
        EXPECT_EQ(result.report["checks"]["mismatches"], 0) << chip;
        EXPECT_EQ(result.report["checks"]["floats"]["same_class"], 4) << chip;
    }
}

/// Two cores of four arrays each, RTL behind all of them; the rules use them all.
TEST_F(FloatTest, DigitsAgreeWithTheRtlOfEveryArrayOfAWholeChip) {
    const auto result = run_with_report("run " + model() +
                                        " --chip tpu_v4 --plan rules --backend tandem --batch 8" +
                                        inputs() + expected() + " --check plain");
    ASSERT_EQ(result.status, 0) << result.output;
    EXPECT_EQ(result.report["checks"]["mismatches"], 0);
    EXPECT_EQ(result.report["checks"]["floats"]["same_class"], 200);
    EXPECT_GT(result.report["checks"]["rows_compared"], 60000);
    for (const char* core : {"core0", "core1"})
        for (const char* array : {"mxu", "mxu1", "mxu2", "mxu3"}) {
            const std::string unit = std::string(core) + "." + array;
            EXPECT_GT(result.report["units"][unit]["busy"], 0) << unit;
        }
}

TEST_F(FloatTest, AnyTwoArraysAsRtlTakeTheSameCycles) {
    const std::string run =
        "run " + model() + " --chip tpu_v4 --host native --batch 8 --count 8" + inputs();
    const auto model_only = run_with_report(run + " --output tlm.bin");
    ASSERT_EQ(model_only.status, 0) << model_only.output;
    std::vector<std::string> arrays;
    for (const char* core : {"0.", "1."})
        for (const char* array : {"0", "1", "2", "3"}) arrays.push_back(std::string(core) + array);
    for (size_t i = 0; i < arrays.size(); ++i)
        for (size_t j = i + 1; j < arrays.size(); ++j) {
            const std::string both = arrays[i] + "," + arrays[j];
            const auto result =
                run_with_report(run + " --backend rtl --rtl-arrays " + both + " --output rtl.bin");
            ASSERT_EQ(result.status, 0) << both << "\n" << result.output;
            EXPECT_EQ(result.report["cycles"], model_only.report["cycles"]) << both;
            EXPECT_EQ(read_text(folder_ / "rtl.bin"), read_text(folder_ / "tlm.bin")) << both;
        }
}

TEST_F(FloatTest, SeededInputsAreNumbers) {
    const auto result = run_with_report("run " + model() +
                                        " --host native --chip test_8x8_bf16 --count 3 --seed 7 "
                                        "--check plain --output out.bin");
    ASSERT_EQ(result.status, 0) << result.output;
    EXPECT_EQ(result.report["checks"]["mismatches"], 0);
    const std::string bytes = read_text(folder_ / "out.bin");
    ASSERT_EQ(bytes.size(), 120u);
    for (size_t sample = 0; sample < 3; ++sample) {
        float sum = 0;
        for (size_t i = 0; i < 10; ++i) {
            float value = 0;
            std::memcpy(&value, bytes.data() + (sample * 10 + i) * 4, 4);
            sum += value;
        }
        EXPECT_NEAR(sum, 1, 1e-5) << "probabilities";
    }
}

TEST_F(FloatTest, WhatIsBeyondTheToleranceIsAMismatch) {
    const auto result =
        run_with_report("run " + model() + " --host native --chip test_16x16_bf16 --count 20" +
                        inputs() + expected() + " --tolerance 1e-7");
    EXPECT_EQ(result.status, 1) << result.output;
    EXPECT_NE(result.output.find(
                  "differ by more than 1e-05 % of the largest expected magnitude; worst: "),
              std::string::npos)
        << result.output;
    EXPECT_GT(result.report["checks"]["floats"]["beyond_tolerance"], 0);
    EXPECT_GT(result.report["checks"]["floats"]["largest_difference"], 0);
}

TEST_F(FloatTest, TheNarrowedGraphIsAModel) {
    ASSERT_EQ(run("compile " + model() + " --chip test_8x8_bf16 --dump dump --dump-bytes").status,
              0);
    const std::string rest = " --host native --chip test_8x8_bf16 --count 2" + inputs();
    const auto file = run_with_report("run " + model() + rest);
    const auto dump = run_with_report("run dump/graph.tgraph" + rest + expected());
    ASSERT_EQ(dump.status, 0) << dump.output;
    EXPECT_EQ(dump.report["cycles"], file.report["cycles"]);
}

TEST_F(FloatTest, MistakesAreNamed) {
    const auto expect = [&](const std::string& arguments, const std::string& text) {
        const auto result = run("run " + arguments);
        EXPECT_EQ(result.status, 2) << result.output;
        EXPECT_NE(result.output.find(text), std::string::npos) << result.output;
    };
    expect(model() + " --chip test_16x16", "a chip whose arrays take bf16 (");
    const std::string bf16 = model() + " --chip test_8x8_bf16 ";
    expect(bf16 + "--input " + folder() + "/labels.bin", "a multiple of 1024 bytes");
    expect(bf16 + "--layers " + folder() + "/labels.bin", "an int8 network");
    expect(bf16 + "--mode timing --check plain", "--check");
    const std::string int8 = folder() + "/digits_int8.tflite --chip test_8x8 ";
    expect(int8 + "--check plain --rounding gemmlowp", "--rounding single");
    ASSERT_EQ(run("compile " + model() + " --chip test_8x8_bf16 -o a.tpu").status, 0);
    expect("a.tpu --chip test_8x8_bf16 --check plain", "a compiled program");
}

struct Network {
    const char* name;
    const char* folder;
    const char* file;
    int samples;
    /// Measured and rounded up, of the outputs' range: bf16 has no bound that would be of use.
    double tolerance;
    bool classes;  ///< the largest output means something
};

std::ostream& operator<<(std::ostream& out, const Network& network) {
    return out << network.samples << " samples";
}

constexpr Network kNetworks[] = {
    {"ResNet8", "resnet8-cifar10", "resnet8_float.tflite", 12, 0.03, true},
    {"Autoencoder", "ad-autoencoder", "ad01_fp32.tflite", 98, 0.07, false},
    {"Sine", "hello-world-sine", "hello_world_float.tflite", 200, 0.03, false},
};

class FloatNetworksTest : public CommandLineTest, public ::testing::WithParamInterface<Network> {};

TEST_P(FloatNetworksTest, AreThosePlainLoopsHaveAndCloseToTflite) {
    TANDEM_NEEDS_NETWORKS();
    const Network& network = GetParam();
    const std::string folder = environment("TANDEM_MODELS") + "/" + network.folder;
    for (const char* chip : {"test_16x16_bf16", "tpu_v4"}) {
        const auto result = run_with_report(
            "run " + folder + "/" + network.file + " --chip " + chip + " --input " + folder +
            "/inputs/float32.bin --expect " + folder + "/expected/float32.bin --tolerance " +
            std::to_string(network.tolerance) + " --check plain --host native");
        ASSERT_EQ(result.status, 0) << result.output;
        const json& checks = result.report["checks"];
        EXPECT_GT(checks["compared"], 0);
        EXPECT_EQ(checks["mismatches"], 0);
        EXPECT_EQ(checks["floats"]["beyond_tolerance"], 0);
        EXPECT_EQ(checks["floats"]["samples"], network.samples);
        if (network.classes) {
            EXPECT_EQ(checks["floats"]["same_class"], network.samples);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, FloatNetworksTest, ::testing::ValuesIn(kNetworks),
                         [](const auto& test) { return std::string(test.param.name); });

/// Its weights are int8 in the file; the samples are those of its int8 sister, dequantised.
TEST_F(FloatTest, DsCnnIsAsRightAsInInt8) {
    TANDEM_NEEDS_NETWORKS();
    const std::string folder = environment("TANDEM_MODELS") + "/dscnn-kws";
    constexpr size_t kSamples = 100, kValues = 49 * 10;
    std::string inputs;
    for (const char byte : read_text(folder + "/inputs/int8.bin").substr(0, kSamples * kValues)) {
        const float value = static_cast<float>(static_cast<signed char>(byte) - 83) * 0.584702909f;
        inputs.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    write_text(folder_ / "inputs.bin", inputs);
    const auto result = run_with_report("run " + folder +
                                        "/dscnn_float.tflite --chip test_16x16_bf16 --host native "
                                        "--input inputs.bin --check plain --tolerance 0.35 "
                                        "--expect " +
                                        folder + "/expected/float32.bin");
    ASSERT_EQ(result.status, 0) << result.output;
    EXPECT_EQ(result.report["checks"]["mismatches"], 0);
    EXPECT_GE(result.report["checks"]["floats"]["same_class"], 99);
}

}  // namespace
}  // namespace tandem::testbench
