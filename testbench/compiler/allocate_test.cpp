// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/allocate.h"

#include <gtest/gtest.h>

#include "arch/error.h"
#include "compiler/passes/legalize.h"
#include "testbench/compiler/random_graph.h"
#include "testbench/compiler/test_chips.h"

namespace tandem::testing {
namespace {

using compiler::LegalGraph;
using compiler::LegalNode;
using compiler::Placement;

/// in -> a -> b -> ... of `bytes` each, every node with `params` bytes of parameters.
LegalGraph chain(size_t nodes, uint64_t bytes, size_t params) {
    LegalGraph graph;
    graph.file = "chain";
    graph.buffers.push_back({"in", bytes});
    graph.inputs = {0};
    for (uint32_t n = 0; n < nodes; ++n) {
        graph.buffers.push_back({"t" + std::to_string(n), bytes});
        LegalNode node;
        node.text = "node " + std::to_string(n);
        node.inputs = {n};
        node.output = n + 1;
        node.params.resize(params);
        graph.nodes.push_back(node);
    }
    graph.outputs = {static_cast<uint32_t>(nodes)};
    return graph;
}

arch::ChipConfig chip_with(uint64_t unified_buffer_bytes) {
    auto chip = test_chip(8, 8);
    chip.unified_buffer_bytes = unified_buffer_bytes;
    return chip;
}

struct Region {
    uint64_t begin, end;
    size_t first, last;  ///< nodes
};

std::vector<Region> regions(const LegalGraph& graph, const Placement& placement) {
    std::vector<Region> result;
    for (uint32_t b = 0; b < graph.buffers.size(); ++b) {
        Region region{placement.buffers[b], placement.buffers[b] + graph.buffers[b].bytes, SIZE_MAX,
                      0};
        const auto touch = [&](size_t n) {
            region.first = std::min(region.first, n);
            region.last = std::max(region.last, n);
        };
        for (const auto id : graph.inputs)
            if (id == b) touch(0);
        for (size_t n = 0; n < graph.nodes.size(); ++n) {
            if (graph.nodes[n].output == b) touch(n);
            for (const auto id : graph.nodes[n].inputs)
                if (id == b) touch(n);
        }
        result.push_back(region);
    }
    for (size_t n = 0; n < graph.nodes.size(); ++n)
        result.push_back(
            {placement.params[n], placement.params[n] + graph.nodes[n].params.size(),
             placement.params_stay ? 0 : n - std::min<size_t>(n, placement.prefetch_nodes),
             placement.params_stay ? graph.nodes.size() : n});
    return result;
}

TEST(Allocate, NeverPlacesTwoLiveRegionsOnTheSameBytes) {
    for (uint32_t seed = 0; seed < 100; ++seed) {
        std::mt19937 random(seed);
        const auto graph = random_graph(random);
        auto chip = test_chip(8, seed % 2 == 0 ? 8 : 255);
        const auto legal =
            compiler::legalize(graph, chip, 1 + seed % 3, numerics::Rounding::kSingle);
        const auto all = regions(legal, compiler::allocate(legal, chip));
        for (size_t i = 0; i < all.size(); ++i) {
            EXPECT_LE(all[i].end, chip.unified_buffer_bytes);
            for (size_t j = 0; j < i; ++j) {
                const bool live = all[i].first <= all[j].last && all[j].first <= all[i].last;
                const bool overlap = all[i].begin < all[j].end && all[j].begin < all[i].end;
                ASSERT_FALSE(live && overlap)
                    << "seed " << seed << ", regions " << i << " and " << j;
            }
        }
    }
}

TEST(Allocate, UsesTwoPlacesForALongChain) {
    EXPECT_NO_THROW(compiler::allocate(chain(50, 1024, 0), chip_with(2048)));
    EXPECT_THROW(compiler::allocate(chain(50, 1024, 0), chip_with(2047)), UserError);
}

TEST(Allocate, LoadsParametersLaterWhereTheBufferIsSmall) {
    const auto graph = chain(10, 1024, 512);
    EXPECT_EQ(compiler::allocate(graph, chip_with(64 * 1024)).prefetch_nodes, 2u);
    EXPECT_EQ(compiler::allocate(graph, chip_with(2048 + 2 * 512)).prefetch_nodes, 1u);
    EXPECT_EQ(compiler::allocate(graph, chip_with(2048 + 512)).prefetch_nodes, 0u);
    EXPECT_THROW(compiler::allocate(graph, chip_with(2048 + 511)), UserError);
}

TEST(Allocate, KeepsParametersThatAreSmallBesideAWeightTile) {
    auto chip = chip_with(64 * 1024);
    chip.mxu.rows = chip.mxu.cols = 128;
    const auto placement = compiler::allocate(chain(10, 1024, 512), chip);
    EXPECT_TRUE(placement.params_stay);
    EXPECT_EQ(placement.params[3], placement.params_base + 3 * 512);
    chip.unified_buffer_bytes = 4096;
    EXPECT_FALSE(compiler::allocate(chain(10, 1024, 512), chip).params_stay);
}

TEST(Allocate, NamesTheNodeThatNeedsMost) {
    auto graph = chain(3, 1024, 0);
    graph.buffers[2].bytes = 5000;
    try {
        compiler::allocate(graph, chip_with(4096));
        FAIL() << "accepted";
    } catch (const UserError& error) {
        EXPECT_STREQ(
            error.what(),
            "chain: node 1, batch 1: expected activations and parameters that fit into the "
            "unified buffer of 4096 bytes, found 6032 bytes needed");
    }
}

}  // namespace
}  // namespace tandem::testing
