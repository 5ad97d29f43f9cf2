// SPDX-License-Identifier: Apache-2.0
#include "testbench/compiler/random_graph.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "compiler/graph/operators.h"
#include "compiler/graph/seed.h"
#include "compiler/graph/verify.h"
#include "testbench/compiler/append_node.h"

namespace tandem::testbench {

namespace {

using namespace compiler;

class GraphMaker {
  public:
    GraphMaker(std::mt19937& random, ElementType type) : random_(random), type_(type) {
        graph_.file = "random";
        wild_ = is_float() && pick(0, 5) == 0;
        current_ = add_activation({pick(1, 2), pick(1, 9), pick(1, 9), pick(1, 20)});
        graph_.inputs = {current_};
    }

    Graph make() {
        const int count = pick(1, 6);
        for (int i = 0; i < count; ++i) add_image_node();
        if (pick(0, 1) == 0) add_head();
        graph_.outputs = {current_};
        verify(graph_);
        return std::move(graph_);
    }

  private:
    int32_t pick(int32_t low, int32_t high) {
        return std::uniform_int_distribution<int32_t>(low, high)(random_);
    }
    float scale() { return std::exp2(static_cast<float>(pick(-80, -20)) / 10.0f); }
    const Tensor& current() const { return graph_.tensors[current_]; }

    TensorId add_tensor(Tensor tensor) {
        tensor.name = "t" + std::to_string(graph_.tensors.size());
        graph_.tensors.push_back(std::move(tensor));
        return static_cast<TensorId>(graph_.tensors.size() - 1);
    }

    TensorId add_activation(Shape shape) {
        Tensor t;
        t.layout = shape.size() == 4 ? Layout::kNhwc : Layout::kRowMajor;
        t.shape = std::move(shape);
        t.type = type_;
        if (!is_float()) t.quantization = {{scale()}, {pick(-128, 60)}, 0};
        return add_tensor(std::move(t));
    }

    bool is_float() const { return type_ == ElementType::kFloat32; }

    TensorId add_seeded(Tensor t) {
        t.type = ElementType::kFloat32;
        t.set_bytes(wild_ ? wild_floats(t.elements()) : seeded_bytes(t, random_()));
        return add_tensor(std::move(t));
    }

    /// Numbers of all sizes; now and then nearly nothing, and seldom infinite or no number.
    std::vector<uint8_t> wild_floats(uint64_t count) {
        std::vector<uint8_t> bytes(count * sizeof(uint32_t));
        for (uint64_t i = 0; i < count; ++i) {
            const int32_t exponent = pick(0, 5) > 0    ? pick(90, 160)
                                     : pick(0, 30) > 0 ? pick(0, 40)
                                                       : 255;
            const uint32_t fraction = exponent == 255 ? static_cast<uint32_t>(pick(0, 1)) << 22
                                                      : static_cast<uint32_t>(random_() & 0x7fffff);
            const uint32_t value = static_cast<uint32_t>(pick(0, 1)) << 31 |
                                   static_cast<uint32_t>(exponent) << 23 | fraction;
            std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
        }
        return bytes;
    }

    // Scales, which int8 tensors alone have.
    void set_scale(TensorId id, float scale) {
        if (!is_float()) graph_.tensors[id].quantization.scales[0] = scale;
    }
    void scale_as_current(TensorId id, float factor) {
        if (!is_float()) set_scale(id, current().scale() * factor);
    }

    TensorId add_weights(Shape shape, uint32_t axis) {
        Tensor t;
        t.shape = std::move(shape);
        t.is_constant = true;
        if (is_float()) return add_seeded(std::move(t));
        const int64_t scales = pick(0, 2) == 0 ? 1 : t.shape[axis];
        const float base = scale();
        for (int64_t i = 0; i < scales; ++i) {
            t.quantization.scales.push_back(base *
                                            std::exp2(static_cast<float>(pick(-10, 10)) / 10));
            t.quantization.zero_points.push_back(0);
        }
        t.quantization.axis = scales == 1 ? 0 : axis;
        std::vector<uint8_t> bytes(t.elements());
        for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(pick(-127, 127));
        t.set_bytes(std::move(bytes));
        return add_tensor(std::move(t));
    }

