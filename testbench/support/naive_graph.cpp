// SPDX-License-Identifier: Apache-2.0
// naive_run: the oracle's operators applied to a graph.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "compiler/graph/operators.h"
#include "testbench/support/naive_float.h"
#include "testbench/support/naive_ops.h"
#include "testbench/support/naive_pairs.h"

namespace tandem::testbench {

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

int8_t hard_swish(int8_t value, const Tensor& in, const Tensor& out, NaiveRounding rounding) {
    const int steps = value - in.zero_point();
    double result = 0;
    if (rounding == NaiveRounding::kSingle) {
        const float x = static_cast<float>(steps) * in.scale();
        const float gate = x <= -3 ? 0 : x >= 3 ? 6 : x + 3;
        result = std::nearbyint(x * gate / 6 / out.scale());
    } else {
        // Sixteen bits: what does not fit stays at the end, factors are multiples of 2^-15.
        const auto limited = [](double v) { return std::clamp(v, -32768.0, 32767.0); };
        const auto sixteenth = [&](float real, int& exponent) {
            const NaiveScale q = naive_quantise(double{real});
            exponent = q.shift;
            return std::min(std::floor(q.multiplier / 65536.0 + 0.5), 32767.0) / 32768.0;
        };
        int up = 0, down = 0;
        const float fine = in.scale() * (1.0f / 128.0f);
        const double to_gate = sixteenth(fine / (3.0f / 32768.0f), up);
        const double to_out = sixteenth(fine / out.scale(), down);
        double gate = 128.0 * steps;
        if (up > 0) gate = limited(gate * std::exp2(up - 1));
        gate = std::floor(gate * to_gate + 0.5);
        gate = up > 0 ? limited(2 * gate) : std::round(gate * std::exp2(up));
        gate = std::floor((gate + 32768) / 2);
        const double product = gate * limited(std::floor(128.0 * steps * to_out + 0.5));
        result = std::round(limited(std::trunc(product / 32768)) * std::exp2(down));
    }
    return static_cast<int8_t>(std::clamp(result + out.zero_point(), -128.0, 127.0));
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
    bool is_float() const {
        return in().type == ElementType::kBf16 || in().type == ElementType::kFloat32;
    }

    Int8s compute() const {
        switch (node_->op) {
            case Operator::kPool:
                return {value().begin(),
                        value().begin() + static_cast<ptrdiff_t>(out().elements())};
            case Operator::kReshape:
                return in().type == ElementType::kFloat32 ? naive_narrow(operand(), false)
                                                          : value();
            case Operator::kTranspose:
                return transposed();
            case Operator::kEdge:
                return edges_.at(node_->outputs[0]);
            default:
                break;
        }
        if (is_float())
            return naive_narrow(naive_activated(float_values(), activation(*node_)),
                                out().type == ElementType::kBf16);
        return int8_values();
    }

    Int8s transposed() const {
        const Int8s moved = naive_transpose(value(), in().shape, integers_attribute(*node_, "perm"),
                                            element_type_bytes(in().type));
        return out().type == in().type ? moved : naive_narrow(naive_widen(moved, true), false);
    }

    Int8s int8_values() const {
        switch (node_->op) {
            case Operator::kConv2d:
                return convolution();
            case Operator::kDepthwiseConv2d:
                return depthwise();
            case Operator::kFullyConnected:
                return rows_of_weights(in(1).shape[0], channel_output(activation(*node_)));
            case Operator::kGroupedMatmul:
                return rows_of_weights(in(1).shape[0] * in(1).shape[1],
                                       channel_output(Activation::kNone));
            case Operator::kBatchMatmul:
                return pairs_int8();
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
            case Operator::kSoftmax:
                return naive_softmax(value(), number(in().shape.back()), in().scale(),
                                     real_attribute(*node_, "beta"));
            case Operator::kHardSwish: {
                Int8s values = value();
                for (int8_t& each : values) each = hard_swish(each, in(), out(), rounding_);
                return values;
            }
            default:
                throw std::logic_error("an operator without an oracle");
        }
    }

    /// Before the activation.
    Fp32s float_values() const {
        switch (node_->op) {
            case Operator::kConv2d: {
                const Shape& w = in(1).shape;
                return with_bias(naive_conv_bf16(weights_window(), operand(), operand(1),
                                                 number(w[0]), number(in().shape[3] / w[3]),
                                                 array_));
            }
            case Operator::kDepthwiseConv2d:
                return with_bias(naive_depthwise_bf16(weights_window(), operand(), operand(1),
                                                      number(in(1).shape[3] / in().shape[3]),
                                                      array_));
            case Operator::kFullyConnected:
                return rows_of_weights_bf16(in(1).shape[0]);
            case Operator::kGroupedMatmul:
                return rows_of_weights_bf16(in(1).shape[0] * in(1).shape[1]);
            case Operator::kBatchMatmul:
                return pairs_bf16();
            case Operator::kAdd:
                return naive_add_float(operand(), operand(1));
            case Operator::kMaxPool2d:
                return naive_max_pool_float(filter_window(), operand());
            case Operator::kAveragePool2d:
                return naive_average_pool_float(filter_window(), operand());
            case Operator::kMean: {
                const Shape& s = in().shape;
                NaiveWindow w;  // the image, once
                w.batch = number(s[0]), w.in_c = number(s[3]);
                w.in_h = w.kernel_h = number(s[1]), w.in_w = w.kernel_w = number(s[2]);
                return naive_average_pool_float(w, operand());
            }
            case Operator::kSoftmax:
                return naive_softmax_float(operand(), number(in().shape.back()),
                                           real_attribute(*node_, "beta"));
            case Operator::kHardSwish:
                return naive_hard_swish_float(operand());
            case Operator::kCast:
                return naive_widen(value(), in().type == ElementType::kBf16);
            default:
                throw std::logic_error("an operator without an oracle");
        }
    }

    /// As operators read it: FLOAT32 rounded to bf16.
    Fp32s operand(size_t i = 0) const {
        const Tensor& tensor = in(i);
        const Int8s bytes = tensor.is_constant ? constant<int8_t>(tensor) : value(i);
        return tensor.type == ElementType::kBf16 ? naive_widen(bytes, true)
                                                 : naive_rounded_to_bf16(naive_widen(bytes, false));
    }
    Fp32s with_bias(Fp32s sums) const {
        if (node_->inputs.size() < 3) return sums;
        return naive_with_bias(std::move(sums), naive_widen(constant<int8_t>(in(2)), false));
    }
    NaiveWindow weights_window() const {
        return window_of(in(), out(), *node_, in(1).shape[1], in(1).shape[2]);
    }
    NaiveWindow filter_window() const {
        const auto& filter = integers_attribute(*node_, "filter");
        return window_of(in(), out(), *node_, filter[0], filter[1]);
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
        return naive_conv(weights_window(), value(), in().zero_point(), constant<int8_t>(in(1)),
                          bias_data(graph_, *node_), number(w[0]), number(in().shape[3] / w[3]),
                          channel_output(activation(*node_)));
    }

    Int8s depthwise() const {
        return naive_depthwise(weights_window(), value(), in().zero_point(),
                               constant<int8_t>(in(1)), bias_data(graph_, *node_),
                               number(in(1).shape[3] / in().shape[3]),
                               channel_output(activation(*node_)));
    }

    /// Rows of weights one below the other, for one product or several of the same input.
    Int8s rows_of_weights(int64_t out_c, const NaiveOutput& output) const {
        return naive_fully_connected(value(), in().zero_point(), constant<int8_t>(in(1)), 0,
                                     bias_data(graph_, *node_), number(out_c), output);
    }
    Fp32s rows_of_weights_bf16(int64_t out_c) const {
        NaiveWindow rows;  // each row an image of one pixel
        rows.in_c = number(in(1).shape.back());
        rows.batch = number(static_cast<int64_t>(in().elements()) / rows.in_c);
        return with_bias(naive_conv_bf16(rows, operand(), operand(1), number(out_c), 1, array_));
    }

    std::vector<NaivePair> pairs() const {
        return naive_pairs(in().shape, in(1).shape, out().shape,
                           integer_attribute(*node_, "adj_x") != 0,
                           integer_attribute(*node_, "adj_y") != 0);
    }
    Int8s pairs_int8() const {
        const NaiveOutput output = channel_output(Activation::kNone);
        Int8s result;
        for (const NaivePair& pair : pairs()) {
            const Int8s one = naive_fully_connected(
                NaivePair::at(value(), pair.a), in().zero_point(), NaivePair::at(value(1), pair.b),
                in(1).zero_point(), {}, pair.n, output);
            result.insert(result.end(), one.begin(), one.end());
        }
        return result;
    }
    Fp32s pairs_bf16() const {
        const Fp32s a = operand(), b = operand(1);
        Fp32s result;
        for (const NaivePair& pair : pairs()) {
            NaiveWindow rows;  // each row an image of one pixel
            rows.in_c = pair.k;
            rows.batch = number(static_cast<int64_t>(pair.a.size())) / pair.k;
            const Fp32s one = naive_conv_bf16(rows, NaivePair::at(a, pair.a),
                                              NaivePair::at(b, pair.b), pair.n, 1, array_);
            result.insert(result.end(), one.begin(), one.end());
        }
        return result;
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
        const NaiveWindow w = filter_window();
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

}  // namespace tandem::testbench
