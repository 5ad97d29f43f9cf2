// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/node_rules.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace tandem::compiler {

namespace {

bool holds(const std::vector<ElementType>& types, ElementType type) {
    return std::ranges::find(types, type) != types.end();
}

/// "INT8, BFLOAT16 or (its time alone) INT16".
std::string types_text(const OperatorInfo& info) {
    std::string text;
    for (const ElementType type : info.data_types)
        text += (text.empty() ? "" : ", ") + std::string(element_type_name(type));
    std::string timing;
    for (const ElementType type : info.timing_types)
        timing += (timing.empty() ? "" : ", ") + std::string(element_type_name(type));
    return timing.empty() ? text : text + " or, for its time alone, " + timing;
}

}  // namespace

void NodeRules::fail(const std::string& what, const std::string& expected,
                     const std::string& found) const {
    throw UserError(place_of(graph_, node_), describe(node_) + ": " + what, expected, found);
}

std::string NodeRules::named(const Tensor& tensor, const std::string& role) const {
    return tensor.name == node_.name ? role : role + " '" + tensor.name + "'";
}

void NodeRules::need_rank(const Tensor& tensor, size_t rank, const std::string& role) const {
    if (tensor.shape.size() != rank)
        fail(named(tensor, role), std::to_string(rank) + " dimensions", shape_text(tensor.shape));
}

void NodeRules::need_shape(const Tensor& tensor, const Shape& shape,
                           const std::string& role) const {
    if (tensor.shape != shape)
        fail(named(tensor, role), "shape " + shape_text(shape), shape_text(tensor.shape));
}

void NodeRules::need_type(const Tensor& tensor, ElementType type, const std::string& role) const {
    if (tensor.type != type)
        fail(named(tensor, role), std::string(element_type_name(type)),
             std::string(element_type_name(tensor.type)));
}

void NodeRules::need_image(const Tensor& tensor, const std::string& role) const {
    need_rank(tensor, 4, role);
    if (tensor.layout != Layout::kNhwc)
        fail(named(tensor, role), "layout NHWC", std::string(layout_name(tensor.layout)));
}

void NodeRules::need_scales(const Tensor& tensor, const std::string& role) const {
    for (const float scale : tensor.quantization.scales)
        if (!std::isnormal(scale) || scale < 0)
            fail(named(tensor, role), "positive finite scales", std::to_string(scale));
}

void NodeRules::need_activation(const Tensor& tensor, const std::string& role) const {
    const OperatorInfo& info = operator_info(node_.op);
    if (!holds(info.data_types, tensor.type) && !holds(info.timing_types, tensor.type))
        fail(named(tensor, role), types_text(info), std::string(element_type_name(tensor.type)));
    if (tensor.is_constant) fail(named(tensor, role), "an activation", "a constant");
    const Quantization& q = tensor.quantization;
    const std::string scales = std::to_string(q.scales.size()) + " scales";
    if (tensor.type != ElementType::kInt8) {
        if (!q.scales.empty())
            fail(named(tensor, role), "no scale for " + std::string(element_type_name(tensor.type)),
                 scales);
        return;
    }
    if (q.scales.size() != 1 || q.zero_points.size() != 1)
        fail(named(tensor, role), "one scale and zero point", scales);
    need_scales(tensor, role);
    if (q.zero_points[0] < -128 || q.zero_points[0] > 127)
        fail(named(tensor, role), "zero point -128 to 127", std::to_string(q.zero_points[0]));
}

void NodeRules::need_weights(const Tensor& weights, std::optional<uint32_t> axis) const {
    const ElementType type = in().type;
    need_type(weights, type == ElementType::kInt16 ? ElementType::kInt8 : type, "weights");
    if (!weights.is_constant) fail(named(weights, "weights"), "a constant", "an activation");
    if (holds(operator_info(node_.op).timing_types, type) && weights.has_data())
        fail(named(weights, "weights"),
             "no values: of " + std::string(element_type_name(type)) +
                 " activations only the time is defined",
             std::to_string(weights.bytes().size()) + " bytes");
    const Quantization& q = weights.quantization;
    if (type != ElementType::kInt8) {
        if (!q.scales.empty())
            fail(named(weights, "weights"),
                 "no scales beside " + std::string(element_type_name(type)) + " activations",
                 std::to_string(q.scales.size()));
        return;
    }
    const auto channels = axis ? static_cast<size_t>(weights.shape[*axis]) : 1;
    if (q.scales.size() != 1 && (q.scales.size() != channels || q.axis != *axis))
        fail(named(weights, "weights"),
             axis ? "1 scale or " + std::to_string(channels) + " along dimension " +
                        std::to_string(*axis)
                  : "1 scale",
             std::to_string(q.scales.size()) + " along dimension " + std::to_string(q.axis));
    if (q.zero_points.size() != q.scales.size())
        fail(named(weights, "weights"), std::to_string(q.scales.size()) + " zero points",
             std::to_string(q.zero_points.size()));
    need_scales(weights, "weights");
    for (const int32_t zero : q.zero_points)
        if (zero != 0) fail(named(weights, "weights"), "zero point 0", std::to_string(zero));
}

void NodeRules::need_bias(const Tensor& weights, int64_t channels) const {
    if (!has_input(2)) return;
    const Tensor& bias = in(2);
    if (in().type == ElementType::kInt16)
        fail(named(bias, "bias"),
             "none beside " + std::string(element_type_name(in().type)) + " activations", "one");
    const bool is_int8 = in().type == ElementType::kInt8;
    need_type(bias, is_int8 ? ElementType::kInt32 : ElementType::kFloat32, "bias");
    if (!bias.is_constant) fail(named(bias, "bias"), "a constant", "an activation");
    if (bias.elements() != static_cast<uint64_t>(channels))
        fail(named(bias, "bias"), std::to_string(channels) + " elements", shape_text(bias.shape));
    const auto& scales = bias.quantization.scales;
    if (!is_int8) {
        if (!scales.empty()) fail(named(bias, "bias"), "no scales", std::to_string(scales.size()));
        return;
    }
    const auto& weight_scales = weights.quantization.scales;
    const double step = out().scale();
    for (size_t i = 0; i < scales.size(); ++i) {
        const double product = double{in().scale()} * weight_scales[i % weight_scales.size()];
        if (!(std::abs(product - scales[i]) <= 0.02 * step))
            fail(named(bias, "bias"),
                 "scale " + std::to_string(product) + " (input scale * weight scale)",
                 std::to_string(scales[i]));
    }
}

std::pair<int64_t, int64_t> NodeRules::window_output() const {
    const Shape& image = in().shape;
    const WindowAttributes w = window(graph_, node_);
    const int64_t height =
        output_extent(image[1], w.kernel_h, w.stride_h, w.dilation_h, w.pad_top + w.pad_bottom);
    const int64_t width =
        output_extent(image[2], w.kernel_w, w.stride_w, w.dilation_w, w.pad_left + w.pad_right);
    if (height < 1 || width < 1)
        fail("kernel", "one that fits into the image " + shape_text(image),
             std::to_string(w.kernel_h) + "x" + std::to_string(w.kernel_w));
    return {height, width};
}

}  // namespace tandem::compiler
