// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/verify.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "compiler/graph/operators.h"
#include "testbench/compiler/random_graph.h"

namespace tandem::testbench {
namespace {

using namespace compiler;

Tensor activation(const char* name, Shape shape) {
    Tensor tensor;
    tensor.name = name;
    tensor.layout = shape.size() == 4 ? Layout::kNhwc : Layout::kRowMajor;
    tensor.shape = std::move(shape);
    tensor.quantization = {{0.5f}, {0}, 0};
    return tensor;
}

/// One operator from tensors a (1x4x4x2) and b (the same) to out.
Graph one_operator(Operator op, Attributes attributes, Shape out_shape,
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
    node.attributes = std::move(attributes);
    graph.nodes = {node};
    graph.inputs = {0, 1};
    graph.outputs = {2};
    return graph;
}

std::string error_of(const Graph& graph) {
    try {
        verify(graph);
    } catch (const UserError& error) {
        return error.what();
    }
    return "no error";
}

TEST(Verify, AcceptsProperOperators) {
    EXPECT_EQ(error_of(one_operator(Operator::kAdd, {}, {1, 4, 4, 2}, {0, 1})), "no error");
    EXPECT_EQ(error_of(one_operator(Operator::kMaxPool2d, {}, {1, 4, 4, 2})), "no error");
    EXPECT_EQ(error_of(one_operator(Operator::kMean, {{"keep_dims", int64_t{1}}}, {1, 1, 1, 2})),
              "no error");
    EXPECT_EQ(error_of(one_operator(Operator::kReshape, {}, {8, 4})), "no error");
}

TEST(Verify, RejectsSumsOfDifferentShapes) {
    auto graph = one_operator(Operator::kAdd, {}, {1, 4, 4, 2}, {0, 1});
    graph.tensors[1].shape = {1, 1, 1, 2};
    EXPECT_EQ(error_of(graph),
              "test: node 0 (ADD 'out'): input 'b': expected shape 1x4x4x2, found 1x1x1x2");
}

// The program would write it once.
TEST(Verify, RejectsAnOutputGivenTwice) {
    auto graph = one_operator(Operator::kMaxPool2d, {}, {1, 4, 4, 2});
    graph.outputs = {2, 2};
    EXPECT_EQ(error_of(graph), "test: tensor 'out': expected one graph output, found two");
}

TEST(Verify, RejectsAConstantOperand) {
    auto graph = one_operator(Operator::kAdd, {}, {1, 4, 4, 2}, {0, 1});
    graph.tensors[1].is_constant = true;
    EXPECT_NE(error_of(graph).find("input 'b': expected an activation, found a constant"),
              std::string::npos);
}

TEST(Verify, RejectsAPoolThatRescales) {
    auto graph = one_operator(Operator::kMaxPool2d, {}, {1, 4, 4, 2});
    graph.tensors[2].quantization.scales = {0.25f};
    EXPECT_NE(error_of(graph).find("the input's scale and zero point"), std::string::npos);
}

TEST(Verify, RejectsAReshapeThatLosesElements) {
    EXPECT_NE(
        error_of(one_operator(Operator::kReshape, {}, {31})).find("expected 32 elements, found 31"),
        std::string::npos);
}

TEST(Verify, RejectsASoftmaxOfAnotherOutputScale) {
    auto graph = one_operator(Operator::kSoftmax, {}, {1, 4, 4, 2});
    EXPECT_NE(error_of(graph).find("scale 1/256 and zero point -128"), std::string::npos);
    graph.tensors[2].quantization = {{1.0f / 256}, {-128}, 0};
    EXPECT_EQ(error_of(graph), "no error");
    graph.nodes[0].attributes["beta"] = -1.0f;
    EXPECT_NE(error_of(graph).find("beta: expected a positive number"), std::string::npos);
}

TEST(Verify, RejectsAMeanOfAnotherShape) {
    EXPECT_NE(error_of(one_operator(Operator::kMean, {}, {1, 1, 1, 2})).find("expected shape 1x2"),
              std::string::npos);
}

TEST(Verify, RejectsUsesBeforeTheOrigin) {
    auto graph = one_operator(Operator::kAdd, {}, {1, 4, 4, 2}, {0, 1});
    graph.inputs = {0};
    EXPECT_NE(error_of(graph).find("expected inputs computed before it, found tensor 'b'"),
              std::string::npos);
}

TEST(Verify, RejectsATensorWithTwoOrigins) {
    auto graph = one_operator(Operator::kReshape, {}, {1, 4, 4, 2});
    graph.nodes.push_back(graph.nodes[0]);
    EXPECT_NE(error_of(graph).find("an output of its own"), std::string::npos);
}

/// A product of 1x4x4x2, taken as rows of 2, with 3 columns.
Graph product(ElementType input, ElementType weights, ElementType output) {
    Graph graph = one_operator(Operator::kFullyConnected, {}, {16, 3}, {0, 1});
    Tensor& w = graph.tensors[1];
    w.shape = {3, 2};
    w.layout = Layout::kRowMajor;
    w.is_constant = true;
    graph.tensors[0].type = input;
    w.type = weights;
    graph.tensors[2].type = output;
    for (Tensor& tensor : graph.tensors)
        if (input != ElementType::kInt8) tensor.quantization = {};
    graph.inputs = {0};
    return graph;
}

using enum ElementType;

TEST(VerifyTypes, AreThoseOfTheTable) {
    EXPECT_EQ(error_of(product(kInt8, kInt8, kInt8)), "no error");
    EXPECT_EQ(error_of(product(kBf16, kBf16, kBf16)), "no error");
    EXPECT_EQ(error_of(product(kInt16, kInt8, kInt16)), "no error");
    EXPECT_NE(error_of(product(kBf16, kInt8, kBf16)).find("expected BFLOAT16, found INT8"),
              std::string::npos);
    EXPECT_EQ(error_of(product(kBf16, kBf16, kFloat32)), "no error") << "not rounded";
    EXPECT_NE(error_of(product(kInt16, kInt16, kInt16)).find("expected INT8, found INT16"),
              std::string::npos);
    EXPECT_EQ(error_of(product(kFloat32, kFloat32, kFloat32)), "no error") << "to be narrowed";
    EXPECT_NE(error_of(product(kFloat32, kFloat32, kBf16)).find("expected FLOAT32, found BFLOAT16"),
              std::string::npos);
    EXPECT_NE(error_of(product(kInt8, kInt8, kFloat32)).find("expected INT8, found FLOAT32"),
              std::string::npos);
    EXPECT_NE(error_of(product(kInt32, kInt32, kInt32)).find("found INT32"), std::string::npos);
}

TEST(VerifyTypes, HaveNoScalesBesideBf16) {
    Graph graph = product(kBf16, kBf16, kBf16);
    graph.tensors[2].quantization = {{1.0f}, {0}, 0};
    EXPECT_NE(error_of(graph).find("output: expected no scale for BFLOAT16, found 1 scales"),
              std::string::npos);
    Tensor bias;
    bias.name = "bias";
    bias.shape = {3};
    bias.type = kInt32;
    bias.is_constant = true;
    graph = product(kBf16, kBf16, kBf16);
    graph.nodes[0].inputs.push_back(graph.add(bias));
    EXPECT_NE(error_of(graph).find("bias 'bias': expected FLOAT32, found INT32"),
              std::string::npos);
    bias.type = kFloat32;
    graph.tensors.back() = bias;
    EXPECT_EQ(error_of(graph), "no error");
    graph.tensors.back().quantization = {{1.0f}, {0}, 0};
    EXPECT_NE(error_of(graph).find("bias 'bias': expected no scales, found 1"), std::string::npos);
}

TEST(VerifyTypes, OfCastsAreFloatOnBothSides) {
    Graph graph = one_operator(Operator::kCast, {}, {1, 4, 4, 2});
    graph.inputs = {0};
    for (Tensor& tensor : graph.tensors) tensor.quantization = {};
    const auto error = [&](ElementType in, ElementType out) {
        graph.tensors[graph.nodes[0].inputs[0]].type = in;
        graph.tensors[graph.nodes[0].outputs[0]].type = out;
        return error_of(graph);
    };
    EXPECT_EQ(error(kFloat32, kBf16), "no error");
    EXPECT_EQ(error(kBf16, kFloat32), "no error");
    EXPECT_NE(error(kInt16, kBf16).find("expected BFLOAT16, FLOAT32, found INT16"),
              std::string::npos);
    EXPECT_NE(error(kFloat32, kInt32).find("expected FLOAT32, found INT32"), std::string::npos);
}

TEST(VerifyTypes, HaveNoValuesWhereOnlyTheTimeIsDefined) {
    Graph graph = product(kInt16, kInt8, kInt16);
    EXPECT_EQ(first_without_values(graph), &graph.nodes[0]);
    graph.tensors[1].set_bytes(std::vector<uint8_t>(6));
    EXPECT_NE(error_of(graph).find("weights 'b': expected no values: of INT16 activations only"),
              std::string::npos);
    const Graph bf16 = product(kBf16, kBf16, kBf16);
    EXPECT_EQ(first_without_values(bf16), nullptr);
}

TEST(VerifyTypes, OfBytesAreAsLongAsTheShape) {
    Graph graph = product(kBf16, kBf16, kBf16);
    graph.tensors[1].set_bytes(std::vector<uint8_t>(6));
    EXPECT_NE(error_of(graph).find("tensor 'b': expected 12 bytes for shape 3x2, found 6"),
              std::string::npos);
    graph.tensors[1].set_bytes(std::vector<uint8_t>(12));
    EXPECT_EQ(error_of(graph), "no error");
    graph.tensors[0].set_bytes(std::vector<uint8_t>(64));
    EXPECT_NE(error_of(graph).find("expected values of constants alone"), std::string::npos);
}

TEST(VerifyAttributes, AreThoseOfTheOperator) {
    Graph graph = one_operator(Operator::kMaxPool2d, {}, {1, 4, 4, 2});
    graph.nodes[0].attributes["dilation"] = std::vector<int64_t>{1, 1};
    EXPECT_NE(error_of(graph).find("attribute dilation: expected an attribute of the operator"),
              std::string::npos);
    graph.nodes[0].attributes = {{"stride", int64_t{1}}};
    EXPECT_NE(error_of(graph).find("stride: expected a value of the kind"), std::string::npos);
}

TEST(VerifyPadding, IsSmallerThanAPoolsFilter) {
    Graph graph = one_operator(Operator::kMaxPool2d, {}, {1, 5, 4, 2});
    graph.nodes[0].attributes["padding"] = std::vector<int64_t>{1, 0, 0, 0};
    EXPECT_NE(error_of(graph).find("padding: expected less than the filter on each side, found "
                                   "1,0,0,0"),
              std::string::npos);
    graph.nodes[0].attributes["filter"] = std::vector<int64_t>{2, 1};
    graph.tensors[2].shape = {1, 4, 4, 2};
    EXPECT_EQ(error_of(graph), "no error");
}

TEST(VerifyImages, AreNhwc) {
    Graph graph = one_operator(Operator::kMaxPool2d, {}, {1, 4, 4, 2});
    graph.tensors[0].layout = Layout::kRowMajor;
    EXPECT_NE(error_of(graph).find("input 'a': expected layout NHWC, found ROW_MAJOR"),
              std::string::npos);
    graph.tensors[0].shape = {32};
    graph.tensors[0].layout = Layout::kNhwc;
    EXPECT_NE(error_of(graph).find("4 dimensions for layout NHWC"), std::string::npos);
}

TEST(VerifySizes, StayWithin53Bits) {
    Graph graph = product(kInt8, kInt8, kInt8);
    graph.nodes[0].repeat = 0xffffffff;
    EXPECT_EQ(error_of(graph), "no error");
    graph.tensors[0].layout = Layout::kRowMajor;
    graph.tensors[0].shape = {int64_t{1} << 22, 2};
    graph.tensors[2].shape = {int64_t{1} << 22, 3};
    EXPECT_NE(error_of(graph).find("at most 2^53 MACs and elements in a layer"), std::string::npos);
    graph.tensors[0].shape = {int64_t{1} << 40, int64_t{1} << 40, int64_t{1} << 40};
    EXPECT_NE(error_of(graph).find("tensor 'a': expected at most 2^53 elements"),
              std::string::npos);
}

TEST(VerifyMessages, NameTheLineWhereItIsKnown) {
    Graph graph = one_operator(Operator::kReshape, {}, {31});
    graph.nodes[0].where = "net.csv:12";
    EXPECT_EQ(error_of(graph).find("net.csv:12: node 0 (RESHAPE 'out'): output: expected 32"), 0u);
}

TEST(OperatorTable, StandsInTheOrderOfTheEnumeration) {
    for (size_t i = 0; i < operators().size(); ++i) {
        EXPECT_EQ(static_cast<size_t>(operators()[i].op), i) << operators()[i].name;
        EXPECT_EQ(find_operator(operators()[i].name), &operators()[i]);
    }
    EXPECT_EQ(find_operator("LOGISTIC"), nullptr);
}

TEST(OutputExtent, FollowsTflitesRules) {
    EXPECT_EQ(output_extent(10, 3, 2, 1, same_padding(10, 3, 2, 1)), 5);
    EXPECT_EQ(output_extent(10, 3, 2, 1, 0), 4);
    EXPECT_EQ(output_extent(10, 3, 1, 4, 0), 2);
    EXPECT_EQ(output_extent(3, 3, 5, 1, 0), 1);
    EXPECT_EQ(output_extent(2, 3, 1, 1, 0), 0);
    // SAME: as many outputs as strides, whatever the kernel.
    for (int64_t input = 1; input < 12; ++input)
        for (int64_t kernel = 1; kernel < 6; ++kernel)
            for (int64_t stride = 1; stride < 5; ++stride)
                for (int64_t dilation = 1; dilation < 4; ++dilation)
                    EXPECT_EQ(output_extent(input, kernel, stride, dilation,
                                            same_padding(input, kernel, stride, dilation)),
                              (input + stride - 1) / stride)
                        << input << ' ' << kernel << ' ' << stride << ' ' << dilation;
}

TEST(RandomGraphs, AreValid) {
    for (uint32_t seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        EXPECT_NO_THROW(random_graph(random)) << "seed " << seed;
    }
}

}  // namespace
}  // namespace tandem::testbench
