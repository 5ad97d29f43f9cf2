// SPDX-License-Identifier: Apache-2.0
// What the makers of random graphs share.
#pragma once

#include <utility>
#include <vector>

#include "compiler/graph/graph.h"

namespace tandem::testbench {

/// The next node of the source, named after its output.
inline compiler::Node& append_node(compiler::Graph& graph, compiler::Operator op,
                                   std::vector<compiler::TensorId> inputs,
                                   compiler::TensorId output,
                                   compiler::Attributes attributes = {}) {
    compiler::Node node;
    node.op = op;
    node.index = static_cast<uint32_t>(graph.nodes.size());
    node.name = graph.tensors[output].name;
    node.inputs = std::move(inputs);
    node.outputs = {output};
    node.attributes = std::move(attributes);
    graph.nodes.push_back(std::move(node));
    return graph.nodes.back();
}

}  // namespace tandem::testbench
