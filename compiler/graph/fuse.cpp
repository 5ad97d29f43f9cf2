// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/fuse.h"

#include <algorithm>
#include <optional>

#include "compiler/graph/arrangement.h"
#include "compiler/graph/formula.h"
#include "compiler/graph/operators.h"

namespace tandem::compiler {
namespace {

constexpr size_t kMostOperands = 3, kMostText = 2048, kMostTerms = 48;
constexpr size_t kNone = SIZE_MAX;

class Fusion {
  public:
    explicit Fusion(Graph& graph)
        : graph_(graph), readers_(graph.tensors.size()), maker_(graph.tensors.size()) {
        for (size_t i = 0; i < graph.nodes.size(); ++i) {
            maker_[graph.nodes[i].outputs.front()] = i;
            for (const TensorId id : graph.nodes[i].inputs) ++readers_[id];
        }
        for (const TensorId id : graph.outputs) ++readers_[id];
    }

    void run() {
        std::vector<bool> gone(graph_.nodes.size());
        for (Node& node : graph_.nodes)
            while (const auto producer = takes_in(node)) gone[*producer] = true;
        size_t i = 0;
        std::erase_if(graph_.nodes, [&](const Node&) { return gone[i++]; });
    }

  private:
    /// The node that is a part of this one now; nothing: there is none to take in.
    std::optional<size_t> takes_in(Node& node) {
        if (node.op != Operator::kElementwise) return std::nullopt;
        for (size_t i = 0; i < node.inputs.size(); ++i) {
            const auto maker = maker_[node.inputs[i]];
            if (!maker || readers_[node.inputs[i]] != 1) continue;
            const Node& producer = graph_.nodes[*maker];
            if (producer.op == Operator::kElementwise &&
                graph_.input(node, i).shape == graph_.output(node).shape &&
                merge(node, i, producer))
                return maker;
        }
        return std::nullopt;
    }

    bool merge(Node& node, size_t at, const Node& producer) {
        Node merged = node;
        merged.inputs.clear();
        // Activations first.
        for (const bool constants : {false, true}) {
            add(merged, producer, constants, kNone);
            add(merged, node, constants, at);
        }
        if (merged.inputs.size() > kMostOperands) return false;
        const auto names = [&](const Node& of, size_t without, const std::string& inner) {
            std::vector<std::string> texts;
            for (size_t i = 0; i < of.inputs.size(); ++i) {
                const auto place = std::ranges::find(merged.inputs, of.inputs[i]);
                texts.push_back(
                    i == without
                        ? inner
                        : std::string(1, static_cast<char>('a' + (place - merged.inputs.begin()))));
            }
            return substituted(text_attribute(of, "formula"), texts);
        };
        const std::string inner = names(producer, kNone, "");
        const std::string text = names(node, at, "(" + inner + ")");
        if (text.size() > kMostText) return false;
        merged.attributes["formula"] = text;
        if (formula_of(graph_, merged).terms.size() > kMostTerms) return false;
        --readers_[node.inputs[at]];
        for (const TensorId id : merged.inputs) {
            const auto times = [&](const Node& of) { return std::ranges::count(of.inputs, id); };
            readers_[id] +=
                static_cast<uint32_t>(1 - times(producer)) - static_cast<uint32_t>(times(node));
        }
        node = std::move(merged);
        return true;
    }

    void add(Node& merged, const Node& from, bool constants, size_t without) const {
        for (size_t i = 0; i < from.inputs.size(); ++i) {
            const TensorId id = from.inputs[i];
            const bool known = std::ranges::find(merged.inputs, id) != merged.inputs.end();
            if (i != without && !known && graph_.tensors[id].is_constant == constants)
                merged.inputs.push_back(id);
        }
    }

    Graph& graph_;
    std::vector<uint32_t> readers_;
    std::vector<std::optional<size_t>> maker_;
};

}  // namespace

void fuse_formulas(Graph& graph) { Fusion(graph).run(); }

}  // namespace tandem::compiler
