// SPDX-License-Identifier: Apache-2.0
// Places in the unified buffer: nothing lies on what is still needed.
#include "compiler/plan/plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/graph/text.h"
#include "compiler/plan/buffer.h"
#include "compiler/plan/pieces.h"
#include "testbench/compiler/random_chip.h"
#include "testbench/compiler/random_graph.h"
#include "testbench/compiler/random_list.h"

namespace tandem::testing {
namespace {

using compiler::BufferItem;
using compiler::Planned;

arch::ChipConfig chip_with(uint64_t unified_buffer_bytes) {
    auto chip = test_chip(8, 8);
    chip.unified_buffer_bytes = unified_buffer_bytes;
    return chip;
}

/// A chain of `nodes` operators over 1024 bytes each: MAX_POOL_2D has no parameters, SOFTMAX a
/// table of 1024 bytes and scratch memory of 16 + 1024 + 4096 + 16.
constexpr uint64_t kScratch = 5152;
compiler::Graph chain(int nodes, const std::string& op) {
    std::string text = "tgraph 1\n";
    for (int i = 0; i <= nodes; ++i)
        text += "tensor %" + std::to_string(i) + " \"t" + std::to_string(i) +
                "\" INT8 1x1x1x1024 layout=NHWC scales=0.00390625 zero_points=-128\n";
    for (int i = 0; i < nodes; ++i)
        text += "node " + std::to_string(i) + " " + op + " \"n" + std::to_string(i) +
                "\" inputs=%" + std::to_string(i) + " outputs=%" + std::to_string(i + 1) +
                (op == "SOFTMAX" ? " beta=1\n" : " filter=1,1 stride=1,1 padding=0,0,0,0\n");
    text += "inputs %0\noutputs %" + std::to_string(nodes) + "\n";
    return compiler::parse_graph(text, "chain");
}

struct Region {
    std::string name;
    uint64_t begin, end;
    size_t first, last;  ///< kernels
};

/// Of one core. A value that is under another name in an edge's output is not another region.
std::vector<Region> regions(const Planned& p, uint32_t core) {
    const auto& kernels = p.kernels.kernels;
    std::vector<Region> all;
    for (uint32_t v = 0; v < p.kernels.values.size(); ++v) {
        const auto& plan = p.plan.values[v];
        if (!plan.resident) continue;
        Region r{p.kernels.values[v].name, plan.address, plan.address + plan.parts[core].size(),
                 SIZE_MAX, 0};
        for (size_t k = 0; k < kernels.size(); ++k) {
            const bool made = kernels[k].output == v && !kernels[k].is_alias();
            const bool read = std::ranges::find(kernels[k].inputs, v) != kernels[k].inputs.end();
            if (!made && !read) continue;
            // An edge's output takes over where its input ends.
            r.first = std::min(r.first, made && kernels[k].is_edge() ? k + 1 : k);
            r.last = std::max(r.last, k);
        }
        const auto& value = p.kernels.values[v];
        if (value.is_input && value.home == compiler::Memory::kHost) r.first = 0;
        all.push_back(r);
    }
    for (size_t k = 0; k < kernels.size(); ++k) {
        const auto& plan = p.plan.kernels[k];
        const std::string name = "kernel " + std::to_string(k);
        const size_t ahead = std::min<size_t>(k, p.plan.prefetch_kernels);
        all.push_back({name + " parameters", plan.params_address,
                       plan.params_address + kernels[k].params_bytes,
                       p.plan.params_stay ? 0 : k - ahead,
                       p.plan.params_stay ? kernels.size() : k});
        const auto& share = plan.cores[core];
        if (share.chunks.empty()) continue;
        all.push_back(
            {name + " in", share.in_area, share.in_area + compiler::in_area_bytes(share), k, k});
        all.push_back({name + " out", share.out_area,
                       share.out_area + compiler::out_area_bytes(share), k, k});
        all.push_back({name + " scratch", share.scratch_area,
                       share.scratch_area + share.scratch_bytes, k, k});
    }
    return all;
}

TEST(Plan, NeverPlacesTwoLiveRegionsOnTheSameBytes) {
    for (uint32_t seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        const auto graph = seed % 2 == 0 ? random_graph(random)
                                         : random_list(random, compiler::ElementType::kInt8);
        auto chip = random_chip(random);
        compiler::CompileOptions options;
        if (seed % 2 == 0) options.batch = 1 + seed % 3;
        if (seed % 4 < 2) chip.unified_buffer_bytes = smallest_buffer(graph, chip, options);
        const auto planned = compiler::plan_graph(graph, chip, options);
        for (uint32_t core = 0; core < chip.cores; ++core) {
            const auto all = regions(planned, core);
            for (size_t i = 0; i < all.size(); ++i) {
                EXPECT_LE(all[i].end, chip.unified_buffer_bytes);
                for (size_t j = 0; j < i; ++j) {
                    const bool live = all[i].first <= all[j].last && all[j].first <= all[i].last;
                    const bool overlap = all[i].begin < all[j].end && all[j].begin < all[i].end;
                    ASSERT_FALSE(live && overlap) << "seed " << seed << ", core " << core << ": "
                                                  << all[i].name << " and " << all[j].name;
                }
            }
        }
    }
}

bool all_stay(const Planned& planned) {
    return std::ranges::all_of(planned.plan.values, &compiler::ValuePlan::resident);
}

TEST(Plan, UsesTwoPlacesForALongChain) {
    const auto graph = chain(50, "MAX_POOL_2D");
    const auto enough = compiler::plan_graph(graph, chip_with(2048), {});
    EXPECT_TRUE(all_stay(enough));
    EXPECT_EQ(enough.plan.peak_buffer_bytes, 2048u);
    EXPECT_THROW(compiler::plan_graph(graph, chip_with(2047), {}), UserError);
}

TEST(Plan, LoadsParametersLaterWhereTheBufferIsSmall) {
    const auto graph = chain(10, "SOFTMAX");
    const auto prefetched = [&](uint64_t bytes) {
        const auto planned = compiler::plan_graph(graph, chip_with(bytes), {});
        EXPECT_TRUE(all_stay(planned)) << bytes;
        return planned.plan.prefetch_kernels;
    };
    EXPECT_EQ(prefetched(64 * 1024), 2u);
    EXPECT_EQ(prefetched(4 * 1024 + kScratch), 1u);
    EXPECT_EQ(prefetched(3 * 1024 + kScratch), 0u);
    EXPECT_THROW(compiler::plan_graph(graph, chip_with(3 * 1024 + kScratch - 1), {}), UserError);
}

TEST(Plan, KeepsParametersThatAreSmallBesideAWeightTile) {
    auto chip = chip_with(64 * 1024);
    chip.mxu.rows = chip.mxu.cols = 128;
    const auto graph = chain(10, "SOFTMAX");
    const auto planned = compiler::plan_graph(graph, chip, {});
    EXPECT_TRUE(planned.plan.params_stay);
    EXPECT_EQ(planned.plan.kernels[3].params_address, planned.plan.params_base + 3 * 1024);
    chip.unified_buffer_bytes = 4096 + kScratch;
    EXPECT_FALSE(compiler::plan_graph(graph, chip, {}).plan.params_stay);
}

TEST(Plan, NamesTheNodeThatNeedsMost) {
    try {
        compiler::plan_graph(chain(3, "SOFTMAX"), chip_with(1024), {});
        FAIL() << "accepted";
    } catch (const UserError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("chain: node "), std::string::npos) << text;
        EXPECT_NE(text.find("fit into the unified buffer of 1024 bytes (test)"), std::string::npos)
            << text;
        EXPECT_NE(text.find(" bytes needed; tensors '"), std::string::npos) << text;
        EXPECT_NE(text.find("' (1024 bytes), '"), std::string::npos) << text;
        EXPECT_NE(text.find("parameters (1024 bytes)"), std::string::npos) << text;
    }
}

TEST(Plan, NamesTheTensorsThatHaveNoDeviceMemory) {
    auto chip = chip_with(8192);
    chip.memory.bytes = 16384;
    const auto text_of = [&](const compiler::CompileOptions& options) -> std::string {
        try {
            compiler::plan_graph(chain(3, "MAX_POOL_2D"), chip, options);
        } catch (const UserError& error) {
            return error.what();
        }
        return "accepted";
    };
    EXPECT_EQ(text_of({}), "accepted");
    compiler::CompileOptions batch;
    batch.batch = 64;
    const std::string text = text_of(batch);
    EXPECT_NE(text.find("16384 bytes of device memory of test"), std::string::npos) << text;
    EXPECT_NE(text.find(" bytes needed; tensors '"), std::string::npos) << text;
    EXPECT_NE(text.find("' (65536 bytes)"), std::string::npos) << text;
}

TEST(BufferPlaces, AreFirstFitByLifetimes) {
    std::vector<BufferItem> items = {{100, 0, 1, 0}, {50, 1, 2, 0}, {100, 2, 3, 0}, {0, 0, 9, 0}};
    ASSERT_TRUE(compiler::place(items, 162));
    EXPECT_EQ(items[0].address, 0u);
    EXPECT_EQ(items[1].address, 112u) << "behind the one it meets, aligned to 16";
    EXPECT_EQ(items[2].address, 0u) << "where nobody lives any more";
    EXPECT_FALSE(compiler::place(items, 161));
    const auto peak = compiler::peak_of(items, 4);
    EXPECT_EQ(peak.bytes, 150u);
}

}  // namespace
}  // namespace tandem::testing
