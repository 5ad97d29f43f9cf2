// SPDX-License-Identifier: Apache-2.0
// What runs with seeded data are compared with, against the oracle of the compiler's tests.
#include "run/plain_loops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "base/error.h"
#include "compiler/graph/narrow.h"
#include "compiler/graph/operators.h"
#include "compiler/graph/seed.h"
#include "compiler/graph/verify.h"
#include "run/plain_floats.h"
#include "run/plain_products.h"
#include "testbench/compiler/chain_maker.h"
#include "testbench/compiler/random_graph.h"
#include "testbench/compiler/random_pairs.h"
#include "testbench/support/naive_ops.h"

namespace tandem::testbench {
namespace {

using namespace compiler;

/// All values kept.
Graph with_all_outputs(Graph graph) {
    graph.outputs.clear();
    for (const Node& node : graph.nodes) graph.outputs.push_back(node.outputs[0]);
    return graph;
}

/// The batch as a part of the shapes, for an oracle that knows none.
Graph with_batch(Graph graph, uint32_t batch) {
    for (Tensor& tensor : graph.tensors)
        if (!tensor.is_constant && !tensor.shape.empty()) tensor.shape[0] *= batch;
    return graph;
}

Int8s seeded(const Graph& graph, TensorId id, uint64_t seed) {
    const auto bytes = seeded_bytes(graph.tensors[id], seed);
    return {bytes.begin(), bytes.end()};
}

arch::ChipConfig::Mxu array_of(uint32_t rows, bool sum4, uint32_t cols = 8) {
    arch::ChipConfig::Mxu mxu;
    mxu.rows = rows;
    mxu.cols = cols;
    mxu.sum4 = sum4;
    return mxu;
}

void expect_naive_values(const Graph& source, const arch::ChipConfig::Mxu& mxu, uint32_t batch,
                         uint64_t seed) {
    const Graph graph = with_all_outputs(source), whole = with_batch(graph, batch);
    std::vector<Int8s> inputs;
    for (const TensorId id : graph.inputs) inputs.push_back(seeded(whole, id, seed));
    NaiveEdges edges;
    for (const Node& node : graph.nodes)
        if (node.op == Operator::kEdge)
            edges[node.outputs[0]] = seeded(whole, node.outputs[0], seed);
    const auto expected =
        naive_run(whole, inputs, NaiveRounding::kSingle,
                  {static_cast<int>(mxu.rows), mxu.sum4, static_cast<int>(mxu.cols)}, edges);
    const auto found = run::plain_loops(graph, mxu, batch, seed, {});
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
        const auto& bytes = found.of_tensor[graph.nodes[i].outputs[0]];
        EXPECT_EQ(Int8s(bytes.begin(), bytes.end()), expected[i]) << describe(graph.nodes[i]);
    }
}

TEST(PlainLoops, RandomInt8NetworksAsTheOracle) {
    for (uint32_t seed = 0; seed < 300 && !HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 random(seed);
        const Graph graph = random_graph(random);
        expect_naive_values(graph, array_of(8, false), 1 + seed % 3, seed);
    }
}

/// The network as the file has it for the oracle, narrowed for the plain loops.
TEST(PlainLoops, RandomFloatNetworksAsTheOracle) {
    for (uint32_t seed = 0; seed < 300 && !HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 random(seed);
        const Graph graph = random_graph(random, ElementType::kFloat32);
        const arch::ChipConfig::Mxu mxu =
            array_of(1 + seed % 17, seed % 2 == 1, 1 + static_cast<uint32_t>(random() % 20));
        const NaiveArray array{static_cast<int>(mxu.rows), mxu.sum4, static_cast<int>(mxu.cols)};
        const uint32_t batch = 1 + seed % 3;
        const Graph whole = with_batch(graph, batch);
        const auto expected =
            naive_run(whole, {seeded(whole, graph.inputs[0], seed)}, NaiveRounding::kSingle, array);
        const Graph narrowed = narrow(graph);
        const auto found = run::plain_loops(narrowed, mxu, batch, seed, {});
        const auto& bytes = found.of_tensor[narrowed.outputs[0]];
        EXPECT_EQ(Int8s(bytes.begin(), bytes.end()), expected.back());
        expect_naive_values(narrowed, mxu, batch, seed);
    }
}

/// Each sample by itself, since extents in front of matrices may be 1 or missing.
TEST(PlainLoops, RandomProductsOfActivationsAsTheOracle) {
    for (uint32_t seed = 0; seed < 200 && !HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 random(seed);
        const Graph graph = with_all_outputs(
            random_pairs(random, seed % 2 == 0 ? ElementType::kInt8 : ElementType::kBf16));
        const auto mxu = array_of(1 + seed % 11, seed % 4 == 1);
        const uint32_t batch = 1 + seed % 3;
        std::vector<std::vector<uint8_t>> inputs(graph.inputs.size());
        std::vector<Int8s> expected(graph.nodes.size());
        for (uint32_t sample = 0; sample < batch; ++sample) {
            std::vector<Int8s> one;
            for (size_t i = 0; i < inputs.size(); ++i) {
                one.push_back(seeded(graph, graph.inputs[i], seed + sample));
                inputs[i].insert(inputs[i].end(), one[i].begin(), one[i].end());
            }
            const auto values = naive_run(graph, one, NaiveRounding::kSingle,
                                          {static_cast<int>(mxu.rows), mxu.sum4, 8});
            for (size_t i = 0; i < values.size(); ++i)
                expected[i].insert(expected[i].end(), values[i].begin(), values[i].end());
        }
        const auto found = run::plain_loops(graph, mxu, batch, inputs);
        for (size_t i = 0; i < graph.nodes.size(); ++i) {
            const auto& bytes = found.of_tensor[graph.nodes[i].outputs[0]];
            EXPECT_EQ(Int8s(bytes.begin(), bytes.end()), expected[i]) << describe(graph.nodes[i]);
        }
    }
}

TEST(PlainLoops, RandomInt8ListsAsTheOracle) {
    for (uint32_t seed = 0; seed < 60 && !HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Graph graph = ChainMaker(ElementType::kInt8, seed).make();
        seed_constants(graph, seed);
        expect_naive_values(graph, array_of(8, false), 1 + seed % 2, seed);
    }
}

TEST(PlainLoops, RandomBf16ListsAsTheOracle) {
    for (uint32_t seed = 0; seed < 60 && !HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Graph graph = ChainMaker(ElementType::kBf16, seed).make();
        seed_constants(graph, seed);
        const uint32_t rows[] = {3, 8, 16, 30, 128};
        expect_naive_values(graph, array_of(rows[seed % 5], seed % 2 == 1), 1 + seed % 3 / 2, seed);
    }
}

TEST(PlainLoops, WildBf16WeightsAsTheOracle) {
    for (uint32_t seed = 0; seed < 60 && !HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        ChainMaker maker(ElementType::kBf16, seed);
        Graph graph = maker.make();
        maker.make_weights_wild(graph);
        expect_naive_values(graph, array_of(seed % 3 == 0 ? 8 : 15, seed % 2 == 1), 1, seed);
    }
}

TEST(PlainLoops, KeepOutputsAndWhatEdgesTakeThePlaceOf) {
    Graph graph = ChainMaker(ElementType::kBf16, 1).make();
    seed_constants(graph, 1);
    const auto found = run::plain_loops(graph, array_of(8, false), 2, 1, {});
    for (TensorId id = 0; id < graph.tensors.size(); ++id) {
        const bool asked = std::ranges::count(graph.outputs, id) != 0 ||
                           std::ranges::any_of(graph.nodes, [&](const Node& node) {
                               return node.op == Operator::kEdge && node.inputs[0] == id;
                           });
        EXPECT_EQ(found.of_tensor[id].size(), asked ? 2 * graph.tensors[id].size_bytes() : 0)
            << graph.tensors[id].name;
    }
}

TEST(PlainLoops, TellHowFarTheyAre) {
    Graph graph = ChainMaker(ElementType::kInt8, 2).make();
    seed_constants(graph, 2);
    uint64_t last = 0, all = 0;
    run::plain_loops(graph, array_of(8, false), 1, 2, [&](uint64_t done, uint64_t total) {
        EXPECT_LE(done, total);
        last = done, all = total;
    });
    EXPECT_EQ(last, all);
    EXPECT_GT(all, 0u);
    EXPECT_GT(run::plain_seconds(graph, 1), 0);
    EXPECT_DOUBLE_EQ(run::plain_seconds(graph, 4), 4 * run::plain_seconds(graph, 1));
}

TEST(PlainLoops, RefuseWhatHasNoValues) {
    Graph graph = ChainMaker(ElementType::kInt8, 2).make();
    for (Tensor& tensor : graph.tensors)
        if (!tensor.is_constant) tensor.type = ElementType::kInt16;
    EXPECT_THROW(run::plain_loops(graph, array_of(8, false), 1, 2, {}), UserError);
}

/// Layers one after the other whose values neither fade nor overflow: else nothing is compared.
TEST(PlainLoops, LongChainsOfSeededLayersStayAlive) {
    for (const ElementType type : {ElementType::kInt8, ElementType::kBf16}) {
        Graph graph = ChainMaker::products(type, 60, 200);
        seed_constants(graph, 3);
        const auto found = run::plain_loops(graph, array_of(128, false), 1, 3, {});
        const auto& bytes = found.of_tensor[graph.outputs[0]];
        double squares = 0;
        const size_t step = element_type_bytes(type);
        for (size_t at = 0; at < bytes.size(); at += step) {
            const double value =
                step == 1 ? static_cast<int8_t>(bytes[at])
                          : std::bit_cast<float>((bytes[at] | uint32_t{bytes[at + 1]} << 8) << 16);
            squares +=
                value * value * static_cast<double>(step) / static_cast<double>(bytes.size());
        }
        const double deviation = std::sqrt(squares), first = type == ElementType::kInt8 ? 74 : 1;
        EXPECT_GT(deviation, first / 10) << element_type_name(type);
        EXPECT_LT(deviation, first * 10) << element_type_name(type);
    }
}

/// int32 sums of more than 2^31 / (255 * 127) rows wrap.
TEST(PlainLoops, LongSumsWrap) {
    Graph graph;
    graph.file = "long";
    const int64_t k = 200000;
    for (const Shape& shape : {Shape{1, k}, Shape{2, k}, Shape{1, 2}}) {
        Tensor t;
        t.name = "t" + std::to_string(graph.tensors.size());
        t.shape = shape;
        t.quantization = {{1.0f}, {graph.tensors.empty() ? -128 : 0}, 0};
        t.is_constant = graph.tensors.size() == 1;
        if (t.is_constant) {
            t.quantization.scales = {0x1p-25f};
            t.set_bytes(std::vector<uint8_t>(static_cast<size_t>(2 * k), 127));
        }
        graph.add(t);
    }
    Node node;
    node.op = Operator::kFullyConnected;
    node.name = "long";
    node.inputs = {0, 1};
    node.outputs = {2};
    graph.nodes = {node};
    graph.inputs = {0};
    graph.outputs = {2};
    int64_t sum = 0;
    for (const uint8_t byte : seeded_bytes(graph.tensors[0], 9))
        sum += (static_cast<int8_t>(byte) + 128) * 127;
    ASSERT_GT(sum, int64_t{1} << 31);
    const auto wrapped = static_cast<int32_t>(static_cast<uint32_t>(sum));
    const auto expected =
        static_cast<int8_t>(std::nearbyint(static_cast<float>(wrapped) * 0x1p-25f));
    const auto found = run::plain_loops(graph, array_of(8, false), 1, 9, {}).of_tensor[2];
    EXPECT_EQ(static_cast<int8_t>(found.at(0)), expected);
    EXPECT_EQ(found.at(0), found.at(1));
}

/// One row of activations by one column of weights.
uint16_t bf16_product(const std::vector<float>& a, const std::vector<float>& w, size_t array_rows,
                      bool sum4) {
    const auto bytes = [](const std::vector<float>& values) {
        std::vector<uint8_t> result;
        for (const float value : values) {
            const auto word = std::bit_cast<uint32_t>(value) >> 16;
            result.push_back(static_cast<uint8_t>(word));
            result.push_back(static_cast<uint8_t>(word >> 8));
        }
        return result;
    };
    run::PlainProduct product;
    product.window.channels = a.size();
    const auto c = run::plain_bf16_product(product, bytes(a), bytes(w), {array_rows, 1, sum4},
                                           [](uint64_t) {});
    const auto words = run::plain_bytes(c, ElementType::kBf16);
    return static_cast<uint16_t>(words.at(0) | words.at(1) << 8);
}

/// 2^60 + 2^36 is a tie of fp32, which what double does not hold breaks.
TEST(PlainLoops, SumsOfFourAreExact) {
    const std::vector<float> ones(8, 1.0f);
    EXPECT_EQ(bf16_product(ones, {0x1p60f, 0x1p36f, 0x1p-20f, 0, -0x1p60f, 0, 0, 0}, 8, true),
              std::bit_cast<uint32_t>(0x1p37f) >> 16);
    EXPECT_EQ(bf16_product(ones, {0x1p60f, 0x1p36f, 0, 0, -0x1p60f, 0, 0, 0}, 8, true), 0);
}

TEST(PlainLoops, RowsOfZerosMakeAFlushedSumPositive) {
    const std::vector<float> a = {0x1.4p-63f, 0x1.8p-63f}, w = {0x1p-63f, -0x1p-63f};
    EXPECT_EQ(bf16_product(a, w, 2, false), 0x8000) << "no such row";
    EXPECT_EQ(bf16_product(a, w, 3, false), 0);
}

}  // namespace
}  // namespace tandem::testbench
