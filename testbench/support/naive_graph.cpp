// SPDX-License-Identifier: Apache-2.0
// naive_run: the oracle's operators applied to a graph.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "testbench/support/naive_ops.h"

namespace tandem::testing {

namespace {

using namespace compiler;

Int8s int8_data(const Tensor& tensor) {
    Int8s values(tensor.data.size());
    std::memcpy(values.data(), tensor.data.data(), values.size());
    return values;
}

std::vector<int32_t> bias_data(const Graph& graph, const Node& node) {
    if (node.inputs.size() < 3) return {};
    const Tensor& tensor = graph.input(node, 2);
    std::vector<int32_t> values(tensor.data.size() / 4);
    std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
    return values;
}

/// Padding before the first element along one axis.
int padding_before(int in, int out, int kernel, int stride, int dilation, Padding padding) {
    if (padding == Padding::kValid) return 0;
    const int covered = (out - 1) * stride + (kernel - 1) * dilation + 1;
    return covered > in ? (covered - in) / 2 : 0;
}

NaiveWindow window(const Tensor& in, const Tensor& out, int kernel_h, int kernel_w,
                   const Sliding& s) {
    NaiveWindow w;
    w.batch = in.shape[0], w.in_h = in.shape[1], w.in_w = in.shape[2], w.in_c = in.shape[3];
    w.out_h = out.shape[1], w.out_w = out.shape[2];
    w.kernel_h = kernel_h, w.kernel_w = kernel_w;
    w.stride_h = s.stride_h, w.stride_w = s.stride_w;
    w.dilation_h = s.dilation_h, w.dilation_w = s.dilation_w;
    w.pad_top = padding_before(w.in_h, w.out_h, kernel_h, s.stride_h, s.dilation_h, s.padding);
    w.pad_left = padding_before(w.in_w, w.out_w, kernel_w, s.stride_w, s.dilation_w, s.padding);
    return w;
}

class Runner {
  public:
    Runner(const Graph& graph, NaiveRounding rounding)
        : graph_(graph), rounding_(rounding), values_(graph.tensors.size()) {}

    std::vector<Int8s> run(const std::vector<Int8s>& inputs) {
        for (size_t i = 0; i < inputs.size(); ++i) values_.at(graph_.inputs.at(i)) = inputs[i];
        std::vector<Int8s> results;
        for (const Node& node : graph_.nodes) {
            node_ = &node;
            Int8s value = std::visit([this](const auto& a) { return compute(a); }, node.attributes);
            results.push_back(value);
            values_[node.outputs[0]] = std::move(value);
        }
        return results;
    }

  private:
    const Tensor& in(size_t i = 0) const { return graph_.input(*node_, i); }
    const Tensor& out() const { return graph_.output(*node_); }
    const Int8s& value(size_t i = 0) const { return values_[node_->inputs[i]]; }

    NaiveOutput output(Activation activation) const {
        NaiveOutput o;
        o.zero_point = out().zero_point();
        o.rounding = rounding_;
        const auto level = [&](float real) {
            const double steps = double{real / out().scale()};
            return static_cast<int32_t>(rounding_ == NaiveRounding::kGemmlowp
                                            ? std::round(steps)
                                            : std::nearbyint(steps)) +
                   o.zero_point;
        };
        if (activation == Activation::kNone) return o;
        const float bottom = activation == Activation::kReluN1To1 ? -1.0f : 0.0f;
        o.low = std::max(o.low, level(bottom));
        if (activation == Activation::kRelu6) o.high = std::min(o.high, level(6.0f));
        if (activation == Activation::kReluN1To1) o.high = std::min(o.high, level(1.0f));
        return o;
    }

    NaiveOutput channel_output(Activation activation) const {
        NaiveOutput o = output(activation);
        for (const float weight_scale : in(1).quantization.scales) {
            NaiveScale s =
                naive_quantise(double{in().scale()} * double{weight_scale} / double{out().scale()});
            s.single = in().scale() * weight_scale / out().scale();
            o.scales.push_back(s);
        }
        return o;
    }

