// SPDX-License-Identifier: Apache-2.0
// Lists of layers with seeded data: the model, the RTL and both in tandem give the bytes of plain
// loops, in the cycles of timing mode, on one array and on many.
#include <map>
#include <set>

#include "testbench/compiler/tables/shapes_folder.h"
#include "testbench/system/command_line.h"

namespace tandem::testbench {
namespace {

class ListDataTest : public CommandLineTest {
  protected:
    ListDataTest() {
        write_text(folder_ / "products.csv",
                   "Layer, M, N, K\n"
                   "first, 20, 8, 8\n"
                   "second, 5, 17, 30\n"
                   "third, 33, 70, 100\n");
        // conv2's image is not conv1's output: it has seeded data of its own. fc reads depthwise's
        // under another shape.
        write_text(folder_ / "chain.csv",
                   "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, "
                   "Num Filter, Strides,\n"
                   "conv1, 12, 12, 3, 3, 3, 12, 1,\n"
                   "conv2, 9, 9, 3, 3, 12, 20, 2,\n"
                   "conv3, 4, 4, 3, 3, 20, 24, 1,\n"
                   "conv4, 2, 2, 2, 1, 24, 40, 1,\n"
                   "fc, 1, 1, 1, 1, 80, 30, 1,\n");
        write_text(folder_ / "depthwise.csv",
                   "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, "
                   "Num Filter, Strides,\n"
                   "conv, 8, 8, 3, 3, 3, 24, 1,\n"
                   "DPdepth, 6, 6, 3, 3, 24, 1, 1,\n"
                   "point, 4, 4, 1, 1, 24, 9, 1,\n");
        write_text(folder_ / "padded.csv",
                   "set, w, h, c, n, k, filter_w, filter_h, pad_w, pad_h, stride_w, stride_h\n"
                   "s, 11, 9, 5, 2, 13, 3, 5, 1, 2, 2, 1\n"
                   "s, 7, 7, 16, 3, 20, 1, 1, 0, 0, 1, 1\n");
        // Pixels of the first two are packed into rows.
        write_text(folder_ / "pointwise.csv",
                   "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, "
                   "Num Filter, Strides,\n"
                   "squeeze, 24, 24, 1, 1, 5, 4, 1,\n"
                   "expand, 24, 24, 1, 1, 4, 8, 1,\n"
                   "wide, 24, 24, 1, 1, 8, 16, 1,\n");
        // Time steps, and pointwise work beside the products.
        write_text(folder_ / "recurrent.csv",
                   "set, hidden, batch, timesteps, cell\n"
                   "s, 24, 5, 3, lstm\n"
                   "s, 17, 2, 4, vanilla\n");
        write_application("mixed.yaml", 8,
                          "  - {vector: gate, elements: 288}\n"
                          "  - {pool: p1, elements: 288, outputs: 72}\n"
                          "  - {fc: mid, inputs: 72, outputs: 40}\n");
        write_application("float.yaml", 8, "  - {fc: mid, inputs: 288, outputs: 40}\n");
    }

    /// A convolution, `layers`, and products that do not take what those give.
    void write_application(const std::string& name, int bits, const std::string& layers) const {
        write_text(folder_ / name,
                   "name: A\nbatch: 3\nactivation_bits: " + std::to_string(bits) +
                       "\nlayers:\n"
                       "  - {conv: stem, height: 6, width: 6, channels: 5, filters: 8, kernel: 3, "
                       "stride: 1, padding: same}\n" +
                       layers +
                       "  - {fc: other, inputs: 50, outputs: 33, count: 2}\n"
                       "  - repeat: 2\n"
                       "    layers:\n"
                       "      - {fc: inner, inputs: 20, outputs: 20}\n");
    }

    CommandResult with_data(const std::string& arguments) const {
        return run_with_report("run " + arguments + " --mode functional");
    }

