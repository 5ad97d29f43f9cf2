// SPDX-License-Identifier: Apache-2.0
// Rules of the operators over arrays of any number of axes.
#include <algorithm>
#include <stdexcept>

#include "compiler/graph/arrangement.h"
#include "compiler/graph/formula.h"
#include "compiler/graph/operator_rules.h"

namespace tandem::compiler::rules {
namespace {

bool is_float(const Tensor& tensor) {
    return tensor.type == ElementType::kBf16 || tensor.type == ElementType::kFloat32;
}

/// A constant beside activations, or an activation.
void need_operand(const NodeRules& node, size_t i) {
    if (!node.in(i).is_constant) return node.need_activation(node.in(i), "input");
    if (!is_float(node.in(i)) && node.in(i).type != ElementType::kInt32)
        node.fail(node.named(node.in(i), "input"), "FLOAT32, BFLOAT16 or INT32",
                  std::string(element_type_name(node.in(i).type)));
}

void need_ranks(const NodeRules& node, const std::vector<int64_t>& numbers, const char* name) {
    if (numbers.size() != node.in().shape.size())
        node.fail(name, "one number per axis of " + shape_text(node.in().shape),
                  std::to_string(numbers.size()));
}

}  // namespace

Shape elementwise_shape(const NodeRules& node) {
    Shape shape = node.in().shape;
    for (size_t i = 1; i < node.node().inputs.size(); ++i) {
        const auto both = broadcast(shape, node.in(i).shape);
        if (!both)
            node.fail(node.named(node.in(i), "input"),
                      "a shape that goes with " + shape_text(shape), shape_text(node.in(i).shape));
        shape = *both;
    }
    return shape;
}

void elementwise_types(const NodeRules& node) {
    for (size_t i = 1; i < node.node().inputs.size(); ++i) need_operand(node, i);
    try {
        const bool result = formula_of(node.graph(), node.node()).is_float();
        if (result != is_float(node.out()))
            node.fail(node.named(node.out(), "output"), result ? "FLOAT32 or BFLOAT16" : "INT32",
                      std::string(element_type_name(node.out().type)));
    } catch (const std::invalid_argument& error) {
        node.fail("formula", std::string(error.what()).substr(9),
                  "'" + text_attribute(node.node(), "formula") + "'");
    }
}

Shape reduce_shape(const NodeRules& node) {
    const Shape& in = node.in().shape;
    const auto& axes = integers_attribute(node.node(), "axes");
    if (axes.empty()) node.fail("axes", "1 or more", "none");
    for (size_t i = 0; i < axes.size(); ++i)
        if (axes[i] >= static_cast<int64_t>(in.size()) || (i != 0 && axes[i] <= axes[i - 1]))
            node.fail("axes", "axes of " + shape_text(in) + " in ascending order",
                      shape_text(axes));
    const bool keeps = integer_attribute(node.node(), "keep_dims") != 0;
    Shape out;
    for (size_t axis = 0; axis < in.size(); ++axis) {
        const bool reduced = std::ranges::find(axes, static_cast<int64_t>(axis)) != axes.end();
        if (!reduced) out.push_back(in[axis]);
        if (reduced && keeps) out.push_back(1);
    }
    return out;
}

void reduce_types(const NodeRules& node) {
    const bool place = text_attribute(node.node(), "function") == "ARG_MAX";
    const bool right =
        place ? node.out().type == ElementType::kInt32
              : node.out().type == node.in().type || (is_float(node.in()) && is_float(node.out()));
    if (!right)
        node.fail(node.named(node.out(), "output"), place ? "INT32" : "the input's type",
                  std::string(element_type_name(node.out().type)));
}

Shape slice_shape(const NodeRules& node) {
    const Shape& in = node.in().shape;
    const auto& begin = integers_attribute(node.node(), "begin");
    const auto& size = integers_attribute(node.node(), "size");
    const auto& step = integers_attribute(node.node(), "step");
    need_ranks(node, begin, "begin");
    need_ranks(node, size, "size");
    need_ranks(node, step, "step");
    for (size_t axis = 0; axis < in.size(); ++axis) {
        const int64_t last = begin[axis] + (size[axis] - 1) * step[axis];
        if (begin[axis] >= in[axis] || last < 0 || last >= in[axis])
            node.fail("begin, size, step", "elements of " + shape_text(in),
                      "element " + std::to_string(last) + " of axis " + std::to_string(axis));
    }
    return size;
}

Shape concatenation_shape(const NodeRules& node) {
    const auto axis = static_cast<size_t>(integer_attribute(node.node(), "axis"));
    Shape shape = node.in().shape;
    if (axis >= shape.size())
        node.fail("axis", "an axis of " + shape_text(shape), std::to_string(axis));
    for (size_t i = 1; i < node.node().inputs.size(); ++i) {
        Shape expected = shape;
        if (node.in(i).shape.size() == shape.size()) expected[axis] = node.in(i).shape[axis];
        node.need_shape(node.in(i), expected, "input");
        shape[axis] += expected[axis];
    }
    return shape;
}

void same_types(const NodeRules& node) {
    for (size_t i = 1; i < node.node().inputs.size(); ++i) {
        need_operand(node, i);
        node.need_type(node.in(i), node.in().type, "input");
    }
}

Shape pad_shape(const NodeRules& node) {
    const auto& before = integers_attribute(node.node(), "before");
    const auto& behind = integers_attribute(node.node(), "behind");
    need_ranks(node, before, "before");
    need_ranks(node, behind, "behind");
    Shape shape = node.in().shape;
    for (size_t axis = 0; axis < shape.size(); ++axis) shape[axis] += before[axis] + behind[axis];
    return shape;
}

Shape broadcast_shape(const NodeRules& node) {
    const Shape& out = node.out().shape;
    if (broadcast(node.in().shape, out) != out)
        node.fail(node.named(node.in(), "input"), "a shape that goes with " + shape_text(out),
                  shape_text(node.in().shape));
    return out;
}

Shape gather_shape(const NodeRules& node) {
    const Shape& rows = node.in(1).shape;
    if (rows.empty()) node.fail(node.named(node.in(1), "rows"), "1 dimension or more", "scalar");
    Shape shape = node.in().shape;
    shape.insert(shape.end(), rows.begin() + 1, rows.end());
    return shape;
}

void gather_types(const NodeRules& node) {
    node.need_type(node.in(), ElementType::kInt32, "indices");
    if (!is_float(node.in(1)) && node.in(1).type != ElementType::kInt32)
        node.fail(node.named(node.in(1), "rows"), "FLOAT32, BFLOAT16 or INT32",
                  std::string(element_type_name(node.in(1).type)));
}

}  // namespace tandem::compiler::rules
