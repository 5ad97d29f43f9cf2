// SPDX-License-Identifier: Apache-2.0
// Graphs as text: that writing and reading give the same graph, and how mistakes are told.
#include "compiler/graph/text.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "compiler/graph/operators.h"
#include "compiler/graph/seed.h"
#include "compiler/import/import.h"
#include "compiler/pipeline.h"
#include "testbench/compiler/model_data.h"
#include "testbench/compiler/random_graph.h"
#include "testbench/compiler/tables/damage.h"
#include "testbench/compiler/test_chips.h"
#include "testbench/support/source_tree.h"

namespace tandem::testbench {
namespace {

using namespace compiler;

const std::string kText =
    "tgraph 1\n"
    "name \"a \\\"net\\\"\"\n"
    "# an image and its sums\n"
    "tensor %0 \"in\" INT8 1x2x2x1 layout=NHWC scales=0.5 zero_points=3\n"
    "constant %1 \"w\" INT8 2x1x1x1 memory=DEVICE scales=0.25,0.1\n"
    "bytes 01\n"
    "bytes ff\n"
    "tensor %2 \"out\" INT8 1x3x1x2 layout=NHWC scales=1e-05\n"
    "node 4 CONV_2D \"c\" inputs=%0,%1 outputs=%2 stride=1,2 padding=0,0,1,0 activation=RELU6 "
    "repeat=7 where=\"a b.csv:12\"\n"
    "inputs %0\n"
    "outputs %2\n";

std::string with(const std::string& old_text, const std::string& new_text) {
    std::string text = kText;
    const size_t at = text.find(old_text);
    EXPECT_NE(at, std::string::npos) << "the test's text has no \"" << old_text << '"';
    return text.replace(at, old_text.size(), new_text);
}

TEST(GraphText, IsAGraph) {
    const Graph graph = parse_graph(kText, "a.tgraph");
    EXPECT_EQ(graph.name, "a \"net\"");
    const Node& node = graph.nodes.at(0);
    EXPECT_EQ(node.index, 4u);
    EXPECT_EQ(node.where, "a b.csv:12");
    EXPECT_EQ(node.repeat, 7u);
    EXPECT_EQ(activation(node), Activation::kRelu6);
    EXPECT_EQ(window(graph, node), (WindowAttributes{1, 1, 1, 2, 1, 1, 0, 0, 1, 0}));
    EXPECT_EQ(graph.input(node, 1).bytes(), (std::vector<uint8_t>{1, 0xff}));
    EXPECT_EQ(graph.input(node, 1).memory, Memory::kDevice);
    EXPECT_EQ(graph.input(node, 1).quantization.scales, (std::vector<float>{0.25f, 0.1f}));
    EXPECT_EQ(graph.input(node, 0).zero_point(), 3);
}

TEST(GraphText, IsWrittenAsItIsRead) {
    const Graph graph = parse_graph(kText, "a.tgraph");
    std::string expected = kText;
    expected.erase(expected.find("# an"), expected.find("tensor %0") - expected.find("# an"));
    expected.replace(expected.find("01\nbytes ff"), 11, "01ff");
    EXPECT_EQ(to_text(graph, DumpBytes::kAll), expected);
}

TEST(GraphText, IsThatOfTheDocumentation) {
    const auto page = base::read_file(testbench::source_dir() / "docs/workloads.md");
    const std::string text(page.begin(), page.end());
    const size_t begin = text.find("tgraph 1\n");
    ASSERT_NE(begin, text.npos);
    const Graph graph = parse_graph(text.substr(begin, text.find("```", begin) - begin), "page");
    EXPECT_EQ(graph.input(graph.nodes.at(0), 1).bytes().back(), 0x0d);
    // Every attribute of every operator is in its table.
    for (const OperatorInfo& info : operators())
        for (const AttributeSpec& spec : info.attributes)
            EXPECT_NE(text.find('`' + std::string(spec.name) + '`'), text.npos) << spec.name;
}

void expect_round_trip(const Graph& graph) {
    const std::string text = to_text(graph, DumpBytes::kAll);
    const Graph again = parse_graph(text, "dump");
    EXPECT_TRUE(equal(again, graph));
    EXPECT_EQ(to_text(again, DumpBytes::kAll), text);
    // Without bytes all but them is the same.
    const Graph bare = parse_graph(to_text(graph, DumpBytes::kNone), "dump");
    Graph emptied = graph;
    for (Tensor& tensor : emptied.tensors) tensor.data.reset();
    EXPECT_TRUE(equal(bare, emptied));
}

TEST(GraphText, KeepsRandomGraphs) {
    for (uint32_t seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        SCOPED_TRACE(seed);
        expect_round_trip(random_graph(random));
    }
}

TEST(GraphText, KeepsNetworks) {
    TANDEM_NEEDS_MODELS();
    for (const ModelFiles& files : kInt8Models) {
        SCOPED_TRACE(files.name);
        expect_round_trip(load_model(files).graph);
    }
}

TEST(GraphText, IsReadFromItsFile) {
    const testbench::ScratchFile file("graph.tgraph", "");
    std::mt19937 random(5);
    const Graph graph = random_graph(random);
    write_graph(file.path(), graph, DumpBytes::kAll);
    EXPECT_TRUE(equal(import_model(file.path()), graph));
}

TEST(Equal, SeesEveryPart) {
    const Graph graph = parse_graph(kText, "a");
    for (const auto& [from, to] : std::initializer_list<std::pair<const char*, const char*>>{
             {"a \\\"net", "b \\\"net"},
             {"\"in\"", "\"im\""},
             {"scales=0.5", "scales=0.6"},
             {"zero_points=3", "zero_points=4"},
             {" memory=DEVICE", ""},
             {"bytes ff", "bytes fe"},
             {"bytes 01\nbytes ff\n", ""},
             {"node 4", "node 5"},
             {"\"c\"", "\"d\""},
             {"RELU6", "RELU"},
             {" activation=RELU6", ""},
             {"repeat=7", "repeat=8"},
             {"csv:12", "csv:13"}})
        EXPECT_FALSE(equal(parse_graph(with(from, to), "a"), graph)) << from;
    EXPECT_TRUE(equal(parse_graph(with("stride=1,2", "stride=1,2 dilation=1,1"), "a"), graph))
        << "a default is the same as nothing";
}

struct Mistake {
    const char* name;
    const char* old_text;
    const char* new_text;
    const char* message;
};

void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.name; }

class GraphTextMistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(GraphTextMistakes, AreToldWithLineOrNode) {
    try {
        parse_graph(with(GetParam().old_text, GetParam().new_text), "a.tgraph");
        FAIL() << "expected: " << GetParam().message;
    } catch (const UserError& error) {
        EXPECT_NE(std::string(error.what()).find(GetParam().message), std::string::npos)
            << error.what();
    }
}

INSTANTIATE_TEST_SUITE_P(
    Each, GraphTextMistakes,
    ::testing::Values(
        Mistake{"Version", "tgraph 1", "tgraph 2", "a.tgraph:1: heading: expected \"tgraph 1\""},
        Mistake{"Word", "# an", "an", "a.tgraph:3: line: expected tensor, constant"},
        Mistake{"Id", "%2 \"out\"", "%3 \"out\"",
                "a.tgraph:8: tensor: expected %2, the next one, found %3"},
        Mistake{"Quote", "\"in\" INT8 1x2x2x1 layout=NHWC", "\"in", "expected a closing quote"},
        Mistake{"Escape", "a \\\"net", "a \\xg0 net",
                "a.tgraph:2: name: expected \\\", \\\\ or \\x and two digits"},
        Mistake{"Type", "INT8 1x2x2x1", "INT9 1x2x2x1", "a.tgraph:4: type: expected an element"},
        Mistake{"Shape", "1x2x2x1", "1x2xbx1", "shape: expected a whole number, found \"b\""},
        Mistake{"NegativeShape", "1x2x2x1", "1x-2x2x1",
                "a.tgraph: tensor 'in': expected a shape of positive extents, found 1x-2x2x1"},
        Mistake{"HugeShape", "1x2x2x1", "9999999x9999999x999999999x1", "at most 2^53 elements"},
        Mistake{"Key", "memory=DEVICE", "place=DEVICE", "expected layout, memory, scales"},
        Mistake{"KeyTwice", "memory=DEVICE", "memory=DEVICE memory=DEVICE",
                "memory: expected the key once, found it twice"},
        Mistake{"Memory", "memory=DEVICE", "memory=MOON", "memory: expected DEVICE, found"},
        Mistake{"Scale", "scales=0.5", "scales=half", "scales: expected a number, found \"half\""},
        Mistake{"ScaleCount", "scales=0.25,0.1", "scales=0.25,0.1,0.1",
                "tensor 'w': expected one scale or one for each index of its dimension, found 3"},
        Mistake{"OddDigits", "bytes 01", "bytes 012", "a.tgraph:6: bytes: expected an even number"},
        Mistake{"Digits", "bytes 01", "bytes 0g", "bytes: expected digits 0 to 9 and a to f"},
        Mistake{"TooFewBytes", "bytes ff\n", "",
                "tensor 'w': expected 2 bytes for shape 2x1x1x1, found 1"},
        Mistake{"BytesElsewhere",
                "bytes 01\nbytes ff\ntensor %2 \"out\" INT8 1x3x1x2 layout=NHWC "
                "scales=1e-05\n",
                "tensor %2 \"out\" INT8 1x3x1x2 layout=NHWC scales=1e-05\nbytes 01\n",
                "bytes: expected them behind a constant"},
        Mistake{"Operator", "CONV_2D", "CONV_9D", "a.tgraph:9: operator: expected one of CONV_2D"},
        Mistake{"Attribute", "stride=1,2", "strides=1,2",
                "strides: expected an attribute of CONV_2D, found an unknown key"},
        Mistake{"AttributeCount", "stride=1,2", "stride=1,2,3",
                "a b.csv:12: node 4 (CONV_2D 'c'): stride: expected 2 numbers, found 1,2,3"},
        Mistake{"AttributeRange", "stride=1,2", "stride=0,2",
                "stride: expected at least 1, found 0"},
        Mistake{"Choice", "RELU6", "TANH", "activation: expected one of NONE, RELU"},
        Mistake{"Padding", "padding=0,0,1,0", "padding=0,0,2,0",
                "output 'out': expected shape 1x4x1x2, found 1x3x1x2"},
        Mistake{"Layout", "1x2x2x1 layout=NHWC", "1x2x2x1",
                "input 'in': expected layout NHWC, found ROW_MAJOR"},
        Mistake{"Tensor", "inputs=%0,%1", "inputs=%0,%9",
                "inputs: expected a tensor of the lines above, found %9"},
        Mistake{"TensorSyntax", "inputs=%0,%1", "inputs=0,1", "inputs: expected tensors as in %3"},
        Mistake{"NoOutputs", "outputs %2\n", "", "a.tgraph: graph outputs: expected 1 or more"},
        Mistake{"TwoInputs", "inputs %0\n", "inputs %0\ninputs %0\n",
                "inputs: expected one line of them, found two"},
        Mistake{"Repeat", "repeat=7", "repeat=0", "repeat: expected 1 to 4294967295, found 0"},
        Mistake{"More", "outputs %2", "outputs %2 %1", "a.tgraph:11: line: expected its end"}),
    [](const auto& info) { return info.param.name; });

/// Every damage ends in a graph or in a UserError, and a graph can be compiled or is refused.
TEST(GraphTextMistakes, AreTheUsersWhateverIsDamaged) {
    testbench::Seeded random(7);
    std::mt19937 graphs(3);
    std::vector<std::string> texts = {kText};
    while (texts.size() < 12) {
        const std::string text = to_text(random_graph(graphs), DumpBytes::kAll);
        if (text.size() < 6000) texts.push_back(text);
    }
    int accepted = 0;
    for (int i = 0; i < 20000; ++i) {
        const std::string text = testbench::damaged(texts[random.below(texts.size())], random,
                                                    "0123456789abcfx%,=\"\\-. \n#INTRELU_D");
        try {
            const Graph graph = parse_graph(text, "damaged");
            ++accepted;
            if (i % 10 == 0) compile(graph, test_chip(8, 8));
        } catch (const UserError&) {
        } catch (const std::exception& error) {
            FAIL() << error.what() << ", in:\n" << text;
        }
    }
    EXPECT_GT(accepted, 400) << "the damage hits values, too";
}

TEST(GraphText, WithoutBytesIsNotCompiledWithThem) {
    Graph graph = parse_graph(to_text(parse_graph(kText, "a"), DumpBytes::kNone), "a");
    EXPECT_FALSE(graph.input(graph.nodes[0], 1).has_data());
    seed_constants(graph, 1);
    EXPECT_TRUE(graph.input(graph.nodes[0], 1).has_data());
}

}  // namespace
}  // namespace tandem::testbench
