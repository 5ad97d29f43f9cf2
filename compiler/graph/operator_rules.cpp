// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/operator_rules.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tandem::compiler::rules {

namespace {

/// Rows of `depth` elements in the input.
uint64_t rows_of(const NodeRules& node, int64_t depth) {
    const Tensor& in = node.in();
    if (in.elements() % static_cast<uint64_t>(depth) != 0)
        node.fail(node.named(in, "input"), "rows of " + std::to_string(depth),
                  shape_text(in.shape));
    return in.elements() / static_cast<uint64_t>(depth);
}

/// The output may have any shape of so many elements.
Shape shape_of_elements(const NodeRules& node, uint64_t elements) {
    const Tensor& out = node.out();
    if (out.elements() != elements)
        node.fail(node.named(out, "output"), std::to_string(elements) + " elements",
                  shape_text(out.shape));
    return out.shape;
}

Shape window_shape(const NodeRules& node, int64_t channels) {
    const auto [height, width] = node.window_output();
    return {node.in().shape[0], height, width, channels};
}

Counts product_counts(const Graph& graph, const Node& node) {
    Counts c;
    c.repeat = node.repeat;
    c.input_elements = graph.input(node, 0).elements();
    c.output_elements = graph.output(node).elements();
    c.passes = graph.input(node, 0).type == ElementType::kInt16 ? 2 : 1;
    return c;
}

uint64_t extent(const Tensor& tensor, size_t dimension) {
    return static_cast<uint64_t>(tensor.shape[dimension]);
}

}  // namespace

// ---- products

Shape convolution_shape(const NodeRules& node) {
    node.need_image(node.in(), "input");
    const Tensor& weights = node.in(1);
    node.need_rank(weights, 4, "weights");
    const int64_t channels = node.in().shape[3], of_group = weights.shape[3];
    if (channels % of_group != 0 || weights.shape[0] % (channels / of_group) != 0)
        node.fail(node.named(weights, "weights"),
                  "channels that divide the image's " + std::to_string(channels),
                  shape_text(weights.shape));
    return window_shape(node, weights.shape[0]);
}

void convolution_types(const NodeRules& node) {
    node.need_weights(node.in(1), 0);
    node.need_bias(node.in(1), node.in(1).shape[0]);
}

Counts convolution_counts(const Graph& graph, const Node& node) {
    Counts c = product_counts(graph, node);
    const Tensor& weights = graph.input(node, 1);
    c.groups = extent(graph.input(node, 0), 3) / extent(weights, 3);
    c.n = extent(weights, 0) / c.groups;
    c.k = extent(weights, 1) * extent(weights, 2) * extent(weights, 3);
    c.m = c.output_elements / extent(weights, 0);
    return c;
}

Shape depthwise_shape(const NodeRules& node) {
    node.need_image(node.in(), "input");
    const Tensor& weights = node.in(1);
    node.need_rank(weights, 4, "weights");
    const int64_t multiplier = integer_attribute(node.node(), "depth_multiplier");
    if (weights.shape[0] != 1 || weights.shape[3] % multiplier != 0 ||
        weights.shape[3] / multiplier != node.in().shape[3])
        node.fail(node.named(weights, "weights"),
                  "1 x kernel x " + std::to_string(node.in().shape[3]) + " * " +
                      std::to_string(multiplier) + " channels",
                  shape_text(weights.shape));
    return window_shape(node, weights.shape[3]);
}

void depthwise_types(const NodeRules& node) {
    node.need_weights(node.in(1), 3);
    node.need_bias(node.in(1), node.in(1).shape[3]);
}

Counts depthwise_counts(const Graph& graph, const Node& node) {
    Counts c = product_counts(graph, node);
    const Tensor& weights = graph.input(node, 1);
    c.groups = extent(graph.input(node, 0), 3);
    c.n = extent(weights, 3) / c.groups;
    c.k = extent(weights, 1) * extent(weights, 2);
    c.m = c.output_elements / extent(weights, 3);
    return c;
}

Shape fully_connected_shape(const NodeRules& node) {
    const Tensor& weights = node.in(1);
    node.need_rank(weights, 2, "weights");
    return shape_of_elements(node, rows_of(node, weights.shape[1]) * extent(weights, 0));
}

void fully_connected_types(const NodeRules& node) {
    node.need_weights(node.in(1), 0);
    node.need_bias(node.in(1), node.in(1).shape[0]);
}

Counts fully_connected_counts(const Graph& graph, const Node& node) {
    Counts c = product_counts(graph, node);
    c.n = extent(graph.input(node, 1), 0);
    c.k = extent(graph.input(node, 1), 1);
    c.m = c.input_elements / c.k;
    return c;
}

