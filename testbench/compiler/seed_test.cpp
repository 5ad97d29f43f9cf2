// SPDX-License-Identifier: Apache-2.0
// Seeded values and the oracle's bf16 products that they are made for.
#include "compiler/graph/seed.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "compiler/graph/verify.h"
#include "testbench/support/naive_float.h"
#include "testbench/support/seeded.h"

namespace tandem::testbench {
namespace {

using namespace compiler;

Tensor tensor(const char* name, ElementType type, Shape shape, bool is_constant) {
    Tensor t;
    t.name = name;
    t.type = type;
    t.shape = std::move(shape);
    t.is_constant = is_constant;
    return t;
}

float value(uint16_t word) { return std::bit_cast<float>(uint32_t{word} << 16); }

std::vector<uint16_t> words(const std::vector<uint8_t>& bytes) {
    std::vector<uint16_t> result(bytes.size() / 2);
    std::memcpy(result.data(), bytes.data(), bytes.size());
    return result;
}

TEST(SeededBytes, GoBySeedAndName) {
    const Tensor a = tensor("a", ElementType::kInt8, {1000}, false);
    const Tensor b = tensor("b", ElementType::kInt8, {1000}, false);
    EXPECT_EQ(seeded_bytes(a, 1), seeded_bytes(a, 1));
    EXPECT_NE(seeded_bytes(a, 1), seeded_bytes(a, 2));
    EXPECT_NE(seeded_bytes(a, 1), seeded_bytes(b, 1));
}

TEST(SeededBytes, HaveTheRangeOfTheirType) {
    bool lowest = false;
    for (const uint8_t byte : seeded_bytes(tensor("x", ElementType::kInt8, {9999}, false), 1))
        lowest = lowest || byte == 0x80;
    EXPECT_TRUE(lowest) << "activations have all 256 values";
    for (const uint8_t byte : seeded_bytes(tensor("x", ElementType::kInt8, {9999}, true), 1))
        EXPECT_NE(byte, 0x80) << "weights are symmetric";
    double squares = 0;
    for (const uint16_t word :
         words(seeded_bytes(tensor("x", ElementType::kBf16, {9999}, true), 1))) {
        const double v = value(word);
        EXPECT_TRUE(v == 0 || std::fabs(v) >= 0x1p-8) << v;
        squares += v * v / 9999;
    }
    EXPECT_NEAR(squares, 1, 0.05) << "variance";
    EXPECT_THROW(seeded_bytes(tensor("x", ElementType::kInt16, {4}, false), 1), UserError);
}

/// A [m,k] x weights [n,k] in `type`.
Graph product(ElementType type, int64_t m, int64_t k, int64_t n) {
    Graph graph;
    graph.file = "product";
    graph.tensors = {tensor("A", type, {m, k}, false), tensor("B", type, {n, k}, true),
                     tensor("C", type, {m, n}, false)};
    if (type == ElementType::kInt8) {
        graph.tensors[0].quantization = graph.tensors[2].quantization = {{1.0f}, {0}, 0};
        graph.tensors[1].quantization = {{seeded_weight_scale(static_cast<uint64_t>(k))}, {0}, 0};
    }
    Node node;
    node.op = Operator::kFullyConnected;
    node.name = "C";
    node.inputs = {0, 1};
    node.outputs = {2};
    graph.nodes = {node};
    graph.inputs = {0};
    graph.outputs = {2};
    return graph;
}

Int8s input_of(const Graph& graph) {
    const auto bytes = seeded_bytes(graph.tensors[graph.inputs[0]], 3);
    return {bytes.begin(), bytes.end()};
}

TEST(SeedConstants, KeepSumsInTheRangeOfTheOutput) {
    for (const int64_t k : {4, 100, 5000}) {
        Graph graph = product(ElementType::kInt8, 20, k, 20);
        seed_constants(graph, 3);
        ASSERT_NO_THROW(verify(graph));
        const Int8s out = naive_run(graph, {input_of(graph)}, NaiveRounding::kSingle).back();
        double squares = 0;
        size_t ends = 0;
        for (const int8_t v : out) {
            squares += static_cast<double>(v * v) / 400;
            ends += v == 127 || v == -128;
        }
        // Even inputs of a deviation of 74, and what reaches beyond int8 is cut.
        EXPECT_NEAR(std::sqrt(squares), 66, 10) << "K " << k;
        EXPECT_LT(ends, 60u) << "K " << k;
    }
}

TEST(SeedConstants, LeaveWhatHasValues) {
    Graph graph = product(ElementType::kInt8, 1, 4, 1);
    graph.tensors[1].set_bytes({1, 2, 3, 4});
    seed_constants(graph, 3);
    EXPECT_EQ(graph.tensors[1].bytes(), (std::vector<uint8_t>{1, 2, 3, 4}));
}

/// Against sums in double: close, and different with the array's rows.
TEST(NaiveBf16, SumsInTheOrderOfTheArray) {
    Graph graph = product(ElementType::kBf16, 9, 301, 11);
    seed_constants(graph, 3);
    ASSERT_NO_THROW(verify(graph));
    const Int8s input = input_of(graph);
    const auto a = words({input.begin(), input.end()}), b = words(graph.tensors[1].bytes());
    std::vector<Int8s> results;
    for (const NaiveArray& array : {NaiveArray{8, false}, NaiveArray{128, false},
                                    NaiveArray{8, true}, NaiveArray{301, false}}) {
        const Int8s raw = naive_run(graph, {input}, NaiveRounding::kSingle, array).back();
        results.push_back(raw);
        const auto c = words({raw.begin(), raw.end()});
        ASSERT_EQ(c.size(), 99u);
        for (size_t m = 0; m < 9; ++m)
            for (size_t n = 0; n < 11; ++n) {
                double sum = 0;
                for (size_t k = 0; k < 301; ++k)
                    sum += double{value(a[m * 301 + k])} * value(b[n * 301 + k]);
                EXPECT_NEAR(value(c[m * 11 + n]), sum, std::fabs(sum) / 200 + 1e-3);
            }
    }
}

TEST(NaiveBf16, SumsTilesApart) {
    // 2^24 + 1 - 2^24 is 0 in fp32, one after the other; apart from its tile the 1 stays.
    const Fp32s ones(3, 0x3f800000), a = {0x4b800000, 0x3f800000, 0xcb800000};
    const NaiveWindow row{.in_c = 3};
    EXPECT_EQ(naive_conv_bf16(row, a, ones, 1, 1, {3, false}).at(0), 0u);
    EXPECT_EQ(naive_conv_bf16(row, a, ones, 1, 1, {3, true}).at(0), 0x3f800000u);
    EXPECT_EQ(
        naive_conv_bf16(row, {0x4b800000, 0xcb800000, 0x3f800000}, ones, 1, 1, {2, false}).at(0),
        0x3f800000u);
    EXPECT_EQ(naive_conv_bf16(row, a, ones, 1, 1, {1, false}).at(0), 0u);
}

TEST(NaiveLists, AreWhatTheGraphSays) {
    Graph graph;
    graph.file = "list";
    for (const auto& [name, shape] : std::initializer_list<std::pair<const char*, Shape>>{
             {"x", {4}}, {"sum", {3}}, {"first", {2}}, {"other", {5}}}) {
        graph.tensors.push_back(tensor(name, ElementType::kInt8, shape, false));
        graph.tensors.back().quantization = {{1.0f}, {0}, 0};
    }
    graph.inputs = {0};
    graph.outputs = {3};
    const Operator ops[] = {Operator::kVector, Operator::kPool, Operator::kEdge};
    for (uint32_t i = 0; i < 3; ++i) {
        Node node;
        node.op = ops[i];
        node.inputs = {i};
        node.outputs = {i + 1};
        graph.nodes.push_back(node);
    }
    ASSERT_NO_THROW(verify(graph));
    const auto out =
        naive_run(graph, {{1, -2, 100, 7}}, NaiveRounding::kSingle, {}, {{3, {9, 8, 7, 6, 5}}});
    EXPECT_EQ(out[0], (Int8s{2, -4, 127}));
    EXPECT_EQ(out[1], (Int8s{2, -4}));
    EXPECT_EQ(out[2], (Int8s{9, 8, 7, 6, 5}));
    graph.tensors[2].shape = {4};
    EXPECT_THROW(verify(graph), UserError) << "no more than there are";
}

}  // namespace
}  // namespace tandem::testbench
