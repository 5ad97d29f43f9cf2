// SPDX-License-Identifier: Apache-2.0
// Lists as graphs: that nothing a row says is lost, and what layers whose sizes do not match get.
#include <gtest/gtest.h>

#include "base/error.h"
#include "compiler/graph/text.h"
#include "compiler/graph/verify.h"
#include "compiler/import/import.h"
#include "compiler/import/tables/layers.h"
#include "testbench/compiler/tables/shapes_folder.h"
#include "testbench/support/source_tree.h"

namespace tandem::tables {
namespace {

using namespace compiler;
using testbench::ScratchFile;

const std::string kTopology =
    "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, "
    "Strides,\n";

bool is_layer(const Node& node) {
    return node.op != Operator::kEdge && node.op != Operator::kReshape;
}

/// Every number of every layer, from the shapes alone.
void expect_same_counts(const Workload& list, const Graph& graph) {
    size_t index = 0;
    for (const Node& node : graph.nodes) {
        if (!is_layer(node)) continue;
        ASSERT_LT(index, list.layers.size());
        const Layer& layer = list.layers[index];
        SCOPED_TRACE(layer.where + " " + layer.name);
        const Counts c = counts(graph, node);
        EXPECT_EQ(c.m, layer.m) << "m";
        EXPECT_EQ(c.k, layer.k) << "k";
        EXPECT_EQ(c.n, layer.n) << "n";
        EXPECT_EQ(c.groups, layer.groups) << "groups";
        EXPECT_EQ(c.repeat, layer.repeat) << "repeat";
        EXPECT_EQ(c.passes, layer.passes) << "passes";
        EXPECT_EQ(c.input_elements, layer.input_elements) << "input";
        EXPECT_EQ(c.output_elements, layer.output_elements) << "output";
        EXPECT_EQ(c.elements, layer.elements) << "elements";
        EXPECT_EQ(c.macs(), layer.macs());
        EXPECT_EQ(c.weights(), layer.weights());
        if (node.inputs.size() > 1) {
            EXPECT_EQ(graph.input(node, 1).elements(), layer.weights());
        }
        EXPECT_EQ(node.index, index);
        EXPECT_EQ(node.name, layer.name);
        EXPECT_EQ(node.where, layer.where);
        ++index;
    }
    EXPECT_EQ(index, list.layers.size()) << "layers";
}

void expect_whole(const Workload& list) {
    const Graph graph = graph_of(list);
    expect_same_counts(list, graph);
    EXPECT_EQ(graph.inputs.size(), list.chained ? 1 : list.layers.size());
    EXPECT_EQ(graph.outputs.size(), list.chained ? 1 : list.layers.size());
    const size_t bytes = element_type_bytes(graph.tensors[graph.inputs[0]].type);
    EXPECT_EQ(graph.host_input_bytes, list.host_input_elements * bytes);
    EXPECT_EQ(graph.host_output_bytes, list.host_output_elements * bytes);
    EXPECT_TRUE(equal(parse_graph(to_text(graph, DumpBytes::kAll), "dump"), graph));
    for (const Tensor& tensor : graph.tensors) EXPECT_FALSE(tensor.has_data()) << tensor.name;
    EXPECT_NO_THROW(verify(graph_of(list, ElementType::kBf16)));
}

TEST(ListGraphs, OfPublicTablesLoseNothing) {
    TANDEM_NEEDS_SHAPES();
    size_t tables = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(tandem::testbench::shapes_folder())) {
        if (entry.path().extension() != ".csv" ||
            entry.path().filename() == "scalesim_mlperf_Sentimental_seqLSTM.csv")
            continue;
        SCOPED_TRACE(entry.path().filename());
        expect_whole(load_table(entry.path()));
        expect_whole(load_table(entry.path(), 3));
        ++tables;
    }
    EXPECT_GE(tables, 35u);
}

TEST(ListGraphs, OfApplicationsLoseNothing) {
    size_t applications = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(testbench::source_dir() / "models/applications")) {
        SCOPED_TRACE(entry.path().filename());
        expect_whole(load_application(entry.path()));
        ++applications;
    }
    EXPECT_EQ(applications, 6u);
}

Graph graph_of_text(const std::string& text, const char* name = "list.csv") {
    const ScratchFile file(name, text);
    return import_model(file.path());
}

TEST(ListGraphs, HaveTheImagesOfTheirConvolutions) {
    const ScratchFile file("list.csv", kTopology + "a,224,224,7,7,3,64,2,\n");
    const Graph graph = import_model(file.path(), {.batch = 2});
    const Node& node = graph.nodes.at(0);
    EXPECT_EQ(node.op, Operator::kConv2d);
    EXPECT_EQ(graph.input(node, 0).shape, (Shape{2, 224, 224, 3}));
    EXPECT_EQ(graph.input(node, 0).layout, Layout::kNhwc);
    EXPECT_EQ(graph.input(node, 1).shape, (Shape{64, 7, 7, 3}));
    EXPECT_EQ(graph.output(node).shape, (Shape{2, 110, 110, 64}));
    // SCALE-Sim's image has its padding already; the last window reaches beyond it.
    const int64_t beyond = 109 * 2 + 7 - 224;
    EXPECT_EQ(window(graph, node), (WindowAttributes{7, 7, 2, 2, 1, 1, 0, 0, beyond, beyond}));
}

TEST(ListGraphs, SlideByTheStridesOfTheirRows) {
    const Graph graph = graph_of_text(
        "Layer,IFMAP h,IFMAP w,Filter h,Filter w,Channels,Num Filter,Stride h,Stride w,\n"
        "a,9,8,2,3,2,3,2,4,\n");
    EXPECT_EQ(window(graph, graph.nodes.at(0)),
              (WindowAttributes{2, 3, 2, 4, 1, 1, 0, 0, 4 * 2 + 2 - 9, 2 * 4 + 3 - 8}));
}

