// SPDX-License-Identifier: Apache-2.0
#include "testbench/compiler/random_graph.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "compiler/graph/validate.h"

namespace tandem::testing {

namespace {

using namespace compiler;

class GraphMaker {
  public:
    explicit GraphMaker(std::mt19937& random) : random_(random) {
        graph_.file = "random";
        current_ = add_activation({pick(1, 2), pick(1, 9), pick(1, 9), pick(1, 20)});
        graph_.inputs = {current_};
    }

    Graph make() {
        const int count = pick(1, 6);
        for (int i = 0; i < count; ++i) add_image_node();
        if (pick(0, 1) == 0) add_head();
        graph_.outputs = {current_};
        validate(graph_);
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

    TensorId add_activation(std::vector<int32_t> shape) {
        return add_tensor({.name = {},
                           .shape = std::move(shape),
                           .type = DataType::kInt8,
                           .quantization = {{scale()}, {pick(-128, 60)}, 0},
                           .is_constant = false,
                           .data = {}});
    }

    TensorId add_weights(std::vector<int32_t> shape, uint32_t axis) {
        Tensor t{.name = {},
                 .shape = std::move(shape),
                 .type = DataType::kInt8,
                 .quantization = {},
                 .is_constant = true,
                 .data = {}};
        const int32_t scales = pick(0, 2) == 0 ? 1 : t.shape[axis];
        const float base = scale();
        for (int32_t i = 0; i < scales; ++i) {
            t.quantization.scales.push_back(base *
                                            std::exp2(static_cast<float>(pick(-10, 10)) / 10));
            t.quantization.zero_points.push_back(0);
        }
        t.quantization.axis = scales == 1 ? 0 : axis;
        for (size_t i = 0; i < t.elements(); ++i)
            t.data.push_back(static_cast<uint8_t>(pick(-127, 127)));
        return add_tensor(std::move(t));
    }

    TensorId add_bias(int32_t channels) {
        Tensor t{.name = {},
                 .shape = {channels},
                 .type = DataType::kInt32,
                 .quantization = {},
                 .is_constant = true,
                 .data = {}};
        std::vector<int32_t> values;
        for (int32_t i = 0; i < channels; ++i) values.push_back(pick(-5000, 5000));
        t.data.resize(values.size() * 4);
        std::memcpy(t.data.data(), values.data(), t.data.size());
        return add_tensor(std::move(t));
    }

    /// Rescales the output so that sums of `terms` products use the range of int8.
    void fit_output(Tensor& out, const Tensor& in, const Tensor& weights, int32_t terms) {
        out.quantization.scales[0] = in.scale() * weights.quantization.scales[0] *
                                     std::sqrt(static_cast<float>(terms)) *
                                     static_cast<float>(pick(20, 200));
    }

    void add_node(Operator op, std::vector<TensorId> inputs, TensorId output,
                  Attributes attributes) {
        Node node;
        node.op = op;
        node.index = static_cast<uint32_t>(graph_.nodes.size());
        node.name = graph_.tensors[output].name;
        node.inputs = std::move(inputs);
        node.outputs = {output};
        node.attributes = std::move(attributes);
        graph_.nodes.push_back(std::move(node));
        current_ = output;
    }

    /// None in every other case, since much is constant behind a clamp.
    Activation activation() { return static_cast<Activation>(std::max(0, pick(-3, 3))); }

    Sliding sliding(bool dilated) {
        return {.padding = static_cast<Padding>(pick(0, 1)),
                .stride_h = pick(1, 3),
                .stride_w = pick(1, 3),
                .dilation_h = dilated ? pick(1, 2) : 1,
                .dilation_w = dilated ? pick(1, 2) : 1};
    }

    /// The output of a window over the current tensor; falls back to SAME where it does not fit.
    std::vector<int32_t> window_output(Sliding& s, int32_t kernel_h, int32_t kernel_w, int32_t c) {
        const auto& shape = current().shape;
        for (;;) {
            const auto h = output_extent(shape[1], kernel_h, s.stride_h, s.dilation_h, s.padding);
            const auto w = output_extent(shape[2], kernel_w, s.stride_w, s.dilation_w, s.padding);
            if (h >= 1 && w >= 1)
                return {shape[0], static_cast<int32_t>(h), static_cast<int32_t>(w), c};
            s.padding = Padding::kSame;
        }
    }

    void add_conv(bool depthwise) {
        const int32_t kernel_h = pick(1, 4), kernel_w = pick(1, 4), in_c = current().shape[3];
        const int32_t multiplier = pick(1, in_c > 10 ? 1 : 3);
        const int32_t groups = in_c % 2 == 0 && pick(0, 3) == 0 ? 2 : 1;
        const int32_t out_c = depthwise ? in_c * multiplier : pick(1, 10) * groups;
        Sliding s = sliding(true);
        const TensorId out = add_activation(window_output(s, kernel_h, kernel_w, out_c));
        const TensorId weights = depthwise
                                     ? add_weights({1, kernel_h, kernel_w, out_c}, 3)
                                     : add_weights({out_c, kernel_h, kernel_w, in_c / groups}, 0);
        fit_output(graph_.tensors[out], current(), graph_.tensors[weights],
                   kernel_h * kernel_w * (depthwise ? 1 : in_c / groups));
        std::vector<TensorId> inputs = {current_, weights};
        if (pick(0, 2) != 0) inputs.push_back(add_bias(out_c));
        if (depthwise)
            add_node(Operator::kDepthwiseConv2d, inputs, out,
                     DepthwiseAttributes{s, multiplier, activation()});
        else
            add_node(Operator::kConv2d, inputs, out, ConvAttributes{s, activation()});
    }

    void add_pool() {
        const bool max = pick(0, 1) == 0;
        PoolAttributes a;
        a.sliding = sliding(false);
        a.filter_h = pick(1, 4), a.filter_w = pick(1, 4);
        a.activation = activation();
        const TensorId out =
            add_activation(window_output(a.sliding, a.filter_h, a.filter_w, current().shape[3]));
        graph_.tensors[out].quantization = current().quantization;
        add_node(max ? Operator::kMaxPool2d : Operator::kAveragePool2d, {current_}, out, a);
    }

    /// Adds an earlier tensor of the same shape, or the current one to itself.
    void add_sum() {
        TensorId other = current_;
        for (TensorId id = 0; id < current_; ++id)
            if (!graph_.tensors[id].is_constant && graph_.tensors[id].shape == current().shape)
                other = id;
        const TensorId out = add_activation(current().shape);
        graph_.tensors[out].quantization.scales[0] = current().scale() * 1.5f;
        const bool swapped = pick(0, 1) == 0;
        add_node(Operator::kAdd, {swapped ? other : current_, swapped ? current_ : other}, out,
                 AddAttributes{activation()});
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
                add_activation(keep ? std::vector<int32_t>{shape[0], 1, 1, shape[3]}
                                    : std::vector<int32_t>{shape[0], shape[3]});
            graph_.tensors[out].quantization.scales[0] = current().scale() * 0.7f;
            add_node(Operator::kMean, {current_}, out, MeanAttributes{keep});
        }
        const auto rows = shape[0];
        const auto depth = static_cast<int32_t>(current().elements()) / rows;
        const TensorId flat = add_activation({rows, depth});
        graph_.tensors[flat].quantization = current().quantization;
        add_node(Operator::kReshape, {current_}, flat, ReshapeAttributes{});
        if (pick(0, 3) == 0) return;
        const int32_t out_c = pick(1, 40);
        const TensorId out = add_activation({rows, out_c}),
                       weights = add_weights({out_c, depth}, 0);
        fit_output(graph_.tensors[out], current(), graph_.tensors[weights], depth);
        add_node(Operator::kFullyConnected, {current_, weights, add_bias(out_c)}, out,
                 FullyConnectedAttributes{activation()});
        if (pick(0, 1) == 0) return;
        graph_.tensors[current_].quantization.scales[0] = 0.02f * static_cast<float>(pick(1, 20));
        const TensorId probabilities = add_activation({rows, out_c});
        graph_.tensors[probabilities].quantization = {{1.0f / 256}, {-128}, 0};
        add_node(Operator::kSoftmax, {current_}, probabilities, SoftmaxAttributes{1.0f});
    }

    std::mt19937& random_;
    Graph graph_;
    TensorId current_ = 0;
};

}  // namespace

Graph random_graph(std::mt19937& random) { return GraphMaker(random).make(); }

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

}  // namespace tandem::testing
