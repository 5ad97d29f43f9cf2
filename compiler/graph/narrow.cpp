// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/narrow.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "arch/bf16.h"
#include "compiler/graph/operators.h"
#include "compiler/graph/verify.h"

namespace tandem::compiler {

namespace {

std::vector<uint8_t> narrowed(const std::vector<uint8_t>& floats) {
    std::vector<uint8_t> bytes(floats.size() / 2);
    for (size_t i = 0; i < floats.size() / sizeof(uint32_t); ++i) {
        uint32_t value = 0;
        std::memcpy(&value, floats.data() + i * sizeof value, sizeof value);
        const uint16_t word = bf16::narrow(value);
        std::memcpy(bytes.data() + i * sizeof word, &word, sizeof word);
    }
    return bytes;
}

class Narrowing {
  public:
    explicit Narrowing(Graph graph) : graph_(std::move(graph)) {}

    Graph run() {
        std::vector<Node> nodes = std::exchange(graph_.nodes, {});
        // Types change on the way: what a node is in the file is asked before.
        for (const Node& node : nodes) {
            wide_.push_back(node.op != Operator::kCast && has_floats(node));
            for (const TensorId id : node.inputs) ++readers_[id];
        }
        for (const TensorId id : graph_.inputs) cast_input(id, nodes);
        for (size_t i = 0; i < nodes.size(); ++i) {
            if (wide_[i])
                narrow_node(nodes[i]);
            else
                graph_.nodes.push_back(std::move(nodes[i]));
        }
        verify(graph_);
        return std::move(graph_);
    }

  private:
    bool is_wide(TensorId id) const { return graph_.tensors[id].type == ElementType::kFloat32; }
    bool has_floats(const Node& node) const {
        const auto wide = [&](TensorId id) { return is_wide(id); };
        return std::ranges::any_of(node.inputs, wide) || std::ranges::any_of(node.outputs, wide);
    }
    bool is_graph_output(TensorId id) const {
        return std::ranges::find(graph_.outputs, id) != graph_.outputs.end();
    }

    static Node cast(TensorId from, TensorId to, const Node& beside, const std::string& name) {
        Node node;
        node.op = Operator::kCast;
        node.index = beside.index;
        node.name = name;
        node.where = beside.where;
        node.inputs = {from};
        node.outputs = {to};
        return node;
    }

    /// A tensor of the same values in bf16, which takes the other one's place.
    TensorId narrow_tensor(TensorId id) {
        if (const auto known = narrow_.find(id); known != narrow_.end()) return known->second;
        Tensor tensor = graph_.tensors[id];
        tensor.type = ElementType::kBf16;
        tensor.name += "/bf16";
        tensor.memory = Memory::kHost;
        if (tensor.has_data()) tensor.set_bytes(narrowed(graph_.tensors[id].bytes()));
        const TensorId result = graph_.add(std::move(tensor));
        narrow_[id] = result;
        return result;
    }

    void cast_input(TensorId id, const std::vector<Node>& nodes) {
        if (!is_wide(id)) return;
        for (size_t i = 0; i < nodes.size(); ++i) {
            const Node& reader = nodes[i];
            if (!wide_[i] || std::ranges::find(reader.inputs, id) == reader.inputs.end()) continue;
            const TensorId to = narrow_tensor(id);
            graph_.nodes.push_back(cast(id, to, reader, graph_.tensors[to].name));
            return;
        }
    }

    void narrow_node(Node& node) {
        const bool has_bias = operator_info(node.op).lowering == LoweringKind::kMatmul;
        const auto stays = [&](size_t i) {
            const bool constant = graph_.tensors[node.inputs[i]].is_constant;
            return !is_wide(node.inputs[i]) || (has_bias && i == 2) ||
                   (node.op == Operator::kElementwise && constant);
        };
        for (size_t i = 0; i < node.inputs.size(); ++i)
            if (!stays(i)) node.inputs[i] = narrow_tensor(node.inputs[i]);
        const TensorId out = node.outputs.front();
        if (!is_wide(out)) {
            graph_.nodes.push_back(node);
            return;
        }
        const OutputType type = operator_info(node.op).output_type;
        const bool may_be_wide = type != OutputType::kSame && type != OutputType::kLast;
        const bool is_output = is_graph_output(out);
        const bool needs_cast = is_output && (!may_be_wide || readers_.contains(out));
        if (!is_output) graph_.tensors[out].type = ElementType::kBf16;
        if (needs_cast) node.outputs = {narrow_tensor(out)};
        graph_.nodes.push_back(node);
        if (needs_cast)
            graph_.nodes.push_back(cast(node.outputs.front(), out, node, graph_.tensors[out].name));
    }

    Graph graph_;
    std::vector<bool> wide_;  ///< by node of the file: it works on FLOAT32
    std::map<TensorId, uint32_t> readers_;
    std::map<TensorId, TensorId> narrow_;
};

}  // namespace

Graph narrow(Graph graph) { return Narrowing(std::move(graph)).run(); }

}  // namespace tandem::compiler