    TensorId add_bias(int64_t channels) {
        Tensor t;
        t.shape = {channels};
        t.type = ElementType::kInt32;
        t.is_constant = true;
        if (is_float()) return add_seeded(std::move(t));
        std::vector<int32_t> values;
        for (int64_t i = 0; i < channels; ++i) values.push_back(pick(-5000, 5000));
        std::vector<uint8_t> bytes(values.size() * 4);
        std::memcpy(bytes.data(), values.data(), bytes.size());
        t.set_bytes(std::move(bytes));
        return add_tensor(std::move(t));
    }

    /// Rescales the output so that sums of `terms` products use the range of int8.
    void fit_output(Tensor& out, const Tensor& in, const Tensor& weights, int64_t terms) {
        if (is_float()) return;
        out.quantization.scales[0] = in.scale() * weights.quantization.scales[0] *
                                     std::sqrt(static_cast<float>(terms)) *
                                     static_cast<float>(pick(20, 200));
    }

    void add_node(Operator op, std::vector<TensorId> inputs, TensorId output,
                  Attributes attributes) {
        append_node(graph_, op, std::move(inputs), output, std::move(attributes));
        current_ = output;
    }

    /// None in every other case, since much is constant behind a clamp.
    Attributes fused() {
        const auto one = static_cast<Activation>(std::max(0, pick(-3, 3)));
        return {{"activation", std::string(activation_name(one))}};
    }

    /// TFLite's SAME or VALID, the former where the latter does not fit; sometimes any padding.
    WindowAttributes random_window(int32_t kernel_h, int32_t kernel_w, bool dilated) {
        WindowAttributes w;
        w.kernel_h = kernel_h, w.kernel_w = kernel_w;
        w.stride_h = pick(1, 3), w.stride_w = pick(1, 3);
        if (dilated) w.dilation_h = pick(1, 2), w.dilation_w = pick(1, 2);
        const int32_t kind = pick(0, 4);
        if (kind == 0) {
            w.pad_top = pick(0, kernel_h - 1), w.pad_bottom = pick(0, kernel_h - 1);
            w.pad_left = pick(0, kernel_w - 1), w.pad_right = pick(0, kernel_w - 1);
        }
        const Shape shape = output_shape(w, 1);
        if (kind > 2 || shape[1] < 1 || shape[2] < 1) {
            const Shape& in = current().shape;
            const int64_t h = same_padding(in[1], kernel_h, w.stride_h, w.dilation_h);
            const int64_t v = same_padding(in[2], kernel_w, w.stride_w, w.dilation_w);
            w.pad_top = h / 2, w.pad_bottom = h - h / 2;
            w.pad_left = v / 2, w.pad_right = v - v / 2;
        }
        return w;
    }

    Shape output_shape(const WindowAttributes& w, int64_t channels) {
        const Shape& in = current().shape;
        return {
            in[0],
            output_extent(in[1], w.kernel_h, w.stride_h, w.dilation_h, w.pad_top + w.pad_bottom),
            output_extent(in[2], w.kernel_w, w.stride_w, w.dilation_w, w.pad_left + w.pad_right),
            channels};
    }

    void add_conv(bool depthwise) {
        const int32_t kernel_h = pick(1, 4), kernel_w = pick(1, 4);
        const int64_t in_c = current().shape[3];
        const int32_t multiplier = pick(1, in_c > 10 ? 1 : 3);
        const int32_t groups = in_c % 2 == 0 && pick(0, 3) == 0 ? 2 : 1;
        const int64_t out_c = depthwise ? in_c * multiplier : pick(1, 10) * groups;
        const WindowAttributes w = random_window(kernel_h, kernel_w, true);
        const TensorId out = add_activation(output_shape(w, out_c));
        const TensorId weights = depthwise
                                     ? add_weights({1, kernel_h, kernel_w, out_c}, 3)
                                     : add_weights({out_c, kernel_h, kernel_w, in_c / groups}, 0);
        fit_output(graph_.tensors[out], current(), graph_.tensors[weights],
                   kernel_h * kernel_w * (depthwise ? 1 : in_c / groups));
        std::vector<TensorId> inputs = {current_, weights};
        if (pick(0, 2) != 0) inputs.push_back(add_bias(out_c));
        Attributes attributes = fused();
        if (depthwise) attributes["depth_multiplier"] = int64_t{multiplier};
        add_node(depthwise ? Operator::kDepthwiseConv2d : Operator::kConv2d, inputs, out,
                 std::move(attributes));
        set_window(graph_.nodes.back(), w);
    }

