// SPDX-License-Identifier: Apache-2.0
// What the studies under benchmarks/ compute by themselves: scaled chips, means, bounds, and the
// ResNet-50 that they bring along. Oracles are worked out by hand or published.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "benchmarks/chip_sources.h"
#include "benchmarks/efficiency.h"
#include "benchmarks/gddr5.h"
#include "benchmarks/generations/chips.h"
#include "benchmarks/generations/claims.h"
#include "benchmarks/list_baselines.h"
#include "benchmarks/resnet50.h"
#include "benchmarks/scaled_chip.h"
#include "benchmarks/study.h"
#include "run/graph_run.h"
#include "testbench/support/source_tree.h"

namespace tandem::benchmarks {
namespace {

arch::ChipConfig shipped(const std::string& name) {
    return arch::find_chip(name, testbench::source_dir() / "arch/chips");
}

TEST(ScaledChip, ScaleOneIsTheChip) {
    const arch::ChipConfig chip = shipped("tpu_v1");
    for (const KnobText& knob : kKnobs)
        EXPECT_EQ(scaled(chip, knob.knob, 1).hash(), chip.hash()) << knob.name;
}

TEST(ScaledChip, EachKnobTurnsWhatItSays) {
    const arch::ChipConfig chip = shipped("tpu_v1");
    EXPECT_EQ(scaled(chip, Knob::kMemory, 4).memory.bytes_per_second, 136000000000u);
    EXPECT_EQ(scaled(chip, Knob::kClock, 0.25).clock_hz, 175000000u);
    EXPECT_EQ(scaled(chip, Knob::kClock, 4).mxu.accumulator_rows, 4096u);
    EXPECT_EQ(scaled(chip, Knob::kClockPlus, 4).clock_hz, 2800000000u);
    EXPECT_EQ(scaled(chip, Knob::kClockPlus, 4).mxu.accumulator_rows, 16384u);
    const arch::ChipConfig large = scaled(chip, Knob::kMatrixPlus, 4);
    EXPECT_EQ(large.mxu.rows, 1024u);
    EXPECT_EQ(large.mxu.cols, 1024u);
    EXPECT_EQ(large.mxu.accumulator_rows, 65536u);
    EXPECT_EQ(large.buffer_ports.read_bytes_per_cycle, 1024u);
    EXPECT_EQ(large.buffer_ports.write_bytes_per_cycle, 1024u);
    EXPECT_EQ(large.vector.lanes, 1024u);
    EXPECT_EQ(large.memory.bytes_per_second, chip.memory.bytes_per_second);
    EXPECT_EQ(large.mxu.weight_fifo_tiles, 4u);
    EXPECT_EQ(scaled(chip, Knob::kMatrix, 4).mxu.accumulator_rows, 4096u);
}

TEST(ScaledChip, AFigureThatIsNotWholeIsRefused) {
    EXPECT_THROW(scaled(shipped("tpu_v1"), Knob::kMatrix, 1.0 / 3), std::invalid_argument);
    EXPECT_THROW(scaled(shipped("tpu_v1"), Knob::kMatrix, 1.0 / 512), std::invalid_argument);
}

/// The largest chips of the study run at all: 1024x1024, 65536 accumulator rows.
TEST(ScaledChip, TheLargestArrayRuns) {
    const arch::ChipConfig chip = scaled(shipped("tpu_v1"), Knob::kMatrixPlus, 4);
    const auto result = run::time_list_apart(gemm(40000, 2048, 1024), chip);
    EXPECT_EQ(result.macs, uint64_t{40000} * 2048 * 1024);
    EXPECT_EQ(result.peak_macs_per_cycle, 1024.0 * 1024);
}

TEST(Means, WeighByDeployment) {
    const std::map<std::string, double> figures = {{"MLP0", 1},  {"MLP1", 2}, {"LSTM0", 4},
                                                   {"LSTM1", 4}, {"CNN0", 8}, {"CNN1", 1}};
    // (30.5 * 1 + 30.5 * 2 + 14.5 * 8 + 2.5 * 9) / 95; sixth root of 256.
    EXPECT_NEAR(weighted_mean(figures), 230.0 / 95, 1e-12);
    EXPECT_NEAR(geometric_mean(figures), 2.519842099789746, 1e-12);
    EXPECT_THROW(deployment_share("BERT0"), std::invalid_argument);
}

TEST(Roofline, IsTheLongerOfComputingAndMoving) {
    const arch::ChipConfig chip = shipped("tpu_v1");
    // 4096^3 MACs at 65536 x 700 MHz; 4096 x (4096 + 2) bytes at 34 GB/s.
    EXPECT_NEAR(roofline_seconds(gemm(4096, 4096, 4096), chip), 68719476736.0 / 45875.2e9, 1e-9);
    EXPECT_NEAR(roofline_seconds(gemm(1, 4096, 4096), chip), 16785408.0 / 34e9, 1e-9);
    EXPECT_EQ(compulsory_bytes(gemm(3, 5, 7), shipped("tpu_v2")), 2u * (15 + 35 + 21));
}

TEST(Roofline, SingleProductsDoNotUseTheSecondMemory) {
    const arch::ChipConfig chip = shipped("tpu_v4i");
    EXPECT_NEAR(roofline_seconds(gemm(1, 4096, 4096), chip),
                2.0 * (4096 + 4096 * 4096.0 + 4096) / 614e9, 1e-9);
}

TEST(Roofline, NoRunIsFaster) {
    for (const char* name : {"tpu_v1", "tpu_v4i", "edge_tpu"}) {
        const arch::ChipConfig chip = shipped(name);
        for (const auto& kernel :
             {gemm(1, 512, 512), gemm(512, 512, 512), convolution(2, 14, 14, 64)})
            EXPECT_GE(run::time_list_apart(kernel, chip).seconds(), roofline_seconds(kernel, chip))
                << name << ", " << kernel.name;
    }
}

/// Figures that torchvision publishes: 4.089 G multiply-accumulates; 25557032 parameters, of which
/// 53120 belong to the normalisation and 1000 are the last layer's bias.
TEST(Resnet50, HasThePublishedSize) {
    const tables::Workload net = resnet50();
    EXPECT_EQ(net.layers.size(), 54u);
    uint64_t macs = 0, weights = 0;
    for (const tables::Layer& layer : net.layers) {
        macs += layer.macs();
        weights += layer.weights();
    }
    EXPECT_NEAR(static_cast<double>(macs) / 1e9, 4.089, 0.0005);
    EXPECT_EQ(weights, 25557032u - 53120 - 1000);
}

TEST(StudyTable, IsAlignedMarkdown) {
    EXPECT_EQ(table({"a", "long heading"}, {{"1000", "2"}, {"3"}}),
              "| a    | long heading |\n"
              "|------|--------------|\n"
              "| 1000 | 2            |\n"
              "| 3    |              |\n\n");
}

// A chained list of two products on TPU v4i: weights alone move, with the first input and the last
// result, and lie in CMEM.
tables::Workload two_products() {
    tables::Workload list = gemm(64, 128, 256);
    list.layers.push_back(gemm(64, 256, 384).layers.front());
    list.chained = true;
    return list;
}

TEST(ListBaselines, ChainedListsMoveTheirWeights) {
    const uint64_t elements = 64 * 128 + 128 * 256 + 256 * 384 + 64 * 384;
    EXPECT_EQ(compulsory_bytes(two_products(), shipped("tpu_v4i")), 2 * elements);
    tables::Workload kernels = two_products();
    kernels.chained = false;
    EXPECT_EQ(compulsory_bytes(kernels, shipped("tpu_v4i")), 2 * (elements + 64 * 256 + 64 * 256));
}

TEST(ListBaselines, WeightsComeFromCmemAsFarAsTheyFit) {
    arch::ChipConfig chip = shipped("tpu_v4i");
    chip.memory.bytes_per_second = 1'000'000'000;
    chip.cmem.bytes_per_second = 4'000'000'000;
    const double first = 2 * (64 * 128 + 128 * 256), second = 2 * (256 * 384 + 64 * 384);
    EXPECT_NEAR(roofline_seconds(two_products(), chip), (first + second) / 4e9, 1e-12);
    chip.cmem.bytes = 131072;  // half of the weights' 2 x 131072 bytes
    EXPECT_NEAR(roofline_seconds(two_products(), chip), (first + second) / 2 / 1e9, 1e-12);
    EXPECT_NEAR(roofline_seconds(two_products(), generations::with_cmem(chip, 0)),
                (first + second) / 1e9, 1e-12);
}

// 300 x 130 on arrays of 128 x 128 are 3 x 2 tiles; 5 rows take the 128 cycles of a tile.
TEST(ListBaselines, NapkinCountsWholeTiles) {
    arch::ChipConfig chip = shipped("tpu_v2");
    const double multiplying = 6.0 * 128 / 2 / 700e6;
    const double moving = 2 * (5 * 300 + 300 * 130 + 5 * 130) / 700e9;
    EXPECT_NEAR(napkin_seconds(gemm(5, 300, 130), chip), 1e-6 + multiplying + moving, 1e-13);
}

TEST(Generations, ArraysOfEqualPeakKeepTheBytesOfTheirSums) {
    const arch::ChipConfig chip = shipped("tpu_v2");
    const arch::ChipConfig four = generations::with_arrays(chip, 4, 128);
    const arch::ChipConfig sixteen = generations::with_arrays(chip, 16, 64);
    EXPECT_EQ(four.peak_ops_per_second(), sixteen.peak_ops_per_second());
    EXPECT_EQ(four.mxu.accumulator_rows, 2048u);
    EXPECT_EQ(sixteen.mxu.accumulator_rows, 1024u);
    EXPECT_EQ(generations::with_arrays(chip, 1, 128).hash(), chip.hash());
}

TEST(Generations, ClaimsTellWhoIsNearest) {
    using generations::Claim;
    const Claim good{"one", "2", 2, {2.2, 1.0, 4.0}, 10.1};
    const Claim missed{"two", "1", 1, {1.5, 1.1, 1.2}, 20};
    EXPECT_NEAR(good.error_percent(generations::kModel), 10, 1e-9);
    EXPECT_NEAR(good.error_percent(generations::kNapkin), -50, 1e-9);
    EXPECT_TRUE(generations::all_met({good}));
    EXPECT_FALSE(generations::all_met({good, missed}));
    const std::string both = generations::verdict({good, missed});
    EXPECT_NE(both.find("no better than the napkin (30 % against 30 %)"), std::string::npos)
        << both;
    EXPECT_NE(both.find("nearer on average than the roofline (30 % against 60 %)"),
              std::string::npos)
        << both;
}

// Table 5 of isca17: 21 % for MLP0, 51 % for CNN0.
TEST(Gddr5, HostTimeIsAddedToBothChips) {
    std::map<std::string, tables::Workload> two;
    for (const char* name : {"MLP0", "CNN0"}) two[name] = {};
    const auto memory_bound = [](const tables::Workload&, const arch::ChipConfig& chip) {
        return 1.0 / static_cast<double>(chip.memory.bytes_per_second);
    };
    const Gddr5Gain gain = gddr5_gain(two, shipped("tpu_v1"), memory_bound);
    const double faster = 180.0 / 34;
    EXPECT_NEAR(gain.gains.at("MLP0"), faster, 1e-9);
    EXPECT_NEAR(gain.with_host.at("MLP0"), 1.21 / (1 / faster + 0.21), 1e-9);
    EXPECT_NEAR(gain.with_host.at("CNN0"), 1.51 / (1 / faster + 0.51), 1e-9);
}

TEST(ChipSources, EveryFigureHasItsSource) {
    const auto file = testbench::source_dir() / "arch/chips/tpu_v1.yaml";
    const ChipSources sources = sources_of(file);
    EXPECT_EQ(sources.calibrated, std::vector<std::string>{"sequencer.sync_latency"});
    EXPECT_EQ(std::ranges::count(sources.published, "mxu.rows"), 1);
    EXPECT_EQ(std::ranges::count(sources.assumed, "memory.latency"), 1);
    // Without a CMEM its figures are no freedom.
    EXPECT_EQ(std::ranges::count(sources.defaulted, "cmem.size"), 0);
}

}  // namespace
}  // namespace tandem::benchmarks
