// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/operators.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "compiler/graph/operator_rules.h"

namespace tandem::compiler {

namespace {

using Integers = std::vector<int64_t>;
using Types = std::vector<ElementType>;
using enum ElementType;

constexpr int64_t kMostSize = UINT32_MAX;
constexpr std::array<std::string_view, 4> kActivations = {"NONE", "RELU", "RELU_N1_TO_1", "RELU6"};

AttributeSpec fused_activation() {
    return {"activation", std::string("NONE"), 0, 0, {kActivations.begin(), kActivations.end()}};
}
AttributeSpec stride() { return {"stride", Integers{1, 1}, 1, kMostSize, {}}; }
AttributeSpec dilation() { return {"dilation", Integers{1, 1}, 1, kMostSize, {}}; }
/// Above, left, below, right.
AttributeSpec padding() { return {"padding", Integers{0, 0, 0, 0}, 0, kMostSize, {}}; }
AttributeSpec filter() { return {"filter", Integers{1, 1}, 1, kMostSize, {}}; }
AttributeSpec depth_multiplier() { return {"depth_multiplier", int64_t{1}, 1, kMostSize, {}}; }
AttributeSpec keep_dims() { return {"keep_dims", int64_t{0}, 0, 1, {}}; }
AttributeSpec adj(std::string_view name) { return {name, int64_t{0}, 0, 1, {}}; }
/// As many numbers as the input has dimensions.
AttributeSpec perm() { return {"perm", Integers{}, 0, 7, {}}; }
AttributeSpec formula() { return {"formula", std::string("a"), 0, 0, {}}; }
AttributeSpec function() {
    return {"function", std::string("SUM"), 0, 0, {"SUM", "MAX", "MIN", "ARG_MAX"}};
}
AttributeSpec axes() { return {"axes", Integers{}, 0, 7, {}}; }
AttributeSpec axis() { return {"axis", int64_t{0}, 0, 7, {}}; }
AttributeSpec integers(std::string_view name, int64_t least = 0) {
    return {name, Integers{}, least, kMostSize, {}};
}
AttributeSpec fill() { return {"fill", 0.0f, 0, 0, {}}; }
AttributeSpec beta() { return {"beta", 1.0f, 0, 0, {}}; }

// clang-format off
const std::vector<OperatorInfo>& table() {
    static const std::vector<OperatorInfo> all = {
        {Operator::kConv2d, "CONV_2D", LoweringKind::kMatmul, 2, 3,
         {stride(), dilation(), padding(), fused_activation()},
         {kInt8, kBf16, kFloat32}, {kInt16}, OutputType::kSameOrWide,
         rules::convolution_shape, rules::convolution_types, rules::convolution_counts},
        {Operator::kDepthwiseConv2d, "DEPTHWISE_CONV_2D", LoweringKind::kMatmul, 2, 3,
         {stride(), dilation(), padding(), depth_multiplier(), fused_activation()},
         {kInt8, kBf16, kFloat32}, {kInt16}, OutputType::kSameOrWide,
         rules::depthwise_shape, rules::depthwise_types, rules::depthwise_counts},
        {Operator::kFullyConnected, "FULLY_CONNECTED", LoweringKind::kMatmul, 2, 3,
         {fused_activation()},
         {kInt8, kBf16, kFloat32}, {kInt16}, OutputType::kSameOrWide,
         rules::fully_connected_shape, rules::fully_connected_types, rules::fully_connected_counts},
        {Operator::kGroupedMatmul, "GROUPED_MATMUL", LoweringKind::kMatmul, 2, 2,
         {},
         {kInt8, kBf16}, {kInt16}, OutputType::kSame,
         rules::grouped_matmul_shape, rules::grouped_matmul_types, rules::grouped_matmul_counts},
        {Operator::kAdd, "ADD", LoweringKind::kVector, 2, 2,
         {fused_activation()},
         {kInt8, kBf16, kFloat32}, {}, OutputType::kSameOrWide,
         rules::add_shape, rules::add_types, rules::vector_counts},
        {Operator::kVector, "VECTOR", LoweringKind::kVector, 1, 1,
         {},
         {kInt8}, {kInt16, kBf16}, OutputType::kSame,
         rules::first_elements_shape, rules::free_types, rules::vector_counts},
        {Operator::kAveragePool2d, "AVERAGE_POOL_2D", LoweringKind::kVector, 1, 1,
         {filter(), stride(), padding(), fused_activation()},
         {kInt8, kBf16, kFloat32}, {}, OutputType::kSameOrWide,
         rules::pool_shape, rules::unscaled_types, rules::vector_counts},
        {Operator::kMaxPool2d, "MAX_POOL_2D", LoweringKind::kVector, 1, 1,
         {filter(), stride(), padding(), fused_activation()},
         {kInt8, kBf16, kFloat32}, {}, OutputType::kSameOrWide,
         rules::pool_shape, rules::unscaled_types, rules::vector_counts},
        {Operator::kMean, "MEAN", LoweringKind::kVector, 1, 1,
         {keep_dims()},
         {kInt8, kBf16, kFloat32}, {}, OutputType::kSameOrWide,
         rules::mean_shape, rules::free_types, rules::vector_counts},
        {Operator::kPool, "POOL", LoweringKind::kVector, 1, 1,
         {},
         {kInt8}, {kInt16, kBf16}, OutputType::kSame,
         rules::first_elements_shape, rules::unscaled_types, rules::vector_counts},
        {Operator::kSoftmax, "SOFTMAX", LoweringKind::kVector, 1, 1,
         {beta()},
         {kInt8, kBf16, kFloat32}, {}, OutputType::kSameOrWide,
         rules::softmax_shape, rules::softmax_types, rules::vector_counts},
        {Operator::kReshape, "RESHAPE", LoweringKind::kAlias, 1, 1,
         {},
         {kInt8, kInt32, kBf16, kFloat32}, {kInt16}, OutputType::kSame,
         rules::reshape_shape, rules::free_types, rules::alias_counts},
        {Operator::kEdge, "EDGE", LoweringKind::kEdge, 1, 1,
         {},
         {kInt8, kBf16}, {kInt16}, OutputType::kSame,
         rules::edge_shape, rules::free_types, rules::alias_counts},
        {Operator::kCast, "CAST", LoweringKind::kVector, 1, 1,
         {},
         {kBf16, kFloat32}, {}, OutputType::kFloat,
         rules::unchanged_shape, rules::free_types, rules::vector_counts},
        {Operator::kBatchMatmul, "BATCH_MATMUL", LoweringKind::kBatchMatmul, 2, 2,
         {adj("adj_x"), adj("adj_y")},
         {kInt8, kBf16, kFloat32}, {}, OutputType::kSameOrWide,
         rules::batch_matmul_shape, rules::batch_matmul_types, rules::batch_matmul_counts},
        {Operator::kHardSwish, "HARD_SWISH", LoweringKind::kVector, 1, 1,
         {},
         {kInt8, kBf16, kFloat32}, {}, OutputType::kSameOrWide,
         rules::unchanged_shape, rules::free_types, rules::vector_counts},
        {Operator::kTranspose, "TRANSPOSE", LoweringKind::kVector, 1, 1,
         {perm()},
         {kInt8, kInt32, kBf16, kFloat32}, {kInt16}, OutputType::kSameOrWide,
         rules::transpose_shape, rules::unscaled_types, rules::vector_counts},
        {Operator::kElementwise, "ELEMENTWISE", LoweringKind::kVector, 1, 3,
         {formula()},
         {kInt32, kBf16, kFloat32}, {}, OutputType::kByRule,
         rules::elementwise_shape, rules::elementwise_types, rules::vector_counts},
        {Operator::kReduce, "REDUCE", LoweringKind::kVector, 1, 1,
         {function(), axes(), keep_dims()},
         {kInt32, kBf16, kFloat32}, {}, OutputType::kByRule,
         rules::reduce_shape, rules::reduce_types, rules::vector_counts},
        {Operator::kSlice, "SLICE", LoweringKind::kVector, 1, 1,
         {integers("begin"), integers("size", 1), integers("step", -kMostSize)},
         {kInt8, kInt32, kBf16, kFloat32}, {}, OutputType::kSameOrWide,
         rules::slice_shape, rules::unscaled_types, rules::vector_counts},
        {Operator::kConcatenation, "CONCATENATION", LoweringKind::kVector, 1, 64,
         {axis()},
         {kInt32, kBf16, kFloat32}, {}, OutputType::kSameOrWide,
         rules::concatenation_shape, rules::same_types, rules::vector_counts},
        {Operator::kPad, "PAD", LoweringKind::kVector, 1, 1,
         {integers("before"), integers("behind"), fill()},
         {kInt32, kBf16, kFloat32}, {}, OutputType::kSameOrWide,
         rules::pad_shape, rules::free_types, rules::vector_counts},
        {Operator::kBroadcastTo, "BROADCAST_TO", LoweringKind::kVector, 1, 1,
         {},
         {kInt32, kBf16, kFloat32}, {}, OutputType::kSameOrWide,
         rules::broadcast_shape, rules::free_types, rules::vector_counts},
        {Operator::kGather, "GATHER", LoweringKind::kVector, 2, 2,
         {},
         {kInt32, kBf16, kFloat32}, {}, OutputType::kLast,
         rules::gather_shape, rules::gather_types, rules::vector_counts},
    };
    return all;
}
// clang-format on

/// reach of a kernel in pixels; wide, since both factors may be.
__int128 reach(int64_t kernel, int64_t dilation) {
    return static_cast<__int128>(kernel - 1) * dilation + 1;
}

}  // namespace

std::span<const OperatorInfo> operators() { return table(); }

const OperatorInfo& operator_info(Operator op) { return table().at(static_cast<size_t>(op)); }

const OperatorInfo* find_operator(std::string_view name) {
    const auto found = std::ranges::find(table(), name, &OperatorInfo::name);
    return found == table().end() ? nullptr : &*found;
}

const AttributeSpec* find_attribute(const OperatorInfo& info, std::string_view name) {
    const auto found = std::ranges::find(info.attributes, name, &AttributeSpec::name);
    return found == info.attributes.end() ? nullptr : &*found;
}

const AttributeValue& attribute(const Node& node, std::string_view name) {
    const auto set = node.attributes.find(name);
    if (set != node.attributes.end()) return set->second;
    const AttributeSpec* const spec = find_attribute(operator_info(node.op), name);
    if (spec == nullptr)
        throw std::logic_error(describe(node) + " has no attribute " + std::string(name));
    return spec->default_value;
}

int64_t integer_attribute(const Node& node, std::string_view name) {
    return std::get<int64_t>(attribute(node, name));
}

const std::vector<int64_t>& integers_attribute(const Node& node, std::string_view name) {
    return std::get<Integers>(attribute(node, name));
}

float real_attribute(const Node& node, std::string_view name) {
    return std::get<float>(attribute(node, name));
}

std::string_view activation_name(Activation activation) {
    return kActivations.at(static_cast<size_t>(activation));
}

Activation activation(const Node& node) {
    if (find_attribute(operator_info(node.op), "activation") == nullptr) return Activation::kNone;
    const std::string& name = std::get<std::string>(attribute(node, "activation"));
    const auto found = std::ranges::find(kActivations, name);
    return static_cast<Activation>(found - kActivations.begin());
}

WindowAttributes window(const Graph& graph, const Node& node) {
    const OperatorInfo& info = operator_info(node.op);
    WindowAttributes w;
    if (find_attribute(info, "filter") != nullptr) {
        const auto& filter = integers_attribute(node, "filter");
        w.kernel_h = filter.at(0), w.kernel_w = filter.at(1);
    } else {
        // The window is the weights' (OHWI, 1HWC), or the whole image.
        const Shape& shape = graph.input(node, node.inputs.size() > 1 ? 1 : 0).shape;
        w.kernel_h = shape.at(1), w.kernel_w = shape.at(2);
    }
    if (find_attribute(info, "stride") != nullptr) {
        const auto& stride = integers_attribute(node, "stride");
        w.stride_h = stride.at(0), w.stride_w = stride.at(1);
        const auto& padding = integers_attribute(node, "padding");
        w.pad_top = padding.at(0), w.pad_left = padding.at(1);
        w.pad_bottom = padding.at(2), w.pad_right = padding.at(3);
    }
    if (find_attribute(info, "dilation") != nullptr) {
        const auto& dilation = integers_attribute(node, "dilation");
        w.dilation_h = dilation.at(0), w.dilation_w = dilation.at(1);
    }
    return w;
}

void set_window(Node& node, const WindowAttributes& w) {
    node.attributes["stride"] = Integers{w.stride_h, w.stride_w};
    node.attributes["padding"] = Integers{w.pad_top, w.pad_left, w.pad_bottom, w.pad_right};
    if (find_attribute(operator_info(node.op), "dilation") != nullptr)
        node.attributes["dilation"] = Integers{w.dilation_h, w.dilation_w};
}

int64_t output_extent(int64_t input, int64_t kernel, int64_t stride, int64_t dilation,
                      int64_t padding) {
    const __int128 covered = reach(kernel, dilation),
                   padded = static_cast<__int128>(input) + padding;
    return covered > padded ? 0 : static_cast<int64_t>((padded - covered) / stride + 1);
}

int64_t same_padding(int64_t input, int64_t kernel, int64_t stride, int64_t dilation) {
    const int64_t outputs = (input + stride - 1) / stride;
    const __int128 missing =
        static_cast<__int128>(outputs - 1) * stride + reach(kernel, dilation) - input;
    return static_cast<int64_t>(std::clamp<__int128>(missing, 0, INT64_MAX));
}

const Node* first_without_values(const Graph& graph) {
    const auto timing_alone = [&](const Node& node) {
        const auto& types = operator_info(node.op).timing_types;
        return std::ranges::find(types, graph.input(node, 0).type) != types.end();
    };
    const auto found = std::ranges::find_if(graph.nodes, timing_alone);
    return found == graph.nodes.end() ? nullptr : &*found;
}

}  // namespace tandem::compiler
