// SPDX-License-Identifier: Apache-2.0
// Networks in FLOAT32 as a bf16 array computes them.
#include "compiler/graph/narrow.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "compiler/graph/operators.h"

namespace tandem::testbench {
namespace {

using namespace compiler;

Tensor floats(const std::string& name, Shape shape, std::vector<float> values = {}) {
    Tensor tensor;
    tensor.name = name;
    tensor.shape = std::move(shape);
    tensor.type = ElementType::kFloat32;
    tensor.is_constant = !values.empty();
    if (values.empty()) return tensor;
    std::vector<uint8_t> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    tensor.set_bytes(std::move(bytes));
    return tensor;
}

Node node(Operator op, std::vector<TensorId> inputs, TensorId output) {
    Node result;
    result.op = op;
    result.inputs = std::move(inputs);
    result.outputs = {output};
    return result;
}

/// x -> FULLY_CONNECTED -> h -> RESHAPE -> r -> SOFTMAX -> y
Graph chain() {
    Graph graph;
    graph.file = "chain";
    // 1 + 2^-8 is a tie, 1 + 3 * 2^-8 is one, too: both go to the even neighbour.
    graph.tensors = {floats("x", {1, 2}),
                     floats("w", {2, 2}, {1 + 0x1p-8f, 1 + 3 * 0x1p-8f, -0.1f, 0x1p-130f}),
                     floats("b", {2}, {0.1f, 0.2f}),
                     floats("h", {1, 2}),
                     floats("r", {2}),
                     floats("y", {2})};
    graph.nodes = {node(Operator::kFullyConnected, {0, 1, 2}, 3), node(Operator::kReshape, {3}, 4),
                   node(Operator::kSoftmax, {4}, 5)};
    graph.inputs = {0};
    graph.outputs = {5};
    return graph;
}

std::vector<Operator> operators_of(const Graph& graph) {
    std::vector<Operator> result;
    for (const Node& one : graph.nodes) result.push_back(one.op);
    return result;
}

TEST(Narrow, PutsActivationsIntoBf16AndLeavesTheEnds) {
    const Graph graph = narrow(chain());
    using enum Operator;
    EXPECT_EQ(operators_of(graph),
              (std::vector<Operator>{kCast, kFullyConnected, kReshape, kSoftmax}));
    const auto type = [&](TensorId id) { return graph.tensors[id].type; };
    EXPECT_EQ(type(graph.inputs[0]), ElementType::kFloat32);
    for (size_t i = 0; i < 3; ++i)
        EXPECT_EQ(type(graph.nodes[i].outputs[0]), ElementType::kBf16) << i;
    EXPECT_EQ(type(graph.outputs[0]), ElementType::kFloat32) << "written without rounding";
    EXPECT_EQ(type(graph.nodes[1].inputs[2]), ElementType::kFloat32) << "the bias";
    EXPECT_EQ(graph.nodes[1].inputs[0], graph.nodes[0].outputs[0]);
}

TEST(Narrow, RoundsWeightsToEven) {
    const Graph graph = narrow(chain());
    const Tensor& weights = graph.input(graph.nodes[1], 1);
    ASSERT_EQ(weights.type, ElementType::kBf16);
    std::vector<uint16_t> words(4);
    ASSERT_EQ(weights.bytes().size(), 8u);
    std::memcpy(words.data(), weights.bytes().data(), 8);
    EXPECT_EQ(words, (std::vector<uint16_t>{0x3f80, 0x3f82, 0xbdcd, 0x0000}));
}

TEST(Narrow, CastsOutputsThatAreReadOrReshaped) {
    using enum Operator;
    Graph graph = chain();
    graph.outputs = {3, 5};
    Graph narrowed = narrow(graph);
    EXPECT_EQ(operators_of(narrowed),
              (std::vector<Operator>{kCast, kFullyConnected, kCast, kReshape, kSoftmax}));
    EXPECT_EQ(narrowed.outputs, graph.outputs);
    EXPECT_EQ(narrowed.nodes[2].inputs[0], narrowed.nodes[3].inputs[0]);
    graph = chain();
    graph.nodes.pop_back();
    graph.outputs = {4};
    narrowed = narrow(graph);
    EXPECT_EQ(operators_of(narrowed),
              (std::vector<Operator>{kCast, kFullyConnected, kReshape, kCast}));
    EXPECT_EQ(narrowed.tensors[narrowed.outputs[0]].type, ElementType::kFloat32);
}

TEST(Narrow, LeavesWhatIsNarrow) {
    const Graph once = narrow(chain());
    EXPECT_TRUE(equal(narrow(once), once));
    Graph int8 = chain();
    int8.nodes = {int8.nodes[1]};
    int8.inputs = {3};
    int8.outputs = {4};
    for (const TensorId id : {3u, 4u}) {
        int8.tensors[id].type = ElementType::kInt8;
        int8.tensors[id].quantization = {{1.0f}, {0}, 0};
    }
    EXPECT_TRUE(equal(narrow(int8), int8));
}

}  // namespace
}  // namespace tandem::testbench
