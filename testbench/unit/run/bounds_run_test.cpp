// SPDX-License-Identifier: Apache-2.0
// That bounds are bounds: nothing that is simulated goes below them.
#include <gtest/gtest.h>

#include "run/graph_run.h"
#include "testbench/support/seeded.h"
#include "testbench/support/source_tree.h"

namespace tandem::run {
namespace {

using testbench::Seeded;

/// Small ones and large ones alike.
uint64_t size(Seeded& random) {
    const uint64_t low = uint64_t{1} << random.below(11);
    return low + random.below(low);
}

tables::Workload random_product(Seeded& random) {
    tables::Layer layer;
    layer.m = size(random);
    layer.k = size(random);
    layer.n = size(random);
    layer.name =
        std::to_string(layer.m) + "x" + std::to_string(layer.k) + "x" + std::to_string(layer.n);
    layer.where = "products.csv:2";
    layer.repeat = random.chance(20) ? 2 : 1;
    layer.input_elements = layer.m * layer.k;
    layer.output_elements = layer.m * layer.n;
    tables::Workload list;
    list.name = list.file = "products.csv";
    list.layers = {layer};
    return list;
}

void expect_above_bounds(const arch::ChipConfig& chip) {
    Seeded random(1);
    for (int i = 0; i < 12; ++i) {
        const auto list = random_product(random);
        const auto plan = i % 2 == 0 ? compiler::PlanMode::kSearch : compiler::PlanMode::kRules;
        const RunResult result = time_list_apart(list, chip, plan);
        const LayerResult& layer = result.layers.at(0);
        SCOPED_TRACE(layer.name);
        ASSERT_TRUE(layer.bounds);
        EXPECT_GE(static_cast<double>(result.cycles) * (1 + 1e-6) + 1, layer.bounds->cycles());
        EXPECT_GE(layer.moved_bytes, layer.bounds->least());
        EXPECT_GE(layer.bounds->least(), layer.bounds->compulsory);
        // All traffic is that of the layer, and the fetches of instructions.
        const uint64_t traffic = result.traffic.memory_read + result.traffic.memory_write;
        EXPECT_GE(traffic, layer.moved_bytes);
        EXPECT_LE(traffic, layer.moved_bytes + result.instructions * 32 + 2048 * result.cores);
    }
}

TEST(BoundsOfChips, NoProductGoesBelow) {
    const auto folder = testbench::source_dir() / "arch/chips";
    for (const std::string& name : arch::shipped_chips(folder)) {
        SCOPED_TRACE(name);
        expect_above_bounds(arch::find_chip(name, folder));
    }
}

}  // namespace
}  // namespace tandem::run
