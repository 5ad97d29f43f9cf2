// SPDX-License-Identifier: Apache-2.0
// Other people's trained networks against other people's runtimes, on every backend.
#include "testbench/system/command_line.h"

namespace tandem::testbench {
namespace {

struct Case {
    const char* name;
    const char* folder;
    const char* file;
    const char* chip;
    int samples;  ///< fewer where the RTL of a 256x256 array is simulated
};

std::ostream& operator<<(std::ostream& out, const Case& test) {
    return out << test.samples << " samples";
}

constexpr Case kCases[] = {
    {"ResNet8On16x16", "resnet8-cifar10", "resnet8_int8.tflite", "test_16x16", 12},
    {"ResNet8OnTwoCores", "resnet8-cifar10", "resnet8_int8.tflite",
     "test_16x16 --set cores=2 --set mxu.count=2 --set 'sequencer.cross_core_latency=80 ns'", 4},
    {"DsCnnOn16x16", "dscnn-kws", "dscnn_int8.tflite", "test_16x16", 50},
    {"AutoencoderOn16x16", "ad-autoencoder", "ad01_int8.tflite", "test_16x16", 98},
    {"ResNet8OnTpuV1", "resnet8-cifar10", "resnet8_int8.tflite", "tpu_v1", 12},
    {"DsCnnOnTpuV1", "dscnn-kws", "dscnn_int8.tflite", "tpu_v1", 12},
    {"AutoencoderOnTpuV1", "ad-autoencoder", "ad01_int8.tflite", "tpu_v1", 12},
};

class NetworksTest : public CommandLineTest, public ::testing::WithParamInterface<Case> {
  protected:
    static Case network() { return GetParam(); }
    static std::string chip() { return GetParam().chip; }
    static std::string folder() { return environment("TANDEM_MODELS") + "/" + network().folder; }
    static std::string command(const std::string& expected, int samples) {
        return "run " + folder() + "/" + network().file + " --chip " + chip() + " --input " +
               folder() + "/inputs/int8.bin --expect " + folder() + "/expected/" + expected +
               " --count " + std::to_string(samples) + " ";
    }
    static std::string layers() {
        return " --layers " + folder() + "/layers/int8_sample0.layers.bin";
    }
};

TEST_P(NetworksTest, EveryByteIsRightAndCyclesAreEqualOnAllBackends) {
    TANDEM_NEEDS_NETWORKS();
    uint64_t cycles = 0;
    for (const char* backend : {"tlm", "rtl", "tandem"}) {
        const auto result = run_with_report(command("int8.bin", network().samples) +
                                            "--host riscv --backend " + backend + layers());
        ASSERT_EQ(result.status, 0) << backend << "\n" << result.output;
        EXPECT_EQ(result.report["checks"]["mismatches"], 0) << backend;
        EXPECT_GT(result.report["checks"]["compared"], 0) << backend;
        EXPECT_GT(result.report["checks"]["layer_bytes_compared"], 0) << backend;
        EXPECT_EQ(result.report["checks"]["layer_mismatches"], 0) << backend;
        EXPECT_TRUE(result.report["laws_broken"].empty())
            << backend << result.report["laws_broken"];
        EXPECT_GT(result.report["host"]["firmware_instructions"], 0) << backend;
        if (cycles == 0) cycles = result.report["cycles"];
        EXPECT_EQ(result.report["cycles"], cycles) << backend << " against tlm";
    }
}

TEST_P(NetworksTest, GemmlowpRoundingGivesTheAnswersOfThePortableKernels) {
    TANDEM_NEEDS_NETWORKS();
    for (const char* backend : {"tlm", "rtl", "tandem"}) {
        const int samples = chip() == "tpu_v1" ? 4 : network().samples;
        const auto result = run_with_report(command("int8_gemmlowp_ownref.bin", samples) +
                                            "--rounding gemmlowp --backend " + backend);
        ASSERT_EQ(result.status, 0) << backend << "\n" << result.output;
        EXPECT_EQ(result.report["checks"]["mismatches"], 0) << backend;
    }
}

TEST_P(NetworksTest, TheNativeHostGivesTheSameAnswersInTheSameCycles) {
    TANDEM_NEEDS_NETWORKS();
    const auto native = run_with_report(command("int8.bin", 4) + "--host native");
    const auto riscv = run_with_report(command("int8.bin", 4) + "--host riscv");
    ASSERT_EQ(native.status, 0) << native.output;
    EXPECT_EQ(native.report["cycles"], riscv.report["cycles"]);
    EXPECT_EQ(native.report["units"], riscv.report["units"]);
}

// On the chip of the test, and, for they take no RTL, on those of the issue of one way.
TEST_P(NetworksTest, TheDumpWithoutBytesTakesAsLong) {
    TANDEM_NEEDS_NETWORKS();
    const std::string file = folder() + "/" + network().file;
    for (const std::string& on : {chip(), std::string("edge_tpu")}) {
        ASSERT_EQ(run("compile " + file + " --dump dump --chip " + on).status, 0);
        const std::string of_one = " --host native --count 1 --chip " + on;
        const auto functional = run_with_report("run " + file + of_one),
                   timing = run_with_report("run " + file + of_one + " --mode timing"),
                   shapes = run_with_report("run dump/graph.tgraph --chip " + on);
        ASSERT_EQ(shapes.status, 0) << shapes.output;
        EXPECT_EQ(timing.report["cycles"], functional.report["cycles"]) << on;
        EXPECT_EQ(shapes.report["cycles"], functional.report["cycles"]) << on;
        EXPECT_EQ(shapes.report["macs"], functional.report["macs"]) << on;
        uint64_t cycles = 0;
        for (const auto& layer : functional.report["layers"])
            cycles += layer["cycles"].get<uint64_t>();
        EXPECT_EQ(cycles, functional.report["cycles"]) << on;
    }
}

TEST_P(NetworksTest, TheDumpWithBytesGivesTheSameProgram) {
    TANDEM_NEEDS_NETWORKS();
    const std::string on = " --chip " + chip();
    ASSERT_EQ(run("compile " + folder() + "/" + network().file +
                  " --dump dump --dump-bytes -o first.tpu" + on)
                  .status,
              0);
    const auto result = run("compile dump/graph.tgraph -o second.tpu" + on);
    ASSERT_EQ(result.status, 0) << result.output;
    EXPECT_TRUE(read_text(folder_ / "first.tpu") == read_text(folder_ / "second.tpu"));
}

// The activations of a batch do not fit into 64 KiB: they go through device memory.
using SpilledNetworkTest = CommandLineTest;
TEST_F(SpilledNetworkTest, ABatchThatDoesNotFitTheBufferIsRightInEveryByte) {
    TANDEM_NEEDS_NETWORKS();
    const std::string folder = environment("TANDEM_MODELS") + "/resnet8-cifar10";
    uint64_t written_alone = 0;
    for (const int batch : {1, 3, 12}) {
        uint64_t cycles = 0;
        for (const char* backend : {"tlm", "tandem"}) {
            const auto result = run_with_report(
                "run " + folder + "/resnet8_int8.tflite --chip test_8x8 --host native --count 12 " +
                "--batch " + std::to_string(batch) + " --input " + folder +
                "/inputs/int8.bin --expect " + folder + "/expected/int8.bin --backend " + backend);
            ASSERT_EQ(result.status, 0) << batch << "\n" << result.output;
            EXPECT_EQ(result.report["checks"]["compared"], 12 * 10) << batch;
            EXPECT_EQ(result.report["checks"]["mismatches"], 0) << batch;
            EXPECT_TRUE(result.report["laws_broken"].empty()) << result.report["laws_broken"];
            if (cycles == 0) cycles = result.report["cycles"];
            EXPECT_EQ(result.report["cycles"], cycles) << backend << " against tlm";
            const uint64_t written = result.report["traffic"]["memory_write"];
            if (batch == 1) written_alone = written;
            EXPECT_GE(written, (batch == 12 ? 2 : 1) * written_alone) << "spilled";
        }
    }
}

TEST_F(SpilledNetworkTest, ResNet8AtBatch64IsRightInEveryByte) {
    TANDEM_NEEDS_NETWORKS();
    const std::string folder = environment("TANDEM_MODELS") + "/resnet8-cifar10";
    const auto samples = read_text(folder + "/inputs/int8.bin"),
               answers = read_text(folder + "/expected/int8.bin");
    std::string inputs, expected;
    for (size_t i = 0; i < 64; ++i) {
        const size_t sample = i % (answers.size() / 10);
        inputs += samples.substr(sample * 32 * 32 * 3, size_t{32} * 32 * 3);
        expected += answers.substr(sample * 10, 10);
    }
    write_text(folder_ / "inputs.bin", inputs);
    write_text(folder_ / "expected.bin", expected);
    const auto result = run_with_report(
        "run " + folder + "/resnet8_int8.tflite --chip test_8x8 --batch 64 --input inputs.bin " +
        "--expect expected.bin");
    ASSERT_EQ(result.status, 0) << result.output;
    EXPECT_EQ(result.report["batch"], 64);
    EXPECT_EQ(result.report["checks"]["compared"], 64 * 10);
    EXPECT_EQ(result.report["checks"]["mismatches"], 0);
    EXPECT_TRUE(result.report["laws_broken"].empty()) << result.report["laws_broken"];
}

struct Int8Chip {
    const char* name;
    int rows, cols;  ///< of its arrays in int8
    const char* backend;
};

std::ostream& operator<<(std::ostream& out, const Int8Chip& chip) { return out << chip.name; }

// Chips of bf16 arrays take int8 networks as int8 arrays, without being asked.
class Int8OnBf16ChipTest : public CommandLineTest, public ::testing::WithParamInterface<Int8Chip> {
  protected:
    void expect_mode(const nlohmann::json& report) const {
        EXPECT_EQ(report["array"]["rows"], GetParam().rows);
        EXPECT_EQ(report["array"]["cols"], GetParam().cols);
        EXPECT_EQ(report["array"]["dtype"], "int8");
        EXPECT_TRUE(report["laws_broken"].empty()) << report["laws_broken"];
    }
};

TEST_P(Int8OnBf16ChipTest, EveryByteIsRight) {
    TANDEM_NEEDS_NETWORKS();
    const std::pair<const char*, const char*> networks[] = {
        {"resnet8-cifar10", "resnet8_int8.tflite"},
        {"dscnn-kws", "dscnn_int8.tflite"},
        {"ad-autoencoder", "ad01_int8.tflite"},
        {"hello-world-sine", "hello_world_int8.tflite"}};
    for (const auto& [name, file] : networks) {
        const std::string folder = environment("TANDEM_MODELS") + "/" + name;
        const auto result = run_with_report(
            "run " + folder + "/" + file + " --chip " + GetParam().name + " --input " + folder +
            "/inputs/int8.bin --expect " + folder + "/expected/int8.bin");
        ASSERT_EQ(result.status, 0) << name << "\n" << result.output;
        EXPECT_GT(result.report["checks"]["compared"], 0) << name;
        EXPECT_EQ(result.report["checks"]["mismatches"], 0) << name;
        expect_mode(result.report);
        EXPECT_NE(result.output.find("arrays of " + std::to_string(GetParam().rows) + "x" +
                                     std::to_string(GetParam().cols) + " int8"),
                  std::string::npos)
            << result.output;
    }
}

TEST_P(Int8OnBf16ChipTest, DigitsAreRightWithTheRtlOfThatSize) {
    const auto result = run_with_report(digits() + "--count 5 --host native --backend " +
                                        GetParam().backend + " --chip " + GetParam().name);
    ASSERT_EQ(result.status, 0) << result.output;
    EXPECT_EQ(result.report["checks"]["mismatches"], 0);
    expect_mode(result.report);
    if (std::string(GetParam().backend) == "tandem") {
        EXPECT_GT(result.report["checks"]["rows_compared"], 0);
    }
}

INSTANTIATE_TEST_SUITE_P(All, Int8OnBf16ChipTest,
                         ::testing::Values(Int8Chip{"tpu_v4", 128, 128, "tandem"},
                                           Int8Chip{"tpu_v4i", 128, 128, "tandem"},
                                           Int8Chip{"tpu_v5e", 256, 128, "tandem"},
                                           Int8Chip{"tpu_v5p", 256, 128, "tandem"},
                                           Int8Chip{"tpu_v6e", 512, 256, "tlm"}),
                         [](const auto& info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(All, NetworksTest, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tandem::testbench
