// SPDX-License-Identifier: Apache-2.0
// naive_run: the oracle's operators applied to a graph.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "compiler/graph/operators.h"
#include "testbench/support/naive_ops.h"

namespace tandem::testing {

namespace {

using namespace compiler;

template <class T>
std::vector<T> constant(const Tensor& tensor) {
    if (!tensor.has_data()) throw std::logic_error("no values of '" + tensor.name + "'");
    std::vector<T> values(tensor.bytes().size() / sizeof(T));
    std::memcpy(values.data(), tensor.bytes().data(), tensor.bytes().size());
    return values;
}

std::vector<int32_t> bias_data(const Graph& graph, const Node& node) {
    return node.inputs.size() < 3 ? std::vector<int32_t>{}
                                  : constant<int32_t>(graph.input(node, 2));
}

/// The words of raw bytes, and back.
std::vector<uint16_t> words(const Int8s& bytes) {
    std::vector<uint16_t> values(bytes.size() / 2);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}
Int8s raw(const std::vector<uint16_t>& values) {
    Int8s bytes(values.size() * 2);
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

int number(int64_t value) { return static_cast<int>(value); }

/// Stride, dilation and padding as the node has them; one, one and none where it has not.
NaiveWindow window_of(const Tensor& in, const Tensor& out, const Node& node, int64_t kernel_h,
                      int64_t kernel_w) {
    const auto pair = [&](const char* name, size_t i, int missing) {
        const auto found = node.attributes.find(name);
        return found == node.attributes.end()
                   ? missing
                   : number(std::get<std::vector<int64_t>>(found->second).at(i));
    };
    NaiveWindow w;
    w.batch = number(in.shape[0]), w.in_h = number(in.shape[1]);
    w.in_w = number(in.shape[2]), w.in_c = number(in.shape[3]);
    w.out_h = number(out.shape[1]), w.out_w = number(out.shape[2]);
    w.kernel_h = number(kernel_h), w.kernel_w = number(kernel_w);
    w.stride_h = pair("stride", 0, 1), w.stride_w = pair("stride", 1, 1);
    w.dilation_h = pair("dilation", 0, 1), w.dilation_w = pair("dilation", 1, 1);
    w.pad_top = pair("padding", 0, 0), w.pad_left = pair("padding", 1, 0);
    return w;
}

class Runner {
  public:
    Runner(const Graph& graph, NaiveRounding rounding, const NaiveArray& array,
           const NaiveEdges& edges)
        : graph_(graph),
          rounding_(rounding),
          array_(array),
          edges_(edges),
          values_(graph.tensors.size()) {}

    std::vector<Int8s> run(const std::vector<Int8s>& inputs) {
        for (size_t i = 0; i < inputs.size(); ++i) values_.at(graph_.inputs.at(i)) = inputs[i];
        std::vector<Int8s> results;
        for (const Node& node : graph_.nodes) {
            node_ = &node;
            results.push_back(compute());
            values_[node.outputs[0]] = results.back();
        }
        return results;
    }

  private:
    const Tensor& in(size_t i = 0) const { return graph_.input(*node_, i); }
    const Tensor& out() const { return graph_.output(*node_); }
    const Int8s& value(size_t i = 0) const { return values_[node_->inputs[i]]; }
    bool is_bf16() const { return in().type == ElementType::kBf16; }

    Int8s compute() const {
        switch (node_->op) {
            case Operator::kConv2d:
                return convolution();
            case Operator::kDepthwiseConv2d:
                return depthwise();
            case Operator::kFullyConnected:
                return fully_connected();
            case Operator::kGroupedMatmul:
                return grouped_matmul();
            case Operator::kAdd:
                return add(1, activation(*node_));
            case Operator::kVector: {
                Int8s sum = add(0, Activation::kNone);
                sum.resize(out().elements());
                return sum;
            }
            case Operator::kAveragePool2d:
            case Operator::kMaxPool2d:
                return pool();
            case Operator::kMean:
                return mean();
            case Operator::kPool:
                return {value().begin(),
                        value().begin() + static_cast<ptrdiff_t>(out().elements())};
            case Operator::kSoftmax:
                return naive_softmax(value(), number(in().shape.back()), in().scale(),
                                     real_attribute(*node_, "beta"));
            case Operator::kReshape:
                return value();
            case Operator::kEdge:
                return edges_.at(node_->outputs[0]);
        }
        throw std::logic_error("an operator without an oracle");
    }

    NaiveOutput output(Activation fused) const {
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
        if (fused == Activation::kNone) return o;
        const float bottom = fused == Activation::kReluN1To1 ? -1.0f : 0.0f;
        o.low = std::max(o.low, level(bottom));
        if (fused == Activation::kRelu6) o.high = std::min(o.high, level(6.0f));
        if (fused == Activation::kReluN1To1) o.high = std::min(o.high, level(1.0f));
        return o;
    }

    NaiveOutput channel_output(Activation fused) const {
        NaiveOutput o = output(fused);
        for (const float weight_scale : in(1).quantization.scales) {
            NaiveScale s =
                naive_quantise(double{in().scale()} * double{weight_scale} / double{out().scale()});
            s.single = in().scale() * weight_scale / out().scale();
            o.scales.push_back(s);
        }
        return o;
    }

    Int8s convolution() const {
        const Shape& w = in(1).shape;
        const NaiveWindow window = window_of(in(), out(), *node_, w[1], w[2]);
        const int groups = number(in().shape[3] / w[3]);
        if (is_bf16())
            return raw(naive_conv_bf16(window, words(value()), constant<uint16_t>(in(1)),
                                       number(w[0]), groups, array_));
        return naive_conv(window, value(), in().zero_point(), constant<int8_t>(in(1)),
                          bias_data(graph_, *node_), number(w[0]), groups,
                          channel_output(activation(*node_)));
    }

    Int8s depthwise() const {
        const Shape& w = in(1).shape;
        return naive_depthwise(window_of(in(), out(), *node_, w[1], w[2]), value(),
                               in().zero_point(), constant<int8_t>(in(1)),
                               bias_data(graph_, *node_), number(w[3] / in().shape[3]),
                               channel_output(activation(*node_)));
    }

    /// Rows of weights one below the other, for one product or several of the same input.
    Int8s rows_of_weights(int64_t out_c, const NaiveOutput& output) const {
        return naive_fully_connected(value(), in().zero_point(), constant<int8_t>(in(1)), 0,
                                     bias_data(graph_, *node_), number(out_c), output);
    }
    Int8s rows_of_weights_bf16(int64_t out_c) const {
        NaiveWindow rows;  // each row an image of one pixel
        rows.in_c = number(in(1).shape.back());
        rows.batch = number(static_cast<int64_t>(in().elements()) / rows.in_c);
        return raw(naive_conv_bf16(rows, words(value()), constant<uint16_t>(in(1)), number(out_c),
                                   1, array_));
    }

    Int8s fully_connected() const {
        const int64_t out_c = in(1).shape[0];
        return is_bf16() ? rows_of_weights_bf16(out_c)
                         : rows_of_weights(out_c, channel_output(activation(*node_)));
    }

    Int8s grouped_matmul() const {
        const int64_t out_c = in(1).shape[0] * in(1).shape[1];
        return is_bf16() ? rows_of_weights_bf16(out_c)
                         : rows_of_weights(out_c, channel_output(Activation::kNone));
    }

    /// The first input and the one at `second`, which may be the first one again.
    Int8s add(size_t second, Activation fused) const {
        const double twice_max = 2.0 * std::max(in(0).scale(), in(second).scale());
        NaiveScale scale_a = naive_quantise(in(0).scale() / twice_max);
        NaiveScale scale_b = naive_quantise(in(second).scale() / twice_max);
        scale_a.single = in(0).scale() / out().scale();
        scale_b.single = in(second).scale() / out().scale();
        NaiveOutput o = output(fused);
        o.scales = {naive_quantise(twice_max / ((1 << 20) * double{out().scale()}))};
        return naive_add(value(0), value(second), in(0).zero_point(), in(second).zero_point(),
                         scale_a, scale_b, o);
    }

    Int8s pool() const {
        const auto& filter = integers_attribute(*node_, "filter");
        const NaiveWindow w = window_of(in(), out(), *node_, filter[0], filter[1]);
        const NaiveOutput o = output(activation(*node_));
        return node_->op == Operator::kMaxPool2d ? naive_max_pool(w, value(), o.low, o.high)
                                                 : naive_average_pool(w, value(), o.low, o.high);
    }

    /// gemmlowp: the count is divided into the Q31 multiplier, as TFLite does; single: into the
    /// scale.
    Int8s mean() const {
        const Shape& s = in().shape;
        const int count = number(s[1] * s[2]);
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

    const Graph& graph_;
    NaiveRounding rounding_;
    const NaiveArray& array_;
    const NaiveEdges& edges_;
    std::vector<Int8s> values_;
    const Node* node_ = nullptr;
};

}  // namespace

std::vector<Int8s> naive_run(const Graph& graph, const std::vector<Int8s>& inputs,
                             NaiveRounding rounding, const NaiveArray& array,
                             const NaiveEdges& edges) {
    return Runner(graph, rounding, array, edges).run(inputs);
}

}  // namespace tandem::testing
