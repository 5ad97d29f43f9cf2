// SPDX-License-Identifier: Apache-2.0
// Programs of random graphs on random chips, with units racing each other in all kinds of order,
// against the oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "compiler/graph/narrow.h"
#include "testbench/compiler/machine_run.h"
#include "testbench/compiler/random_chip.h"
#include "testbench/compiler/random_graph.h"
#include "testbench/compiler/random_list.h"
#include "testbench/compiler/random_outline.h"
#include "testbench/compiler/random_pairs.h"

namespace tandem::testbench {
namespace {

using compiler::CompileOptions;
using compiler::ElementType;
using numerics::Rounding;

struct Random {
    compiler::Graph graph;
    arch::ChipConfig chip;
    CompileOptions options;
};

enum class Form { kStreams, kImage };
/// What is made at random.
enum class Kind { kNetwork, kList, kPairs };

compiler::Graph random_of(Kind kind, std::mt19937& random, ElementType type) {
    switch (kind) {
        case Kind::kNetwork:
            return compiler::narrow(random_graph(random, type));
        case Kind::kPairs:
            return compiler::narrow(random_pairs(random, type));
        default:
            return random_list(random, type);
    }
}

/// For a list that a batch multiplies: a pass that leaves fewer elements takes one sample alone.
bool takes_a_batch(const compiler::Graph& graph) {
    return std::ranges::all_of(graph.nodes, [&](const compiler::Node& node) {
        const bool pass =
            node.op == compiler::Operator::kVector || node.op == compiler::Operator::kPool;
        return !pass || graph.tensors[node.inputs[0]].elements() ==
                            graph.tensors[node.outputs[0]].elements();
    });
}

/// The rules; what the search finds best, also with rounds of its own or of ours; any of its
/// candidates; any outline.
void choose_plan(Random& r, uint32_t seed, std::mt19937& random) {
    CompileOptions& options = r.options;
    const uint32_t way = seed % 6;
    if (way == 1) options.plan = compiler::PlanMode::kRules;
    if (way == 2 || way == 4) options.forced = random();
    if (way != 1 && seed % 4 == 0) options.forced_packing = seed / 4;
    if (way < 3) return;
    // Enough samples that all cores have several.
    const uint32_t more = 1 + static_cast<uint32_t>(random() % 6);
    if (takes_a_batch(r.graph)) options.batch *= more;
    // Time steps do not go in rounds.
    if (random() % 3 != 0)
        for (compiler::Node& node : r.graph.nodes) node.repeat = 1;
    if (way == 3) options.rounds = static_cast<uint32_t>(random() % 4);
    if (way == 3) return;
    options.outline = [cores = r.chip.cores, drawn = static_cast<uint32_t>(random())](
                          const compiler::KernelGraph& graph) {
        return random_outline(graph, cores, drawn);
    };
}

/// From a network to the smallest buffer that it fits into, or somewhat more.
Random random_case(uint32_t seed, ElementType type, Kind kind, Form form) {
    std::mt19937 random(seed);
    Random r;
    r.graph = random_of(kind, random, type);
    r.chip = random_chip(random);
    r.chip.mxu.dtype = type == ElementType::kInt8 ? arch::Dtype::kInt8 : arch::Dtype::kBf16;
    if (form == Form::kImage) r.options.use_cmem = false;
    r.options.rounding = static_cast<Rounding>(random() % 2);
    // A list's rows say their batch themselves.
    r.options.batch = kind == Kind::kList ? 1 : 1 + static_cast<uint32_t>(random() % 3);
    choose_plan(r, seed, random);
    const uint64_t all = r.chip.unified_buffer_bytes;
    const uint64_t least = smallest_buffer(r.graph, r.chip, r.options);
    if (random() % 3 != 0)
        r.chip.unified_buffer_bytes =
            std::min(all, least + least * std::array{0, 10, 60, 200}[random() % 4] / 100);
    return r;
}

void expect_right(uint32_t seed, ElementType type, Kind kind, Form form) {
    const Random r = random_case(seed, type, kind, form);
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + text_of(r.chip) + ", batch " +
                 std::to_string(r.options.batch));
    try {
        const Case c(r.graph, r.chip, r.options, seeded_inputs(r.graph, r.options.batch, seed),
                     seed);
        const auto programs = form == Form::kImage ? c.image() : c.streams();
        for (uint32_t order = 0; order < 6; ++order) {
            const uint32_t number = order < 2 ? order : seed * 4 + order;
            EXPECT_EQ(c.fault(programs, Order::number(number)), "") << "order " << number;
        }
    } catch (const UserError& error) {
        FAIL() << error.what();
    }
}

/// TANDEM_FIRST_SEED and TANDEM_SEEDS: for longer runs by hand.
uint32_t number_of(const char* name, uint32_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : static_cast<uint32_t>(std::atoi(text));
}

void expect_all_right(ElementType type, Kind kind, Form form, uint32_t count) {
    const uint32_t first = number_of("TANDEM_FIRST_SEED", 0);
    for (uint32_t seed = first; seed < first + number_of("TANDEM_SEEDS", count); ++seed)
        expect_right(seed, type, kind, form);
}

/// The cases above are worth something: values go every way there is.
TEST(RandomStreams, MeetEveryWayThroughTheBuffer) {
    using compiler::Way;
    std::map<Way, int> in, out;
    int edges = 0, cmem = 0, columns = 0, repeats = 0;
    int rounds = 0, mixed = 0, places = 0, local = 0, edges_in_rounds = 0;
    for (uint32_t seed = 0; seed < 600; ++seed) {
        const Random r = random_case(seed, ElementType::kInt8, Kind::kList, Form::kStreams);
        const auto planned = compiler::plan_graph(r.graph, r.chip, r.options);
        cmem += planned.plan.weights_in_cmem;
        const auto& segments = planned.plan.segments;
        mixed += segments.size() > 1;
        rounds += std::ranges::any_of(segments, [](const auto& s) { return s.rounds > 1; });
        for (const compiler::ValuePlan& value : planned.plan.values) {
            places += value.resident && value.places > 1;
            local += value.resident && value.rounds > 1;
        }
        for (size_t k = 0; k < planned.kernels.kernels.size(); ++k) {
            const auto& kernel = planned.kernels.kernels[k];
            const auto& share = planned.plan.kernels[k].cores[0];
            edges += kernel.is_edge();
            edges_in_rounds += kernel.is_edge() && planned.plan.kernels[k].rounds > 1;
            repeats += kernel.repeat > 1;
            columns += kernel.matmul() != nullptr &&
                       share.tiles.size() != planned.plan.kernels[k].tiles.size();
            if (share.chunks.empty()) continue;
            ++in[share.in];
            ++out[share.out];
        }
    }
    for (const Way way : {Way::kStays, Way::kWhole, Way::kChunks, Way::kSlices})
        EXPECT_GT(in[way], 5) << "in, way " << static_cast<int>(way);
    for (const Way way : {Way::kStays, Way::kChunks, Way::kWaves})
        EXPECT_GT(out[way], 5) << "out, way " << static_cast<int>(way);
    for (const int count :
         {edges, cmem, columns, repeats, rounds, mixed, places, local, edges_in_rounds})
        EXPECT_GT(count, 5);
}

TEST(RandomStreams, OfNetworksAreRight) {
    expect_all_right(ElementType::kInt8, Kind::kNetwork, Form::kStreams, 150);
}
TEST(RandomStreams, OfListsAreRight) {
    expect_all_right(ElementType::kInt8, Kind::kList, Form::kStreams, 150);
}
TEST(RandomStreams, OfBf16ListsAreRight) {
    expect_all_right(ElementType::kBf16, Kind::kList, Form::kStreams, 40);
}
TEST(RandomStreams, OfFloatNetworksAreRight) {
    expect_all_right(ElementType::kFloat32, Kind::kNetwork, Form::kStreams, 150);
}
TEST(RandomImages, OfNetworksAreRight) {
    expect_all_right(ElementType::kInt8, Kind::kNetwork, Form::kImage, 150);
}
TEST(RandomImages, OfFloatNetworksAreRight) {
    expect_all_right(ElementType::kFloat32, Kind::kNetwork, Form::kImage, 150);
}

TEST(RandomStreams, OfInt8PairsAreRight) {
    expect_all_right(ElementType::kInt8, Kind::kPairs, Form::kStreams, 80);
}
TEST(RandomStreams, OfBf16PairsAreRight) {
    expect_all_right(ElementType::kBf16, Kind::kPairs, Form::kStreams, 80);
}
TEST(RandomImages, OfInt8PairsAreRight) {
    expect_all_right(ElementType::kInt8, Kind::kPairs, Form::kImage, 60);
}
TEST(RandomImages, OfFloatPairsAreRight) {
    expect_all_right(ElementType::kFloat32, Kind::kPairs, Form::kImage, 60);
}

}  // namespace
}  // namespace tandem::testbench
