// SPDX-License-Identifier: Apache-2.0
// Lower bounds of kernels against what a hand works out.
#include "compiler/plan/bounds.h"

#include <gtest/gtest.h>

#include "compiler/explain.h"
#include "compiler/import/tables/layers.h"
#include "compiler/plan/least_bytes.h"
#include "testbench/compiler/test_chips.h"

namespace tandem::testbench {
namespace {

using compiler::Bounds;
using compiler::least_bytes;
using compiler::LeastBytesRequest;

/// 16x16 int8, 500 MHz, 8 lanes; memory and bus of 8 bytes per cycle.
arch::ChipConfig chip_16x16() {
    auto chip = test_chip(16, 16);
    chip.memory.efficiency_percent = 100;
    return chip;
}

tables::Layer product(uint64_t m, uint64_t k, uint64_t n, uint64_t repeat = 1) {
    tables::Layer layer;
    layer.name = "product";
    layer.where = "list.csv:2";
    layer.m = m;
    layer.k = k;
    layer.n = n;
    layer.repeat = repeat;
    layer.input_elements = m * k;
    layer.output_elements = m * n;
    return layer;
}

compiler::Planned planned(const arch::ChipConfig& chip, std::vector<tables::Layer> layers,
                          bool chained = false) {
    tables::Workload list;
    list.name = list.file = "list.csv";
    list.layers = std::move(layers);
    list.chained = chained;
    return compiler::plan_graph(tables::graph_of(list), chip, {});
}

std::vector<Bounds> bounds_of(const arch::ChipConfig& chip, std::vector<tables::Layer> layers,
                              bool chained = false) {
    const auto p = planned(chip, std::move(layers), chained);
    return compiler::lower_bounds(p.kernels, p.plan, p.chip);
}

// ---- least bytes

LeastBytesRequest one_array() {
    LeastBytesRequest r;
    r.tiles = 32;  // 4 K tiles, 8 columns of tiles
    r.sums = 24;
    r.rows = 64;
    r.tile_bytes = 256;
    r.accumulator_rows = 64;
    r.buffer_bytes = 8192;
    r.input_bytes = 4096;
    r.row_bytes = 64;
    r.k_tiles = 4;
    return r;
}

TEST(LeastBytes, AreTheCompulsoryOnesWhereAllFits) {
    const auto least = least_bytes(one_array());
    EXPECT_EQ(least.fetches, 32);
    EXPECT_EQ(least.loads, 32);
    EXPECT_EQ(least.input, 4096);
}

// 1 + 64 rows x 24 sums / 8: each pass of 8 rows over the 4 tiles of a column may begin with the
// tile that the pass before ended with.
TEST(LeastBytes, FetchWeightsAgainForRowsThatHaveNoAccumulators) {
    auto r = one_array();
    r.accumulator_rows = 8;
    EXPECT_EQ(least_bytes(r).loads, 193);
    EXPECT_EQ(least_bytes(r).fetches, 193);
    r.sums = 0;  // single K tiles stay for all rows
    r.tiles = r.k_tiles = 1;
    EXPECT_EQ(least_bytes(r).loads, 1);
}

// A buffer of 4 rows, windows of 2 passes: 36 rows' work for a fetch (4 whole rows, and 64 x 4 live
// sums' work in 8 fetches), 1/8 for a byte; 64 x 32 - 36 x 32 - 4096 / 8 = 384 are missing, 10.7
// fetches of 256 bytes or 3072 bytes of input.
TEST(LeastBytes, TradeFetchesForInputWhereTheBufferIsSmall) {
    auto r = one_array();
    r.buffer_bytes = 256;
    const auto least = least_bytes(r);
    EXPECT_NEAR(least.fetches, 32 + 384.0 / 36, 1e-9);
    EXPECT_EQ(least.input, 4096);
    EXPECT_EQ(least.loads, 32);
    r.tile_bytes = 4096;  // now the input is cheaper
    EXPECT_EQ(least_bytes(r).fetches, 32);
    EXPECT_NEAR(least_bytes(r).input, 4096 + (2048 - 32 * (4 + 64 / 2.0) - 512) * 8, 1e-9);
    r.row_bytes = 0;  // rows that overlap: no trade
    EXPECT_EQ(least_bytes(r).input, 4096);
}

TEST(LeastBytes, OfRepetitionsKeepATileInEachArrayAndWhatTheBufferHolds) {
    auto r = one_array();
    r.repeat = 3;
    r.arrays = r.cores = 2;
    r.rows = 1;
    r.buffer_bytes = 1000;
    const auto least = least_bytes(r);
    EXPECT_EQ(least.fetches, 32 + 2 * 30);
    EXPECT_EQ(least.input, 4096 + 2 * (4096 - 2000));
}

// ---- kernels

TEST(Bounds, OfAProductFromMemory) {
    const auto b = bounds_of(chip_16x16(), {product(100, 32, 24)}).at(0);
    EXPECT_EQ(b.compute(), 4 * 100);
    EXPECT_EQ(b.weights, 4 * 256 / 8);
    EXPECT_EQ(b.activations, (3200 + 2400) / 8);
    EXPECT_EQ(b.drain, 100 * (2 + 1));  // 16 and 8 columns through 8 lanes
    EXPECT_EQ(b.host(), 0);
    EXPECT_EQ(b.synchronisation, 0);
    EXPECT_EQ(b.cycles(), 128 + 700);
    EXPECT_EQ(b.name(), "activations");
    EXPECT_EQ(b.compulsory, 1024u + 5600u);
    EXPECT_EQ(b.least(), b.compulsory);
}

TEST(Bounds, OfFewRowsAreTheWayOfTilesIntoTheArray) {
    const auto b = bounds_of(chip_16x16(), {product(4, 32, 24)}).at(0);
    EXPECT_EQ(b.compute(), 4 * 17);
    EXPECT_EQ(b.name(), "weights");
}

TEST(Bounds, OfAllCoresAndArraysTogether) {
    auto chip = chip_16x16();
    chip.cores = 2;
    chip.mxu.count = 3;
    chip.vector.lanes = 40;  // two drains of 16 columns at a time
    const auto b = bounds_of(chip, {product(600, 32, 24)}).at(0);
    EXPECT_EQ(b.compute(), 4 * 600 / 6);
    EXPECT_EQ(b.drain, 600 * 2 / 4);
}

TEST(Bounds, OfANarrowPort) {
    auto chip = chip_16x16();
    chip.buffer_ports = {.read_bytes_per_cycle = 6, .write_bytes_per_cycle = 4};
    const auto b = bounds_of(chip, {product(100, 32, 24)}).at(0);
    EXPECT_EQ(b.compute(), 4 * 100 * 3);
    EXPECT_EQ(b.drain, 100 * (4 + 2));
}

TEST(Bounds, CountPixelsThatAreRead) {
    tables::Layer layer = product(16, 4, 8);
    layer.kind = tables::LayerKind::kConvolution;
    tables::Convolution image{.images = 1, .height = 8, .width = 8, .channels = 4, .window = {}};
    image.window.stride_h = image.window.stride_w = 2;
    image.window.kernel_h = image.window.kernel_w = 1;
    layer.input_elements = 256;
    layer.convolution = image;
    const auto b = bounds_of(chip_16x16(), {layer}).at(0);
    EXPECT_EQ(b.activations, (16 * 4 + 16 * 8) / 8);
}

TEST(Bounds, OfRepetitions) {
    const auto one = bounds_of(chip_16x16(), {product(4, 16, 16, 3)}).at(0);
    EXPECT_EQ(one.compute(), 17 + 2 * 4);
    EXPECT_EQ(one.weights, 256 / 8);
    EXPECT_EQ(one.activations, (64 + 3 * 64) / 8);
    const auto two = bounds_of(chip_16x16(), {product(4, 16, 32, 3)}).at(0);
    EXPECT_EQ(two.compute(), 2 * 17 + 2 * (17 + 4));
    EXPECT_EQ(two.weights, (2 + 1 + 1) * 256 / 8);
}

TEST(Bounds, OfWhatStaysAreNone) {
    const auto b = bounds_of(chip_16x16(), {product(100, 32, 24), product(100, 24, 16)}, true);
    EXPECT_EQ(b[0].activations, 0);
    EXPECT_EQ(b[0].host_in, 3200 / 8);
    EXPECT_EQ(b[0].host_out, 0);
    EXPECT_EQ(b[1].activations, 0);
    EXPECT_EQ(b[1].host_in, 0);
    EXPECT_EQ(b[1].host_out, 1600 / 8);
    EXPECT_EQ(b[1].compulsory, 2u * 256 + 1600);
    EXPECT_EQ(b[1].least_host_out, 1600u);
}

TEST(Bounds, OfWeightsInCmem) {
    auto chip = chip_16x16();
    chip.cmem = {1 << 20, 8'000'000'000, 50'000};
    const auto b = bounds_of(chip, {product(4, 160, 24), product(4, 24, 16)}, true);
    EXPECT_EQ(b[0].weights, 20 * 256 / 16);
    EXPECT_EQ(b[0].cmem, b[0].weights);
    EXPECT_EQ(b[0].device_memory, 0);
}

TEST(Bounds, OfAVectorLayer) {
    tables::Layer layer;
    layer.name = "vector";
    layer.where = "list.csv:2";
    layer.kind = tables::LayerKind::kVector;
    layer.elements = layer.input_elements = layer.output_elements = 800;
    const auto b = bounds_of(chip_16x16(), {layer}).at(0);
    EXPECT_EQ(b.compute(), 100);
    EXPECT_EQ(b.activations, 2 * 800 / 8);
    EXPECT_EQ(b.drain, 0);
}

TEST(Bounds, AddUp) {
    const auto all = bounds_of(chip_16x16(), {product(100, 32, 24), product(4, 16, 16, 3)});
    Bounds sum = all[0];
    sum += all[1];
    EXPECT_EQ(sum.compute(), 400 + 25);
    EXPECT_EQ(sum.compulsory, all[0].compulsory + all[1].compulsory);
    EXPECT_EQ(sum.busiest(), sum.device_memory);
    sum *= 3;
    EXPECT_EQ(sum.compute(), 3 * 425);
    EXPECT_EQ(sum.least(), 3 * (all[0].least() + all[1].least()));
}

// ---- the text

TEST(Explain, SaysWhatEachKernelIsAndIsHeldAgainst) {
    const auto kernels = compiler::explain(planned(chip_16x16(), {product(100, 32, 24)}));
    ASSERT_EQ(kernels.size(), 1u);
    EXPECT_EQ(kernels[0].cores, 1u);
    EXPECT_EQ(kernels[0].arrays, 1u);
    EXPECT_EQ(kernels[0].bounds.cycles(), 828);
    const std::string text = compiler::explanation_text(kernels);
    EXPECT_NE(text.find("'product': 1 core with 1 array"), std::string::npos) << text;
    EXPECT_NE(text.find("at least 828 for activations\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace tandem::testbench