    Int8s compute(const ConvAttributes& a) const {
        const auto& w = in(1).shape;
        return naive_conv(window(in(), out(), w[1], w[2], a.sliding), value(), in().zero_point(),
                          int8_data(in(1)), bias_data(graph_, *node_), w[0], in().shape[3] / w[3],
                          channel_output(a.activation));
    }

    Int8s compute(const DepthwiseAttributes& a) const {
        const auto& w = in(1).shape;
        return naive_depthwise(window(in(), out(), w[1], w[2], a.sliding), value(),
                               in().zero_point(), int8_data(in(1)), bias_data(graph_, *node_),
                               a.depth_multiplier, channel_output(a.activation));
    }

    Int8s compute(const FullyConnectedAttributes& a) const {
        return naive_fully_connected(value(), in().zero_point(), int8_data(in(1)), 0,
                                     bias_data(graph_, *node_), in(1).shape[0],
                                     channel_output(a.activation));
    }

    Int8s compute(const AddAttributes& a) const {
        const double twice_max = 2.0 * std::max(in(0).scale(), in(1).scale());
        NaiveScale scale_a = naive_quantise(in(0).scale() / twice_max);
        NaiveScale scale_b = naive_quantise(in(1).scale() / twice_max);
        scale_a.single = in(0).scale() / out().scale();
        scale_b.single = in(1).scale() / out().scale();
        NaiveOutput o = output(a.activation);
        o.scales = {naive_quantise(twice_max / ((1 << 20) * double{out().scale()}))};
        return naive_add(value(0), value(1), in(0).zero_point(), in(1).zero_point(), scale_a,
                         scale_b, o);
    }

    Int8s compute(const PoolAttributes& a) const {
        const NaiveWindow w = window(in(), out(), a.filter_h, a.filter_w, a.sliding);
        const NaiveOutput o = output(a.activation);
        return node_->op == Operator::kMaxPool2d ? naive_max_pool(w, value(), o.low, o.high)
                                                 : naive_average_pool(w, value(), o.low, o.high);
    }

    /// gemmlowp: the count is divided into the Q31 multiplier, as TFLite does; single: into the
    /// scale.
    Int8s compute(const MeanAttributes&) const {
        const auto& s = in().shape;
        const int count = s[1] * s[2];
        NaiveScale scale = naive_quantise(double{in().scale()} / double{out().scale()});
        int bits = 63;
        while (bits > 0 && (uint64_t{static_cast<uint32_t>(count)} >> bits) == 0) --bits;
        bits = std::min({bits, 32, 31 + scale.shift});
        scale.multiplier = static_cast<int32_t>((int64_t{scale.multiplier} << bits) / count);
        scale.shift -= bits;
        scale.single = in().scale() / out().scale() / static_cast<float>(count);
        NaiveOutput o = output(Activation::kNone);
        o.scales = {scale};
        Int8s result;
        for (int image = 0; image < s[0]; ++image)
            for (int c = 0; c < s[3]; ++c) {
                int sum = 0;
                for (int pixel = 0; pixel < count; ++pixel)
                    sum += value()[static_cast<size_t>((image * count + pixel) * s[3] + c)] -
                           in().zero_point();
                result.push_back(o.finish(sum, 0));
            }
        return result;
    }

    Int8s compute(const ReshapeAttributes&) const { return value(); }

    Int8s compute(const SoftmaxAttributes& a) const {
        return naive_softmax(value(), in().shape.back(), in().scale(), a.beta);
    }

    const Graph& graph_;
    NaiveRounding rounding_;
    std::vector<Int8s> values_;
    const Node* node_ = nullptr;
};

}  // namespace

std::vector<Int8s> naive_run(const Graph& graph, const std::vector<Int8s>& inputs,
                             NaiveRounding rounding) {
    return Runner(graph, rounding).run(inputs);
}

}  // namespace tandem::testing
