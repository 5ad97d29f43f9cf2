// SPDX-License-Identifier: Apache-2.0
// Formulas as one node beside the same as several, bit by bit on the interpreter.
#include "compiler/graph/fuse.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "compiler/graph/text.h"
#include "compiler/graph/verify.h"
#include "testbench/compiler/machine_run.h"
#include "testbench/compiler/test_chips.h"

namespace tandem::testbench {
namespace {

Int8s answer(const compiler::Graph& graph, size_t inputs) {
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    Int8s bytes;
    for (size_t i = 0; i < inputs; ++i) {
        const float value = normal(random);
        int8_t word[sizeof value];
        std::memcpy(word, &value, sizeof value);
        bytes.insert(bytes.end(), word, word + sizeof value);
    }
    auto chip = test_chip(8, 8);
    chip.memory.bytes = 1 << 20;
    return run_image(chip, compiler::compile(graph, chip), bytes, Order::number(0));
}

compiler::Graph graph_of(const std::string& tensors, const std::string& nodes,
                         const std::string& ends) {
    auto graph = compiler::parse_graph("tgraph 1\n" + tensors + nodes + ends, "test");
    compiler::verify(graph);
    return graph;
}

std::string tensor(int id, const std::string& shape, const std::string& type = "FLOAT32") {
    return "tensor %" + std::to_string(id) + " \"t" + std::to_string(id) + "\" " + type + " " +
           shape + "\n";
}

std::string node(const std::string& formula, const std::string& inputs, int output) {
    return "node 0 ELEMENTWISE \"n\" inputs=" + inputs + " outputs=%" + std::to_string(output) +
           " formula=\"" + formula + "\"\n";
}

void expect_fused(const compiler::Graph& graph, size_t inputs, size_t nodes) {
    compiler::Graph fused = graph;
    compiler::fuse_formulas(fused);
    compiler::verify(fused);
    EXPECT_EQ(fused.nodes.size(), nodes);
    EXPECT_EQ(answer(fused, inputs), answer(graph, inputs));
}

TEST(FuseFormulas, AChainBecomesOneNode) {
    // Two operands, one of them read on the way as well; the last one is broadcast.
    const auto graph = graph_of(tensor(0, "5x7") + tensor(1, "7") + tensor(2, "5x7") +
                                    tensor(3, "5x7", "INT32") + tensor(4, "5x7"),
                                node("b * 2 - a", "%0,%1", 2) + node("a < b", "%2,%1", 3) +
                                    node("select(a, exp(b), -b * 0.5)", "%3,%0", 4),
                                "inputs %0,%1\noutputs %4\n");
    expect_fused(graph, 5 * 7 + 7, 1);
}

TEST(FuseFormulas, WhatOthersReadStays) {
    const std::string tensors = tensor(0, "6x4") + tensor(1, "6x4") + tensor(2, "6x4");
    const std::string nodes = node("tanh(a)", "%0", 1) + node("a + 1", "%1", 2);
    expect_fused(graph_of(tensors, nodes, "inputs %0\noutputs %1,%2\n"), 24, 2);
    expect_fused(graph_of(tensors, nodes, "inputs %0\noutputs %2\n"), 24, 1);
    // Twice by one node is one part of it.
    expect_fused(graph_of(tensors, node("tanh(a)", "%0", 1) + node("a * b", "%1,%1", 2),
                          "inputs %0\noutputs %2\n"),
                 24, 2);
}

TEST(FuseFormulas, WhatIsBroadcastStays) {
    const auto graph =
        graph_of(tensor(0, "3x1") + tensor(1, "3x8") + tensor(2, "3x1") + tensor(3, "3x8"),
                 node("exp(a)", "%0", 2) + node("a * b", "%1,%2", 3), "inputs %0,%1\noutputs %3\n");
    expect_fused(graph, 3 + 24, 2);
}

TEST(FuseFormulas, ThreeOperandsAreTheMost) {
    std::string tensors, nodes;
    for (int i = 0; i < 4; ++i) tensors += tensor(i, "9");
    for (int i = 4; i < 7; ++i) tensors += tensor(i, "9");
    nodes = node("a * b", "%0,%1", 4) + node("a - b", "%4,%2", 5) + node("a + b", "%5,%3", 6);
    expect_fused(graph_of(tensors, nodes, "inputs %0,%1,%2,%3\noutputs %6\n"), 36, 2);
}

}  // namespace
}  // namespace tandem::testbench