TEST(ListGraphs, PadAsTheirTablesSay) {
    const Graph graph = graph_of_text(
        "set,w,h,c,n,k,filter_w,filter_h,pad_w,pad_h,stride_w,stride_h\ns,7,5,2,1,3,3,2,1,2,1,3\n");
    const WindowAttributes w = window(graph, graph.nodes.at(0));
    EXPECT_EQ(w, (WindowAttributes{2, 3, 3, 1, 1, 1, 2, 1, 2, 1}));
    const Graph same = graph_of_text(
        "name: n\nbatch: 2\nactivation_bits: 8\nlayers:\n  - {conv: c, height: 10, width: 9, "
        "channels: 4, filters: 3, kernel: 4, stride: 2, padding: same}\n",
        "list.yaml");
    EXPECT_EQ(window(same, same.nodes.at(0)), (WindowAttributes{4, 4, 2, 2, 1, 1, 1, 1, 1, 2}))
        << "the odd pixel lies below and on the right";
}

TEST(ListGraphs, JoinLayersOfTheSameSizes) {
    const Graph graph =
        graph_of_text(kTopology + "a,8,8,3,3,4,5,1,\nb,6,6,1,1,5,8,1,\nc,1,288,1,288,1,10,1,\n");
    ASSERT_EQ(graph.nodes.size(), 3u);
    EXPECT_EQ(graph.nodes[1].inputs[0], graph.nodes[0].outputs[0]);
    EXPECT_EQ(graph.nodes[2].op, Operator::kFullyConnected);
    EXPECT_EQ(graph.nodes[2].inputs[0], graph.nodes[1].outputs[0]);
    EXPECT_EQ(graph.tensors[graph.inputs.at(0)].memory, Memory::kHost);
}

TEST(ListGraphs, ReshapeWhereTheElementsMatchInOrder) {
    const Graph graph = graph_of_text(kTopology + "a,1,8,1,8,1,12,1,\nb,2,2,1,1,3,8,1,\n");
    ASSERT_EQ(graph.nodes.size(), 3u);
    EXPECT_EQ(graph.nodes[1].op, Operator::kReshape);
    EXPECT_EQ(graph.output(graph.nodes[1]).shape, (Shape{1, 2, 2, 3}));
}

TEST(ListGraphs, NameAnEdgeWhoseSizesDoNotMatch) {
    const Graph graph = graph_of_text(kTopology + "a,8,8,3,3,4,5,1,\nb,8,8,1,1,5,8,1,\n");
    ASSERT_EQ(graph.nodes.size(), 3u);
    const Node& edge = graph.nodes[1];
    EXPECT_EQ(edge.op, Operator::kEdge);
    EXPECT_EQ(edge.index, 1u);
    EXPECT_EQ(edge.inputs[0], graph.nodes[0].outputs[0]);
    EXPECT_EQ(graph.output(edge).name, "b.input (a gives 1x6x6x5)");
    EXPECT_EQ(graph.output(edge).shape, (Shape{1, 8, 8, 5}));
    EXPECT_EQ(counts(graph, edge).elements, 0u);
}

TEST(ListGraphs, OfKernelsLieInDeviceMemory) {
    const Graph graph = graph_of_text("Layer,M,N,K\na,4,5,6\na,4,5,6\n");
    ASSERT_EQ(graph.nodes.size(), 2u);
    for (size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(graph.tensors[graph.inputs.at(i)].memory, Memory::kDevice);
        EXPECT_EQ(graph.tensors[graph.outputs.at(i)].memory, Memory::kDevice);
    }
    EXPECT_NE(graph.input(graph.nodes[0], 1).name, graph.input(graph.nodes[1], 1).name)
        << "seeded values go by names";
}

TEST(ListGraphs, HaveTheTimeAloneOf16Bits) {
    const std::string text =
        "name: n\nbatch: 2\nactivation_bits: 16\nlayers:\n  - {fc: a, inputs: 4, outputs: 6, "
        "groups: 3}\n  - {vector: v, elements: 18}\n";
    const Graph graph = graph_of_text(text, "list.yaml");
    EXPECT_EQ(graph.nodes.at(0).op, Operator::kGroupedMatmul);
    EXPECT_EQ(graph.input(graph.nodes[0], 0).type, ElementType::kInt16);
    EXPECT_EQ(graph.input(graph.nodes[0], 1).type, ElementType::kInt8);
    EXPECT_EQ(graph.output(graph.nodes.at(1)).type, ElementType::kInt16);
    EXPECT_EQ(counts(graph, graph.nodes[0]).passes, 2u);
    EXPECT_EQ(first_without_values(graph), &graph.nodes[0]);
    const ScratchFile file("list.yaml", text);
    const Graph bf16 = import_model(file.path(), {.list_type = ElementType::kBf16});
    EXPECT_EQ(counts(bf16, bf16.nodes[0]).passes, 1u) << "bf16 has 16 bits";
}

TEST(ImportModel, KnowsExtensionsAndBatches) {
    EXPECT_THROW(import_model("net.onnx"), UserError);
    EXPECT_THROW(import_model("net"), UserError);
    EXPECT_THROW(import_model("nowhere/none.tgraph"), UserError);
    const ScratchFile file("list.tgraph", "");
    try {
        import_model(file.path(), {.batch = 2});
        FAIL() << "it was read";
    } catch (const UserError& error) {
        EXPECT_NE(std::string(error.what()).find("batch: expected 1"), std::string::npos);
    }
}

}  // namespace
}  // namespace tandem::tables