    /// `bytes`: of outputs and of what edges have taken the place of.
    void expect_right(const std::string& list, const std::string& chip, int bytes) const {
        const std::string arguments = list + " --chip " + chip;
        const auto timing = run_with_report("run " + arguments + " --mode timing");
        ASSERT_EQ(timing.status, 0) << arguments << "\n" << timing.output;
        for (const char* backend : {"tlm", "rtl", "tandem"}) {
            SCOPED_TRACE(arguments + " --backend " + backend);
            const auto result = with_data(arguments + " --seed 5 --backend " + backend);
            ASSERT_EQ(result.status, 0) << result.output;
            EXPECT_EQ(result.report["mode"], "functional");
            EXPECT_EQ(result.report["checks"]["compared"], bytes);
            EXPECT_EQ(result.report["checks"]["mismatches"], 0);
            EXPECT_EQ(result.report["cycles"], timing.report["cycles"]);
            EXPECT_EQ(result.report["units"], timing.report["units"]);
            EXPECT_EQ(result.report["traffic"], timing.report["traffic"]);
            EXPECT_EQ(result.report["layers"], timing.report["layers"]);
        }
    }

    void expect_refused(const std::string& arguments, const std::vector<std::string>& texts) const {
        const auto result = run("run " + arguments);
        EXPECT_EQ(result.status, 2) << arguments << "\n" << result.output;
        for (const auto& text : texts)
            EXPECT_NE(result.output.find(text), std::string::npos)
                << "missing \"" << text << "\" in\n"
                << result.output;
    }
};

constexpr int kProducts = 20 * 8 + 5 * 17 + 33 * 70;
/// conv1, in front of the edge, and fc.
constexpr int kChain = 10 * 10 * 12 + 30;
constexpr int kDepthwise = 4 * 4 * 9;
constexpr int kPointwise = 24 * 24 * 16;
constexpr int kPadded = 2 * 13 * 9 * 6 + 3 * 20 * 7 * 7;
constexpr int kRecurrent = 5 * (4 * 24 + 24) + 2 * (17 + 17);
/// Bytes of `mid`, `other[0]`, `other[1]` and the end, three samples.
constexpr int kMixed = 3 * (40 + 33 + 33 + 20);

TEST_F(ListDataTest, Int8ListsOnOneArray) {
    for (const char* chip : {"test_8x8", "test_16x16"}) {
        expect_right("products.csv", chip, kProducts);
        expect_right("chain.csv", chip, kChain);
        expect_right("depthwise.csv", chip, kDepthwise);
        expect_right("padded.csv", chip, kPadded);
        expect_right("recurrent.csv", chip, kRecurrent);
        expect_right("mixed.yaml", chip, kMixed);
    }
}

TEST_F(ListDataTest, Int8ListsOnManyArraysAndCores) {
    for (const char* chip : {"test_16x16 --set mxu.count=3", "test_8x8 --set cores=2",
                             "test_8x8 --set cores=3 --set mxu.count=2"}) {
        expect_right("products.csv", chip, kProducts);
        expect_right("chain.csv", chip, kChain);
        expect_right("depthwise.csv", chip, kDepthwise);
        expect_right("padded.csv", chip, kPadded);
        expect_right("recurrent.csv", chip, kRecurrent);
        expect_right("mixed.yaml", chip, kMixed);
    }
}

TEST_F(ListDataTest, PackedPixels) {
    for (const std::string chip :
         {"test_16x16", "test_16x16 --set mxu.count=3", "test_16x16 --set cores=2"}) {
        const auto plan = run("compile pointwise.csv --explain --chip " + chip);
        EXPECT_NE(plan.output.find("'squeeze': packs 3 pixels into a row"), std::string::npos)
            << plan.output;
        EXPECT_NE(plan.output.find("'expand': packs 2 pixels into a row"), std::string::npos)
            << plan.output;
        EXPECT_EQ(plan.output.find("'wide': packs"), std::string::npos) << plan.output;
        expect_right("pointwise.csv", chip, kPointwise);
    }
}

TEST_F(ListDataTest, Bf16Lists) {
    for (const char* chip :
         {"test_16x16_bf16", "test_16x16_bf16 --set mxu.pipeline=4 --set mxu.sum4=true",
          "test_8x8_bf16 --set mxu.count=3", "test_16x16_bf16 --set cores=2"}) {
        expect_right("products.csv", chip, 2 * kProducts);
        expect_right("chain.csv", chip, 2 * kChain);
        expect_right("padded.csv", chip, 2 * kPadded);
        expect_right("float.yaml", chip, 2 * kMixed);
    }
}

TEST_F(ListDataTest, ListsOnTheTpus) {
    for (const char* list : {"products.csv", "chain.csv", "padded.csv"})
        for (const char* chip : {"tpu_v1", "tpu_v2", "tpu_v3", "tpu_v4i"}) {
            const auto result = with_data(std::string(list) + " --chip " + chip);
            EXPECT_EQ(result.status, 0) << list << " " << chip << "\n" << result.output;
            EXPECT_EQ(result.report["checks"]["mismatches"], 0);
            EXPECT_GT(result.report["checks"]["compared"], 0);
        }
}

TEST_F(ListDataTest, ADumpOfAListIsTheList) {
    ASSERT_EQ(run("compile chain.csv --chip test_8x8 --dump .").status, 0);
    expect_right("graph.tgraph", "test_8x8", kChain);
}

TEST_F(ListDataTest, OtherSeedsAreOtherData) {
    // The same upset at the same place meets other values.
    const std::string upset = "chain.csv --chip test_8x8 --backend tandem --inject seed=1 --seed ";
    const auto one = with_data(upset + "1"), other = with_data(upset + "2");
    ASSERT_EQ(one.status, 1) << one.output;
    ASSERT_EQ(other.status, 1) << other.output;
    EXPECT_EQ(one.report["injected"], other.report["injected"]);
    EXPECT_NE(one.report["first_divergence"]["expected"],
              other.report["first_divergence"]["expected"]);
}

TEST_F(ListDataTest, AnUpsetIsFoundInItsLayer) {
    const auto timing = run_with_report("run mixed.yaml --chip test_8x8");
    ASSERT_EQ(timing.status, 0) << timing.output;
    int found = 0;
    std::set<std::string> names;
    for (int seed = 0; seed < 16; ++seed) {
        const auto result = with_data("mixed.yaml --chip test_8x8 --backend tandem --inject seed=" +
                                      std::to_string(seed));
        ASSERT_TRUE(result.status == 0 || result.status == 1) << seed << "\n" << result.output;
        if (result.status == 0) continue;
        ++found;
        const auto& divergence = result.report["first_divergence"];
        const uint64_t cycle = divergence["cycle_rtl"];
        // Products stand one after the other in the array; each layer ends behind its product.
        std::string name;
        uint64_t end = 0;
        for (const auto& layer : timing.report["layers"]) {
            end += layer["cycles"].get<uint64_t>();
            if (cycle > end || layer["macs"] == 0) continue;
            name = layer["name"];
            break;
        }
        EXPECT_EQ(divergence["node"]["name"], name) << "seed " << seed << ", cycle " << cycle;
        names.insert(name);
    }
    EXPECT_GE(found, 8);
    EXPECT_GE(names.size(), 3u) << "edges stand in front of some of them";
}

TEST_F(ListDataTest, AnUpsetThatTheRtlAloneHasIsFoundByThePlainLoops) {
    int found = 0;
    for (int seed = 0; seed < 8; ++seed) {
        const auto result = with_data("products.csv --chip test_8x8 --backend rtl --inject seed=" +
                                      std::to_string(seed));
        ASSERT_TRUE(result.report.contains("checks")) << result.output;
        const int mismatches = result.report["checks"]["mismatches"];
        EXPECT_EQ(result.status, mismatches != 0 ? 1 : 0) << result.output;
        EXPECT_EQ(result.report["checks"]["compared"], kProducts);
        found += mismatches != 0;
    }
    EXPECT_GT(found, 0);
}

TEST_F(ListDataTest, SixteenBitActivationsAreTimingOnly) {
    write_application("wide.yaml", 16, "");
    EXPECT_EQ(run("run wide.yaml --chip test_8x8").status, 0);
    expect_refused("wide.yaml --chip test_8x8 --mode functional",
                   {"wide.yaml:5", "stem", "INT16", "--mode timing"});
    expect_refused("wide.yaml --chip test_8x8 --backend rtl", {"wide.yaml:5", "stem", "INT16"});
    expect_refused("mixed.yaml --chip test_16x16_bf16 --mode functional",
                   {"mixed.yaml:6", "gate", "BFLOAT16", "--mode timing"});
}

TEST_F(ListDataTest, WhatDoesNotFitDeviceMemory) {
    write_text(folder_ / "big.csv", "Layer, M, N, K\nok, 20, 8, 8\nbig, 4000000, 8, 20\n");
    expect_refused("big.csv --chip test_8x8 --mode functional",
                   {"big.csv:3", "big", "device memory", "67108864", "112000384"});
    // Each layer fits by itself, as timing mode has them; their data do not fit together.
    write_text(folder_ / "sum.csv",
               "Layer, M, N, K\none, 1000000, 8, 20\ntwo, 1000000, 8, 20\nthree, 1000000, 8, 20\n");
    EXPECT_EQ(run("run sum.csv --chip test_8x8").status, 0);
    expect_refused("sum.csv --chip test_8x8 --mode functional",
                   {"sum.csv:4", "three", "device memory", "67108864"});
}

TEST_F(ListDataTest, WhatDoesNotFitThisMachineIsToldBeforehand) {
    // 80 GB in the chip's 95 GB: several times that here.
    write_text(folder_ / "huge.csv", "Layer, M, N, K\nhuge, 8, 200000, 200000\n");
    expect_refused(
        "huge.csv --chip tpu_v5p --mode functional",
        {"huge.csv", "seeded data", "this machine's memory", "400019200000", "--mode timing"});
    // Seconds and gigabytes of what takes long.
    write_text(folder_ / "long.csv", "Layer, M, N, K\nlong, 13000, 1000, 1000\n");
    const auto result = run("run long.csv --chip tpu_v1 --mode functional");
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_NE(result.output.find("plain loops alone take about"), std::string::npos)
        << result.output;
}

// Every row that goes through the array is compared: the table's products say how many.
TEST_F(ListDataTest, EveryAccumulatorRowOfResNet50IsCompared) {
    TANDEM_NEEDS_SHAPES();
    const std::string list = (shapes_folder() / "scalesim_conv_nets_Resnet50.csv").string();
    const auto timing = run_with_report("run " + list + " --chip tpu_v1");
    const auto result = with_data(list + " --chip tpu_v1 --backend tandem");
    ASSERT_EQ(result.status, 0) << result.output;
    EXPECT_EQ(result.report["cycles"], timing.report["cycles"]);
    EXPECT_EQ(result.report["checks"]["mismatches"], 0);
    EXPECT_GT(result.report["checks"]["compared"], 0);
    const auto plan = run_with_report("compile " + list + " --chip tpu_v1");
    std::map<uint64_t, uint64_t> pixels_per_row;
    for (const auto& kernel : plan.report["kernels"])
        pixels_per_row[kernel["index"]] = kernel["pixels_per_row"];
    constexpr uint64_t kSide = 256;
    uint64_t streamed = 0;
    for (const auto& layer : result.report["layers"]) {
        const uint64_t pixels = pixels_per_row.at(layer["index"]);
        const auto tiles = [&](const char* key) {
            return (layer[key].get<uint64_t>() * pixels + kSide - 1) / kSide;
        };
        streamed += layer["m"].get<uint64_t>() / pixels * tiles("k") * tiles("n") *
                    layer["groups"].get<uint64_t>() * layer["repeat"].get<uint64_t>();
    }
    EXPECT_GT(streamed, 100000u);
    EXPECT_EQ(result.report["checks"]["rows_compared"], streamed);
}

TEST_F(ListDataTest, OptionsThatDoNotGoTogether) {
    expect_refused("products.csv --chip test_8x8 --backend rtl --mode timing", {"--mode timing"});
    expect_refused("products.csv --chip test_8x8 --mode functional --inject seed=1",
                   {"--inject", "--backend"});
    expect_refused("products.csv --chip test_8x8 --mode functional --input x.bin",
                   {"products.csv", "--input"});
    expect_refused("products.csv --chip test_8x8 --mode functional --rounding gemmlowp",
                   {"products.csv", "--rounding", "single", "gemmlowp"});
}

}  // namespace
}  // namespace tandem::testbench