Shape grouped_matmul_shape(const NodeRules& node) {
    const Tensor& weights = node.in(1);
    node.need_rank(weights, 3, "weights");
    return shape_of_elements(
        node, rows_of(node, weights.shape[2]) * extent(weights, 0) * extent(weights, 1));
}

void grouped_matmul_types(const NodeRules& node) { node.need_weights(node.in(1), std::nullopt); }

Counts grouped_matmul_counts(const Graph& graph, const Node& node) {
    Counts c = product_counts(graph, node);
    c.groups = extent(graph.input(node, 1), 0);
    c.n = extent(graph.input(node, 1), 1);
    c.k = extent(graph.input(node, 1), 2);
    c.m = c.input_elements / c.k;
    return c;
}

// ---- the vector unit

Shape add_shape(const NodeRules& node) {
    for (size_t i = 0; i < 2; ++i) node.need_shape(node.in(i), node.out().shape, "input");
    return node.out().shape;
}

void add_types(const NodeRules& node) {
    node.need_type(node.in(1), node.in().type, "input");
    node.need_activation(node.in(1), "input");
}

Shape first_elements_shape(const NodeRules& node) {
    if (node.out().elements() > node.in().elements())
        node.fail(node.named(node.out(), "output"),
                  "at most the input's " + std::to_string(node.in().elements()) + " elements",
                  std::to_string(node.out().elements()));
    return node.out().shape;
}

Shape pool_shape(const NodeRules& node) {
    node.need_image(node.in(), "input");
    const WindowAttributes w = window(node.graph(), node.node());
    // A window of nothing but padding has no largest element and no mean.
    if (w.pad_top >= w.kernel_h || w.pad_bottom >= w.kernel_h || w.pad_left >= w.kernel_w ||
        w.pad_right >= w.kernel_w)
        node.fail("padding", "less than the filter on each side",
                  std::to_string(w.pad_top) + "," + std::to_string(w.pad_left) + "," +
                      std::to_string(w.pad_bottom) + "," + std::to_string(w.pad_right));
    return window_shape(node, node.in().shape[3]);
}

void unscaled_types(const NodeRules& node) {
    if (node.in().quantization != node.out().quantization)
        node.fail(node.named(node.out(), "output"), "the input's scale and zero point", "others");
}

void free_types(const NodeRules&) {}

Shape mean_shape(const NodeRules& node) {
    node.need_image(node.in(), "input");
    const Shape& in = node.in().shape;
    return integer_attribute(node.node(), "keep_dims") != 0 ? Shape{in[0], 1, 1, in[3]}
                                                            : Shape{in[0], in[3]};
}

Shape softmax_shape(const NodeRules& node) {
    if (node.in().shape.empty())
        node.fail(node.named(node.in(), "input"), "1 dimension or more", "scalar");
    return node.in().shape;
}

Shape unchanged_shape(const NodeRules& node) { return node.in().shape; }

Shape transpose_shape(const NodeRules& node) {
    const Shape& in = node.in().shape;
    const Shape& perm = integers_attribute(node.node(), "perm");
    Shape axes = perm;
    std::ranges::sort(axes);
    Shape all(in.size());
    std::iota(all.begin(), all.end(), 0);
    if (axes != all)
        node.fail("perm", "every axis of " + shape_text(in) + " once",
                  perm.empty() ? "none" : shape_text(perm));
    Shape out;
    for (const int64_t axis : perm) out.push_back(in[static_cast<size_t>(axis)]);
    return out;
}

void softmax_types(const NodeRules& node) {
    const float beta = real_attribute(node.node(), "beta");
    if (!std::isnormal(beta) || beta < 0)
        node.fail("beta", "a positive number", std::to_string(beta));
    const Tensor& out = node.out();
    if (node.in().type != ElementType::kInt8) return;
    if (out.scale() != 1.0f / 256 || out.zero_point() != -128)
        node.fail(node.named(out, "output"), "scale 1/256 and zero point -128",
                  "scale " + std::to_string(out.scale()) + ", zero point " +
                      std::to_string(out.zero_point()));
}

Counts vector_counts(const Graph& graph, const Node& node) {
    Counts c = alias_counts(graph, node);
    c.elements = c.input_elements;
    for (size_t i = 1; i < node.inputs.size(); ++i)
        c.input_elements += graph.input(node, i).elements();
    return c;
}

// ---- no work

Shape reshape_shape(const NodeRules& node) { return shape_of_elements(node, node.in().elements()); }

Shape edge_shape(const NodeRules& node) { return node.out().shape; }

Counts alias_counts(const Graph& graph, const Node& node) {
    Counts c;
    c.repeat = node.repeat;
    c.input_elements = graph.input(node, 0).elements();
    c.output_elements = graph.output(node).elements();
    return c;
}

}  // namespace tandem::compiler::rules
