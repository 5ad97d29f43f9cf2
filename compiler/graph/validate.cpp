// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/validate.h"

#include <cmath>

#include "arch/error.h"

namespace tandem::compiler {

namespace {

/// Checks one node against the tensors it names.
class NodeChecker {
  public:
    NodeChecker(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

    void check() const {
        if (node_.outputs.size() != 1) fail("outputs", "1", std::to_string(node_.outputs.size()));
        check_activation(graph_.output(node_), "output");
        std::visit([this](const auto& attributes) { check(attributes); }, node_.attributes);
    }

  private:
    [[noreturn]] void fail(const std::string& what, const std::string& expected,
                           const std::string& found) const {
        throw UserError(graph_.file, describe(node_) + ": " + what, expected, found);
    }

    /// The output's name is the node's, which stands in the message already.
    std::string named(const Tensor& tensor, const std::string& role) const {
        return tensor.name == node_.name ? role : role + " '" + tensor.name + "'";
    }

    void need_inputs(size_t least, size_t most) const {
        const size_t count = node_.inputs.size();
        if (count < least || count > most)
            fail("inputs",
                 std::to_string(least) + (most > least ? " or " + std::to_string(most) : ""),
                 std::to_string(count));
    }

    void need_rank(const Tensor& tensor, size_t rank, const std::string& role) const {
        if (tensor.shape.size() != rank)
            fail(named(tensor, role), std::to_string(rank) + " dimensions",
                 shape_text(tensor.shape));
    }

    void need_shape(const Tensor& tensor, const std::vector<int32_t>& shape,
                    const std::string& role) const {
        if (tensor.shape != shape)
            fail(named(tensor, role), "shape " + shape_text(shape), shape_text(tensor.shape));
    }

    void need_type(const Tensor& tensor, DataType type, const std::string& role) const {
        if (tensor.type != type)
            fail(named(tensor, role), std::string(data_type_name(type)),
                 std::string(data_type_name(tensor.type)));
    }

    void need_scales(const Tensor& tensor, const std::string& role) const {
        for (const float scale : tensor.quantization.scales)
            if (!std::isnormal(scale) || scale < 0)
                fail(named(tensor, role), "positive finite scales", std::to_string(scale));
    }

    void check_activation(const Tensor& tensor, const std::string& role) const {
        need_type(tensor, DataType::kInt8, role);
        if (tensor.is_constant) fail(named(tensor, role), "an activation", "a constant");
        const Quantization& q = tensor.quantization;
        if (q.scales.size() != 1 || q.zero_points.size() != 1)
            fail(named(tensor, role), "one scale and zero point",
                 std::to_string(q.scales.size()) + " scales");
        need_scales(tensor, role);
        if (q.zero_points[0] < -128 || q.zero_points[0] > 127)
            fail(named(tensor, role), "zero point -128 to 127", std::to_string(q.zero_points[0]));
    }

    /// int8 constants, symmetric, one scale or one per output channel, which lie along `axis`.
    void check_weights(const Tensor& weights, uint32_t axis) const {
        need_type(weights, DataType::kInt8, "weights");
        if (!weights.is_constant) fail(named(weights, "weights"), "a constant", "an activation");
        const Quantization& q = weights.quantization;
        const auto channels = static_cast<size_t>(weights.shape[axis]);
        if (q.scales.size() != 1 && (q.scales.size() != channels || q.axis != axis))
            fail(named(weights, "weights"),
                 "1 scale or " + std::to_string(channels) + " along dimension " +
                     std::to_string(axis),
                 std::to_string(q.scales.size()) + " along dimension " + std::to_string(q.axis));
        if (q.zero_points.size() != q.scales.size())
            fail(named(weights, "weights"), std::to_string(q.scales.size()) + " zero points",
                 std::to_string(q.zero_points.size()));
        need_scales(weights, "weights");
        for (const int32_t zero : q.zero_points)
            if (zero != 0) fail(named(weights, "weights"), "zero point 0", std::to_string(zero));
    }

    /// int32 constants, one per output channel; scales, where given, are input scale * weight scale
    /// to within 2 % of an output step (as TFLite tolerates).
    void check_bias(const Tensor& weights, int32_t channels) const {
        if (node_.inputs.size() < 3) return;
        const Tensor& bias = graph_.input(node_, 2);
        need_type(bias, DataType::kInt32, "bias");
        if (!bias.is_constant) fail(named(bias, "bias"), "a constant", "an activation");
        if (bias.elements() != static_cast<size_t>(channels))
            fail(named(bias, "bias"), std::to_string(channels) + " elements",
                 shape_text(bias.shape));
        const auto& scales = bias.quantization.scales;
        const auto& weight_scales = weights.quantization.scales;
        const double step = graph_.output(node_).scale();
        for (size_t i = 0; i < scales.size(); ++i) {
            const double product =
                double{graph_.input(node_, 0).scale()} * weight_scales[i % weight_scales.size()];
            if (!(std::abs(product - scales[i]) <= 0.02 * step))
                fail(named(bias, "bias"),
                     "scale " + std::to_string(product) + " (input scale * weight scale)",
                     std::to_string(scales[i]));
        }
    }

    void check_sliding(const Sliding& sliding, int32_t kernel_h, int32_t kernel_w,
                       int32_t channels) const {
        const Tensor& in = graph_.input(node_, 0);
        for (const int32_t value : {sliding.stride_h, sliding.stride_w, sliding.dilation_h,
                                    sliding.dilation_w, kernel_h, kernel_w})
            if (value < 1) fail("kernel, stride and dilation", "at least 1", std::to_string(value));
        const int64_t height = output_extent(in.shape[1], kernel_h, sliding.stride_h,
                                             sliding.dilation_h, sliding.padding);
        const int64_t width = output_extent(in.shape[2], kernel_w, sliding.stride_w,
                                            sliding.dilation_w, sliding.padding);
        if (height < 1 || width < 1)
            fail("kernel", "one that fits into the image " + shape_text(in.shape),
                 std::to_string(kernel_h) + "x" + std::to_string(kernel_w));
        need_shape(
            graph_.output(node_),
            {in.shape[0], static_cast<int32_t>(height), static_cast<int32_t>(width), channels},
            "output");
    }

    const Tensor& image_input() const {
        const Tensor& in = graph_.input(node_, 0);
        check_activation(in, "input");
        need_rank(in, 4, "input");
        return in;
    }

    void check(const ConvAttributes& attributes) const {
        need_inputs(2, 3);
        const Tensor& in = image_input();
        const Tensor& weights = graph_.input(node_, 1);
        need_rank(weights, 4, "weights");
        check_weights(weights, 0);
        const int32_t groups = in.shape[3] / weights.shape[3];
        if (in.shape[3] % weights.shape[3] != 0 || weights.shape[0] % groups != 0)
            fail(named(weights, "weights"),
                 "channels that divide the image's " + std::to_string(in.shape[3]),
                 shape_text(weights.shape));
        check_sliding(attributes.sliding, weights.shape[1], weights.shape[2], weights.shape[0]);
        check_bias(weights, weights.shape[0]);
    }

    void check(const DepthwiseAttributes& attributes) const {
        need_inputs(2, 3);
        const Tensor& in = image_input();
        const Tensor& weights = graph_.input(node_, 1);
        need_rank(weights, 4, "weights");
        check_weights(weights, 3);
        const int64_t channels = int64_t{in.shape[3]} * attributes.depth_multiplier;
        if (attributes.depth_multiplier < 1 || weights.shape[0] != 1 ||
            weights.shape[3] != channels)
            fail(named(weights, "weights"),
                 "1 x kernel x " + std::to_string(channels) + " channels",
                 shape_text(weights.shape));
        check_sliding(attributes.sliding, weights.shape[1], weights.shape[2], weights.shape[3]);
        check_bias(weights, weights.shape[3]);
    }

    void check(const FullyConnectedAttributes&) const {
        need_inputs(2, 3);
        const Tensor& in = graph_.input(node_, 0);
        const Tensor& out = graph_.output(node_);
        const Tensor& weights = graph_.input(node_, 1);
        check_activation(in, "input");
        need_rank(weights, 2, "weights");
        check_weights(weights, 0);
        const auto depth = static_cast<size_t>(weights.shape[1]);
        if (in.elements() % depth != 0)
            fail(named(in, "input"), "rows of " + std::to_string(depth), shape_text(in.shape));
        const size_t outputs = in.elements() / depth * static_cast<size_t>(weights.shape[0]);
        if (out.elements() != outputs)
            fail(named(out, "output"), std::to_string(outputs) + " elements",
                 shape_text(out.shape));
        check_bias(weights, weights.shape[0]);
    }

    void check(const AddAttributes&) const {
        need_inputs(2, 2);
        for (size_t i = 0; i < 2; ++i) {
            check_activation(graph_.input(node_, i), "input");
            need_shape(graph_.input(node_, i), graph_.output(node_).shape, "input");
        }
    }

    void check(const PoolAttributes& attributes) const {
        need_inputs(1, 1);
        const Tensor& in = image_input();
        check_sliding(attributes.sliding, attributes.filter_h, attributes.filter_w, in.shape[3]);
        const Tensor& out = graph_.output(node_);
        if (in.scale() != out.scale() || in.zero_point() != out.zero_point())
            fail(named(out, "output"), "the input's scale and zero point", "others");
    }

    void check(const MeanAttributes& attributes) const {
        need_inputs(1, 1);
        const Tensor& in = image_input();
        need_shape(graph_.output(node_),
                   attributes.keep_dims ? std::vector<int32_t>{in.shape[0], 1, 1, in.shape[3]}
                                        : std::vector<int32_t>{in.shape[0], in.shape[3]},
                   "output");
    }

    void check(const ReshapeAttributes&) const {
        need_inputs(1, 1);
        const Tensor& in = graph_.input(node_, 0);
        check_activation(in, "input");
        if (in.elements() != graph_.output(node_).elements())
            fail(named(graph_.output(node_), "output"), std::to_string(in.elements()) + " elements",
                 shape_text(graph_.output(node_).shape));
    }

    void check(const SoftmaxAttributes& attributes) const {
        need_inputs(1, 1);
        const Tensor& in = graph_.input(node_, 0);
        const Tensor& out = graph_.output(node_);
        check_activation(in, "input");
        if (in.shape.empty()) fail(named(in, "input"), "1 dimension or more", "scalar");
        need_shape(out, in.shape, "output");
        if (!std::isnormal(attributes.beta) || attributes.beta < 0)
            fail("beta", "a positive number", std::to_string(attributes.beta));
        if (out.scale() != 1.0f / 256 || out.zero_point() != -128)
            fail(named(out, "output"), "scale 1/256 and zero point -128",
                 "scale " + std::to_string(out.scale()) + ", zero point " +
                     std::to_string(out.zero_point()));
    }

    const Graph& graph_;
    const Node& node_;
};

/// Every activation has one origin, which stands before its uses.
void check_order(const Graph& graph) {
    const auto name = [&](TensorId id) { return "tensor '" + graph.tensors.at(id).name + "'"; };
    std::vector<bool> known(graph.tensors.size());
    for (const TensorId id : graph.inputs) {
        if (known.at(id)) throw UserError(graph.file, name(id), "one graph input", "two");
        known[id] = true;
    }
    for (const Node& node : graph.nodes) {
        for (const TensorId id : node.inputs)
            if (!known.at(id) && !graph.tensors.at(id).is_constant)
                throw UserError(graph.file, describe(node), "inputs computed before it",
                                name(id) + ", which is not");
        for (const TensorId id : node.outputs) {
            if (known.at(id))
                throw UserError(graph.file, describe(node), "an output of its own",
                                name(id) + ", which is computed before");
            known[id] = true;
        }
    }
    for (const TensorId id : graph.outputs)
        if (!known.at(id))
            throw UserError(graph.file, name(id), "a computed graph output",
                            "one without an origin");
}

}  // namespace

int64_t output_extent(int32_t input, int32_t kernel, int32_t stride, int32_t dilation,
                      Padding padding) {
    if (padding == Padding::kSame) return (int64_t{input} + stride - 1) / stride;
    const int64_t reach = int64_t{kernel - 1} * dilation + 1;
    return reach > input ? 0 : (input - reach) / stride + 1;
}

void validate(const Graph& graph) {
    if (graph.inputs.empty()) throw UserError(graph.file, "graph inputs", "1 or more", "none");
    if (graph.outputs.empty()) throw UserError(graph.file, "graph outputs", "1 or more", "none");
    for (const Node& node : graph.nodes) NodeChecker(graph, node).check();
    check_order(graph);
    for (const TensorId id : graph.inputs) {
        const Tensor& tensor = graph.tensors[id];
        if (tensor.type != DataType::kInt8 || tensor.is_constant ||
            tensor.quantization.scales.size() != 1)
            throw UserError(graph.file, "graph input '" + tensor.name + "'",
                            "an INT8 tensor with one scale",
                            std::string(data_type_name(tensor.type)));
    }
}

}  // namespace tandem::compiler
