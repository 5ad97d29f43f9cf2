// SPDX-License-Identifier: Apache-2.0
// What the rules of operators are written with: one node, its tensors, and messages that name them.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "compiler/graph/operators.h"

namespace tandem::compiler {

class NodeRules {
  public:
    NodeRules(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

    const Graph& graph() const { return graph_; }
    const Node& node() const { return node_; }
    const Tensor& in(size_t position = 0) const { return graph_.input(node_, position); }
    const Tensor& out() const { return graph_.output(node_); }
    bool has_input(size_t position) const { return node_.inputs.size() > position; }

    [[noreturn]] void fail(const std::string& what, const std::string& expected,
                           const std::string& found) const;
    /// The tensor's role and its name, unless that stands in the message already.
    std::string named(const Tensor& tensor, const std::string& role) const;

    void need_rank(const Tensor& tensor, size_t rank, const std::string& role) const;
    void need_shape(const Tensor& tensor, const Shape& shape, const std::string& role) const;
    void need_type(const Tensor& tensor, ElementType type, const std::string& role) const;
    /// An image: four dimensions, NHWC.
    void need_image(const Tensor& tensor, const std::string& role) const;
    /// Positive, finite, not tiny.
    void need_scales(const Tensor& tensor, const std::string& role) const;
    /// A type the operator takes; int8 with one scale and zero point, others without.
    void need_activation(const Tensor& tensor, const std::string& role) const;
    /// Constants in the activations' companion type; int8: symmetric, one scale, or one for each of
    /// the output channels, which lie along `axis` (none: one scale only).
    void need_weights(const Tensor& weights, std::optional<uint32_t> axis) const;
    /// Where there is one: constants, one per output channel. FLOAT32 beside floating-point
    /// activations; int32 beside int8, with scales, where given, that are input scale * weight
    /// scale to within 2 % of an output step (as TFLite tolerates).
    void need_bias(const Tensor& weights, int64_t channels) const;

    /// Height and width of the output of the node's window over its first input.
    std::pair<int64_t, int64_t> window_output() const;

  private:
    const Graph& graph_;
    const Node& node_;
};

}  // namespace tandem::compiler
