// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/validate.h"

#include <gtest/gtest.h>

#include <functional>

#include "arch/error.h"
#include "testbench/compiler/random_graph.h"

namespace tandem::testing {
namespace {

using namespace compiler;

Tensor activation(const char* name, std::vector<int32_t> shape) {
    return {.name = name,
            .shape = std::move(shape),
            .type = DataType::kInt8,
            .quantization = {{0.5f}, {0}, 0},
            .is_constant = false,
            .data = {}};
}

/// One operator from tensors a (1x4x4x2) and b (the same) to out.
Graph one_operator(Operator op, Attributes attributes, std::vector<int32_t> out_shape,
                   std::vector<TensorId> inputs = {0}) {
    Graph graph;
    graph.file = "test";
    graph.tensors = {activation("a", {1, 4, 4, 2}), activation("b", {1, 4, 4, 2}),
                     activation("out", std::move(out_shape))};
    Node node;
    node.op = op;
    node.name = "out";
    node.inputs = std::move(inputs);
    node.outputs = {2};
    node.attributes = attributes;
    graph.nodes = {node};
    graph.inputs = {0, 1};
    graph.outputs = {2};
    return graph;
}

std::string error_of(const Graph& graph) {
    try {
        validate(graph);
    } catch (const UserError& error) {
        return error.what();
    }
    return "no error";
}

TEST(Validate, AcceptsProperOperators) {
    EXPECT_EQ(error_of(one_operator(Operator::kAdd, AddAttributes{}, {1, 4, 4, 2}, {0, 1})),
              "no error");
    EXPECT_EQ(error_of(one_operator(Operator::kMaxPool2d, PoolAttributes{}, {1, 4, 4, 2})),
              "no error");
    EXPECT_EQ(error_of(one_operator(Operator::kMean, MeanAttributes{true}, {1, 1, 1, 2})),
              "no error");
    EXPECT_EQ(error_of(one_operator(Operator::kReshape, ReshapeAttributes{}, {8, 4})), "no error");
}

TEST(Validate, RejectsSumsOfDifferentShapes) {
    auto graph = one_operator(Operator::kAdd, AddAttributes{}, {1, 4, 4, 2}, {0, 1});
    graph.tensors[1].shape = {1, 1, 1, 2};
    EXPECT_EQ(error_of(graph),
              "test: node 0 (ADD 'out'): input 'b': expected shape 1x4x4x2, found 1x1x1x2");
}

TEST(Validate, RejectsAConstantOperand) {
    auto graph = one_operator(Operator::kAdd, AddAttributes{}, {1, 4, 4, 2}, {0, 1});
    graph.tensors[1].is_constant = true;
    EXPECT_NE(error_of(graph).find("input 'b': expected an activation, found a constant"),
              std::string::npos);
}

TEST(Validate, RejectsAPoolThatRescales) {
    auto graph = one_operator(Operator::kMaxPool2d, PoolAttributes{}, {1, 4, 4, 2});
    graph.tensors[2].quantization.scales = {0.25f};
    EXPECT_NE(error_of(graph).find("the input's scale and zero point"), std::string::npos);
}

TEST(Validate, RejectsAReshapeThatLosesElements) {
    EXPECT_NE(error_of(one_operator(Operator::kReshape, ReshapeAttributes{}, {31}))
                  .find("expected 32 elements, found 31"),
              std::string::npos);
}

TEST(Validate, RejectsASoftmaxOfAnotherOutputScale) {
    auto graph = one_operator(Operator::kSoftmax, SoftmaxAttributes{}, {1, 4, 4, 2});
    EXPECT_NE(error_of(graph).find("scale 1/256 and zero point -128"), std::string::npos);
    graph.tensors[2].quantization = {{1.0f / 256}, {-128}, 0};
    EXPECT_EQ(error_of(graph), "no error");
    graph.nodes[0].attributes = SoftmaxAttributes{-1.0f};
    EXPECT_NE(error_of(graph).find("beta: expected a positive number"), std::string::npos);
}

TEST(Validate, RejectsAMeanOfAnotherShape) {
    EXPECT_NE(error_of(one_operator(Operator::kMean, MeanAttributes{false}, {1, 1, 1, 2}))
                  .find("expected shape 1x2"),
              std::string::npos);
}

TEST(Validate, RejectsUsesBeforeTheOrigin) {
    auto graph = one_operator(Operator::kAdd, AddAttributes{}, {1, 4, 4, 2}, {0, 1});
    graph.inputs = {0};
    EXPECT_NE(error_of(graph).find("expected inputs computed before it, found tensor 'b'"),
              std::string::npos);
}

TEST(Validate, RejectsATensorWithTwoOrigins) {
    auto graph = one_operator(Operator::kReshape, ReshapeAttributes{}, {1, 4, 4, 2});
    graph.nodes.push_back(graph.nodes[0]);
    EXPECT_NE(error_of(graph).find("an output of its own"), std::string::npos);
}

TEST(OutputExtent, FollowsTflitesRules) {
    EXPECT_EQ(output_extent(10, 3, 2, 1, Padding::kSame), 5);
    EXPECT_EQ(output_extent(10, 3, 2, 1, Padding::kValid), 4);
    EXPECT_EQ(output_extent(10, 3, 1, 4, Padding::kValid), 2);
    EXPECT_EQ(output_extent(3, 3, 5, 1, Padding::kValid), 1);
    EXPECT_EQ(output_extent(2, 3, 1, 1, Padding::kValid), 0);
}

TEST(RandomGraphs, AreValid) {
    for (uint32_t seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        EXPECT_NO_THROW(random_graph(random)) << "seed " << seed;
    }
}

}  // namespace
}  // namespace tandem::testing