    void add_pool() {
        const bool max = pick(0, 1) == 0;
        const WindowAttributes w = random_window(pick(1, 4), pick(1, 4), false);
        const TensorId out = add_activation(output_shape(w, current().shape[3]));
        graph_.tensors[out].quantization = current().quantization;
        Attributes attributes = fused();
        attributes["filter"] = std::vector<int64_t>{w.kernel_h, w.kernel_w};
        add_node(max ? Operator::kMaxPool2d : Operator::kAveragePool2d, {current_}, out,
                 std::move(attributes));
        set_window(graph_.nodes.back(), w);
    }

    /// Adds an earlier tensor of the same shape, or the current one to itself.
    void add_sum() {
        TensorId other = current_;
        for (TensorId id = 0; id < current_; ++id)
            if (!graph_.tensors[id].is_constant && graph_.tensors[id].shape == current().shape)
                other = id;
        const TensorId out = add_activation(current().shape);
        scale_as_current(out, 1.5f);
        const bool swapped = pick(0, 1) == 0;
        add_node(Operator::kAdd, {swapped ? other : current_, swapped ? current_ : other}, out,
                 fused());
    }

    void add_image_node() {
        switch (pick(0, 6)) {
            case 0:
            case 1:
            case 2:
                return add_conv(false);
            case 3:
                return add_conv(true);
            case 4:
                return add_pool();
            default:
                return add_sum();
        }
    }

    /// MEAN or RESHAPE, FULLY_CONNECTED, perhaps SOFTMAX.
    void add_head() {
        const auto shape = current().shape;
        if (pick(0, 1) == 0) {
            const bool keep = pick(0, 1) == 0;
            const TensorId out =
                add_activation(keep ? Shape{shape[0], 1, 1, shape[3]} : Shape{shape[0], shape[3]});
            scale_as_current(out, 0.7f);
            add_node(Operator::kMean, {current_}, out, {{"keep_dims", int64_t{keep}}});
        }
        const auto rows = shape[0];
        const auto depth = static_cast<int64_t>(current().elements()) / rows;
        const TensorId flat = add_activation({rows, depth});
        graph_.tensors[flat].quantization = current().quantization;
        add_node(Operator::kReshape, {current_}, flat, {});
        if (pick(0, 3) == 0) return;
        const int32_t out_c = pick(1, 40);
        const TensorId out = add_activation({rows, out_c}),
                       weights = add_weights({out_c, depth}, 0);
        fit_output(graph_.tensors[out], current(), graph_.tensors[weights], depth);
        add_node(Operator::kFullyConnected, {current_, weights, add_bias(out_c)}, out, fused());
        if (pick(0, 1) == 0) return;
        set_scale(current_, 0.02f * static_cast<float>(pick(1, 20)));
        const TensorId probabilities = add_activation({rows, out_c});
        if (!is_float()) graph_.tensors[probabilities].quantization = {{1.0f / 256}, {-128}, 0};
        add_node(Operator::kSoftmax, {current_}, probabilities, {{"beta", 1.0f}});
    }

    std::mt19937& random_;
    const ElementType type_;
    bool wild_ = false;  ///< constants of floats
    Graph graph_;
    TensorId current_ = 0;
};

}  // namespace

Graph random_graph(std::mt19937& random, ElementType type) {
    return GraphMaker(random, type).make();
}

std::vector<std::vector<int8_t>> random_inputs(const Graph& graph, uint32_t samples,
                                               std::mt19937& random) {
    std::vector<std::vector<int8_t>> inputs;
    for (const TensorId id : graph.inputs) {
        auto& values = inputs.emplace_back();
        for (size_t i = 0; i < samples * graph.tensors[id].elements(); ++i)
            values.push_back(static_cast<int8_t>(random() & 0xff));
    }
    return inputs;
}

}  // namespace tandem::testbench
