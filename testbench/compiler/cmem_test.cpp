// SPDX-License-Identifier: Apache-2.0
// Values that go through CMEM: where they lie, and programs that race over shared places.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/explain.h"
#include "compiler/graph/narrow.h"
#include "compiler/graph/operators.h"
#include "compiler/graph/seed.h"
#include "compiler/graph/verify.h"
#include "compiler/plan/outline.h"
#include "testbench/compiler/append_node.h"
#include "testbench/compiler/machine_run.h"
#include "testbench/compiler/random_chip.h"
#include "testbench/compiler/random_graph.h"
#include "testbench/compiler/random_list.h"
#include "testbench/compiler/random_outline.h"
#include "testbench/support/image_chain.h"

namespace tandem::testbench {
namespace {

using namespace compiler;

/// A network or list on a random chip with some CMEM, many of whose values do not stay.
struct Random {
    Graph graph;
    arch::ChipConfig chip;
    CompileOptions options;

    explicit Random(uint32_t seed) {
        std::mt19937 random(seed);
        graph = seed % 2 == 0 ? narrow(random_graph(random, ElementType::kInt8))
                              : random_list(random, ElementType::kInt8);
        for (Node& node : graph.nodes)
            if (random() % 2 == 0) node.repeat = 1;
        chip = random_chip(random);
        chip.cmem = {uint64_t{1} << (8 + random() % 12), 16'000'000'000, random() % 200'000};
        options.batch = seed % 2 == 0 ? 1 + static_cast<uint32_t>(random() % 3) : 1;
        options.outline = [cores = chip.cores,
                           drawn = static_cast<uint32_t>(random())](const KernelGraph& kernels) {
            Outline outline = random_outline(kernels, cores, drawn);
            std::mt19937 more(drawn);
            for (size_t v = 0; v < outline.spilled.size(); ++v)
                outline.spilled[v] = outline.spilled[v] || more() % 4 != 0;
            return outline;
        };
    }
};

TEST(Cmem, HoldsValuesOfRunsThatAreRight) {
    int runs = 0, shared = 0, beside = 0, too_small = 0, several_cores = 0;
    for (uint32_t seed = 0; seed < 300; ++seed) {
        const Random r(seed);
        const Case c(r.graph, r.chip, r.options, seeded_inputs(r.graph, r.options.batch, seed),
                     seed);
        const Plan& plan = c.planned().plan;
        const auto in_cmem = std::ranges::count_if(plan.values, &ValuePlan::in_cmem);
        if (in_cmem == 0) continue;
        ++runs;
        shared += std::ranges::any_of(plan.values, &ValuePlan::shares_place);
        beside += plan.weights_in_cmem;
        several_cores += plan.cores > 1;
        too_small += std::ranges::any_of(plan.kernels,
                                         [](const KernelPlan& kernel) {
                                             return !kernel.cores[0].chunks.empty() &&
                                                    kernel.cores[0].out != Way::kStays;
                                         }) &&
                     plan.cmem.size() * 2 > r.chip.cmem.bytes;
        const auto programs = c.streams();
        for (const uint32_t order : {0u, 1u, seed * 4})
            EXPECT_EQ(c.fault(programs, Order::number(order)), "")
                << "seed " << seed << ", order " << order << ", " << text_of(r.chip);
    }
    EXPECT_GT(runs, 60);
    for (const int count : {shared, beside, too_small, several_cores}) EXPECT_GT(count, 10);
}

/// Values that are alive together have bytes of their own, behind the weights, inside of CMEM.
TEST(Cmem, GivesValuesThatMeetPlacesOfTheirOwn) {
    for (uint32_t seed = 0; seed < 300; ++seed) {
        const Random r(seed);
        const Planned planned = plan_graph(r.graph, r.chip, r.options);
        const Plan& plan = planned.plan;
        const uint64_t begin = r.chip.memory.bytes - kStreamDataBase;
        uint64_t weights_end = begin;
        for (const KernelPlan& kernel : plan.kernels)
            if (plan.weights_in_cmem && kernel.data_tiles != 0)
                weights_end = std::max(
                    weights_end, kernel.weight_offset + kernel.data_tiles * r.chip.tile_bytes());
        const auto uses = uses_of(planned.kernels, plan.segments);
        const auto end_of = [&](size_t v) {
            return plan.values[v].memory_offset + planned.kernels.values[v].bytes;
        };
        for (size_t a = 0; a < plan.values.size(); ++a) {
            if (!plan.values[a].in_cmem) continue;
            EXPECT_GE(plan.values[a].memory_offset, weights_end) << "seed " << seed;
            EXPECT_LE(end_of(a), begin + r.chip.cmem.bytes) << "seed " << seed;
            for (size_t b = 0; b < a; ++b) {
                if (!plan.values[b].in_cmem) continue;
                const bool overlap = plan.values[a].memory_offset < end_of(b) &&
                                     plan.values[b].memory_offset < end_of(a);
                EXPECT_FALSE(overlap && uses[a].first <= uses[b].last &&
                             uses[b].first <= uses[a].last)
                    << "seed " << seed << ", values " << a << " and " << b;
                EXPECT_FALSE(overlap && !plan.values[a].shares_place) << "seed " << seed;
            }
        }
    }
}

/// 1x1 convolutions of two images, one for each core; of the first one's results hardly any are
/// read.
Graph strided_chain() {
    Graph graph;
    graph.file = "strided";
    const auto tensor = [&](const Shape& shape, bool constant) {
        Tensor t;
        t.name = "t" + std::to_string(graph.tensors.size());
        t.shape = shape;
        t.is_constant = constant;
        if (!constant) t.layout = Layout::kNhwc;
        t.quantization = {{constant ? seeded_weight_scale(16) : 1.0f}, {0}, 0};
        return graph.add(std::move(t));
    };
    TensorId last = tensor({2, 8, 32, 16}, false);
    graph.inputs = {last};
    const auto convolution = [&](int64_t height, int64_t channels, int64_t filters,
                                 int64_t stride) {
        WindowAttributes w;
        w.stride_h = stride;
        const TensorId weights = tensor({filters, 1, 1, channels}, true);
        const TensorId out = tensor({2, height, 32, filters}, false);
        set_window(append_node(graph, Operator::kConv2d, {last, weights}, out), w);
        last = out;
    };
    convolution(8, 16, 16, 1);
    convolution(1, 16, 16, 8);
    convolution(1, 16, 64, 1);
    convolution(1, 64, 8, 1);
    graph.outputs = {last};
    seed_constants(graph, 0);
    verify(graph);
    return graph;
}

/// What a core leaves of a value that nobody reads does not come after another core's next value.
TEST(Cmem, OrdersTheWritersOfASharedPlace) {
    auto chip = test_chip(16, 16);
    chip.cores = 2;
    chip.cmem = {1 << 16, 1'000'000'000'000, 50'000};
    CompileOptions options;
    options.outline = [](const KernelGraph& kernels) {
        Outline outline = plain_outline(kernels, 2);
        outline.spilled.assign(kernels.values.size(), true);
        return outline;
    };
    const Graph graph = strided_chain();
    const Case c(graph, chip, options, seeded_inputs(graph, 1, 1), 1);
    const auto& values = c.planned().plan.values;
    ASSERT_TRUE(values[1].shares_place && values[3].shares_place);
    ASSERT_EQ(values[1].memory_offset, values[3].memory_offset);
    const auto programs = c.streams();
    for (uint32_t order = 0; order < 60; ++order)
        EXPECT_EQ(c.fault(programs, Order::number(order)), "") << "order " << order;
}

// ---- convolutions of one image, whose values of 16 KiB have no room in the buffer

arch::ChipConfig small_chip(uint64_t cmem_bytes) {
    auto chip = test_chip(16, 16);
    chip.unified_buffer_bytes = 12 * 1024;
    if (cmem_bytes != 0) chip.cmem = {cmem_bytes, 16'000'000'000, 50'000};
    return chip;
}

Planned planned_chain(const arch::ChipConfig& chip, const CompileOptions& options = {}) {
    return plan_graph(tables::graph_of(image_chain(4, 32, 16)), chip, options);
}

int64_t values_in_cmem(const Planned& planned) {
    return std::ranges::count_if(planned.plan.values, &ValuePlan::in_cmem);
}

TEST(Cmem, HoldsAsManyValuesAsItHasRoomForBehindTheWeights) {
    constexpr uint64_t kWeights = 4 * 9 * 256, kValue = 32 * 32 * 16;
    EXPECT_EQ(values_in_cmem(planned_chain(small_chip(0))), 0);
    EXPECT_EQ(values_in_cmem(planned_chain(small_chip(kWeights))), 0);
    const Planned one = planned_chain(small_chip(kWeights + kValue));
    EXPECT_EQ(values_in_cmem(one), 2) << "the first and the third one at the same place";
    EXPECT_TRUE(one.plan.weights_in_cmem);
    EXPECT_EQ(values_in_cmem(planned_chain(small_chip(kWeights + 2 * kValue))), 3);
    const Planned no_weights = planned_chain(small_chip(kWeights - 64));
    EXPECT_FALSE(no_weights.plan.weights_in_cmem);
    EXPECT_EQ(values_in_cmem(no_weights), 0) << "smaller than a value";
}

TEST(Cmem, HoldsNoneByRulesOrOfImagesOrWhereItIsSlower) {
    CompileOptions rules, image;
    rules.plan = PlanMode::kRules;
    image.use_cmem = false;
    EXPECT_EQ(values_in_cmem(planned_chain(small_chip(1 << 20), rules)), 0);
    EXPECT_EQ(values_in_cmem(planned_chain(small_chip(1 << 20), image)), 0);
    auto slow = small_chip(1 << 20);
    slow.cmem.bytes_per_second = slow.memory.bytes_per_second / 2;
    EXPECT_EQ(values_in_cmem(planned_chain(slow)), 0);
}

TEST(Cmem, IsInBoundsAndExplanations) {
    const auto chip = small_chip(1 << 20);
    const Planned planned = planned_chain(chip);
    const auto bounds = lower_bounds(planned.kernels, planned.plan, chip);
    // 500 MHz: 32 bytes a cycle from CMEM. The second layer reads and writes 16 KiB there.
    EXPECT_EQ(bounds[1].activations, 2 * 16384 / 32);
    EXPECT_EQ(bounds[1].cmem, bounds[1].activations + bounds[1].weights);
    EXPECT_EQ(bounds[1].device_memory, 0);
    const std::string text = explanation_text(explain(planned));
    EXPECT_NE(text.find("from CMEM"), std::string::npos) << text;
    EXPECT_NE(text.find("to CMEM"), std::string::npos) << text;
}

}  // namespace
}  // namespace tandem::testbench
