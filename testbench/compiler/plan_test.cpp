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
#include "testbench/compiler/random_outline.h"

namespace tandem::testbench {
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
    size_t first, last;  ///< visits
};

/// What lies in a core's buffer, visit by visit, told apart from how the planner knows it.
class Regions {
  public:
    Regions(const Planned& planned, uint32_t core)
        : graph_(planned.kernels), plan_(planned.plan), core_(core) {}

    std::vector<Region> all() {
        for (uint32_t v = 0; v < graph_.values.size(); ++v)
            for (uint32_t round = 0; plan_.values[v].resident && round < plan_.values[v].rounds;
                 ++round)
                add_value(v, round);
        for (size_t k = 0; k < graph_.kernels.size(); ++k) add_kernel(k);
        return std::move(all_);
    }

  private:
    /// Number of the visit that a kernel has in a round.
    size_t visit(size_t kernel, uint32_t round) const {
        const compiler::Visit wanted{static_cast<uint32_t>(kernel), round};
        return static_cast<size_t>(std::ranges::find(plan_.visits, wanted) - plan_.visits.begin());
    }

    size_t first_visit(size_t kernel, uint32_t group) const {
        const uint32_t of_group = plan_.kernels[kernel].rounds / plan_.groups;
        return visit(kernel, group * of_group);
    }
    size_t last_visit(size_t kernel, uint32_t group) const {
        const uint32_t of_group = plan_.kernels[kernel].rounds / plan_.groups;
        return visit(kernel, (group + 1) * of_group - 1);
    }

    /// A value that is under another name in an edge's output is not another region.
    void add_value(uint32_t v, uint32_t round) {
        const auto& plan = plan_.values[v];
        const auto& value = graph_.values[v];
        const uint32_t address = plan.address_in(round);
        Region r{value.name + " round " + std::to_string(round), address,
                 address + plan.part(core_, round).size(), SIZE_MAX, 0};
        for (size_t k = 0; k < graph_.kernels.size(); ++k) {
            const auto& kernel = graph_.kernels[k];
            const bool made = kernel.output == v && !kernel.is_alias();
            if (!made && std::ranges::find(kernel.inputs, v) == kernel.inputs.end()) continue;
            // Rounds of the kernel that work on this one of the value's.
            const uint32_t as_many = plan_.kernels[k].rounds / plan.rounds;
            const size_t first = visit(k, round * as_many);
            // An edge's output takes over where its input ends.
            r.first = std::min(r.first, made && kernel.is_edge() ? first + 1 : first);
            r.last = std::max(r.last, visit(k, (round + 1) * as_many - 1));
        }
        if (value.is_input) {
            // Round by round it is asked for when the place has been read for the last time.
            const uint32_t ahead = plan.places - 1;
            const uint32_t as_many = plan_.kernels[plan.first_reader].rounds / plan.rounds;
            const uint32_t of_group = plan.rounds / plan_.groups;
            const uint32_t before = std::min(round % of_group, ahead);
            r.first = std::min(r.first, visit(plan.first_reader, (round - before) * as_many));
            if (value.home == compiler::Memory::kHost && round <= ahead) r.first = 0;
        }
        all_.push_back(r);
    }

    void add_kernel(size_t k) {
        const auto& plan = plan_.kernels[k];
        const std::string name = "kernel " + std::to_string(k);
        const size_t ahead = std::min<size_t>(k, plan_.prefetch_kernels);
        // They come for every group, unless they stay.
        for (uint32_t group = 0; group < (plan_.params_stay ? 1 : plan_.groups); ++group)
            all_.push_back({name + " parameters", plan.params_address,
                            plan.params_address + graph_.kernels[k].params_bytes,
                            plan_.params_stay ? 0 : first_visit(k - ahead, group),
                            plan_.params_stay ? plan_.visits.size() : last_visit(k, group)});
        for (uint32_t round = 0; round < plan.rounds; ++round) {
            const auto& share = plan.share(core_, round);
            if (share.chunks.empty()) continue;
            const size_t at = visit(k, round);
            all_.push_back({name + " in", share.in_area,
                            share.in_area + compiler::in_area_bytes(share), at, at});
            all_.push_back({name + " out", share.out_area,
                            share.out_area + compiler::out_area_bytes(share), at, at});
            all_.push_back({name + " scratch", share.scratch_area,
                            share.scratch_area + share.scratch_bytes, at, at});
        }
    }

    const compiler::KernelGraph& graph_;
    const compiler::Plan& plan_;
    const uint32_t core_;
    std::vector<Region> all_;
};

TEST(Plan, NeverPlacesTwoLiveRegionsOnTheSameBytes) {
    int in_rounds = 0;
    for (uint32_t seed = 0; seed < 300; ++seed) {
        std::mt19937 random(seed);
        const auto graph = seed % 2 == 0 ? random_graph(random)
                                         : random_list(random, compiler::ElementType::kInt8);
        auto chip = random_chip(random);
        compiler::CompileOptions options;
        if (seed % 2 == 0) options.batch = 1 + seed % 3;
        if (seed % 3 == 1) {
            if (seed % 2 == 0) options.batch = 6;
            options.outline = [&](const compiler::KernelGraph& kernels) {
                return random_outline(kernels, chip.cores, seed);
            };
        }
        if (seed % 4 < 2) chip.unified_buffer_bytes = smallest_buffer(graph, chip, options);
        const auto planned = compiler::plan_graph(graph, chip, options);
        for (uint32_t core = 0; core < chip.cores; ++core) {
            const auto all = Regions(planned, core).all();
            in_rounds += planned.plan.visits.size() > planned.kernels.kernels.size();
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
    EXPECT_GT(in_rounds, 30);
}

/// From the smallest buffer on, by rules, as the search has it, and in rounds.
TEST(Plan, ALargerBufferAlwaysDoes) {
    for (uint32_t seed = 0; seed < 120; ++seed) {
        std::mt19937 random(seed);
        const auto graph = seed % 2 == 0 ? random_graph(random)
                                         : random_list(random, compiler::ElementType::kInt8);
        auto chip = random_chip(random);
        compiler::CompileOptions options;
        if (seed % 2 == 0) options.batch = 6;
        if (seed % 3 == 0) options.plan = compiler::PlanMode::kRules;
        if (seed % 3 == 1)
            options.outline = [&](const compiler::KernelGraph& kernels) {
                return random_outline(kernels, chip.cores, seed);
            };
        const uint64_t least = smallest_buffer(graph, chip, options);
        for (uint64_t more = 0; more < least && more < 3000; more += 16 + more / 8) {
            chip.unified_buffer_bytes = least + more;
            EXPECT_NO_THROW(compiler::plan_graph(graph, chip, options))
                << "seed " << seed << ", " << more << " bytes more than " << least;
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
    // Rounds, too, need values that go through memory: of rules all of the batch at once.
    compiler::CompileOptions batch;
    batch.batch = 64;
    EXPECT_EQ(text_of(batch), "accepted") << "in rounds";
    batch.plan = compiler::PlanMode::kRules;
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
}  // namespace tandem::testbench
