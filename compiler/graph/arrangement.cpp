// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/arrangement.h"

#include <algorithm>
#include <memory>
#include <span>
#include <stdexcept>

namespace tandem::compiler {

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
    Shape shape(std::max(a.size(), b.size()), 1);
    for (const Shape* const one : {&a, &b})
        for (size_t i = 0; i < one->size(); ++i) {
            int64_t& extent = shape[shape.size() - 1 - i];
            const int64_t other = (*one)[one->size() - 1 - i];
            if (extent != 1 && other != 1 && extent != other) return std::nullopt;
            if (extent == 1) extent = other;
        }
    return shape;
}

std::vector<int64_t> dense_strides(const Shape& shape) {
    std::vector<int64_t> strides(shape.size(), 1);
    for (size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
    return strides;
}

std::vector<int64_t> broadcast_strides(const Shape& from, const Shape& to) {
    const auto dense = dense_strides(from);
    std::vector<int64_t> strides(to.size());
    for (size_t i = 0; i < from.size(); ++i)
        if (from[i] != 1) strides[to.size() - from.size() + i] = dense[i];
    return strides;
}

Arrangement arrangement_of(const Graph& graph, const Node& node) {
    const Shape& in = graph.input(node, 0).shape;
    const auto dense = dense_strides(in);
    Arrangement result;
    switch (node.op) {
        case Operator::kTranspose:
            for (const int64_t axis : integers_attribute(node, "perm"))
                result.strides.push_back(dense[static_cast<size_t>(axis)]);
            return result;
        case Operator::kSlice:
            for (size_t axis = 0; axis < in.size(); ++axis) {
                result.offset += integers_attribute(node, "begin")[axis] * dense[axis];
                result.strides.push_back(integers_attribute(node, "step")[axis] * dense[axis]);
            }
            return result;
        case Operator::kBroadcastTo:
            result.strides = broadcast_strides(in, graph.output(node).shape);
            return result;
        default:
            throw std::logic_error(describe(node) + " changes elements");
    }
}

Formula formula_of(const Graph& graph, const Node& node) {
    std::array<bool, 3> floats{};
    for (size_t i = 0; i < node.inputs.size(); ++i)
        floats.at(i) = graph.input(node, i).type == ElementType::kBf16 ||
                       graph.input(node, i).type == ElementType::kFloat32;
    return parse_formula(text_attribute(node, "formula"),
                         std::span(floats).first(node.inputs.size()));
}

const std::string& text_attribute(const Node& node, std::string_view name) {
    return std::get<std::string>(attribute(node, name));
}

}  // namespace tandem::compiler
