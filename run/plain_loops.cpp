// SPDX-License-Identifier: Apache-2.0
#include "run/plain_loops.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/error.h"
#include "compiler/graph/operators.h"
#include "compiler/graph/seed.h"
#include "run/plain_elements.h"
#include "run/plain_floats.h"
#include "run/plain_pairs.h"
#include "run/plain_products.h"

namespace tandem::run {
namespace {

using namespace compiler;

size_t natural(int64_t value) { return static_cast<size_t>(value); }

/// x * min(max(x + 3, 0), 6) / 6, each operation in fp32; what is tiny is zero.
float hard_swish(float x) {
    const float above = x + 3;
    const float gate = above < 0 ? 0.0f : above > 6 ? 6.0f : above;
    const float product = x * gate;
    const bool tiny = std::fabs(double{product} / 6) < std::numeric_limits<float>::min();
    return tiny ? std::copysign(0.0f, product) : product / 6;
}

/// How often the steps of a node are done here: a repeat finds the same again.
uint64_t work_of(const Graph& graph, const Node& node, uint32_t batch) {
    const Counts sizes = counts(graph, node);
    return (sizes.m * sizes.k * sizes.n * sizes.groups + sizes.elements + sizes.output_elements) *
           batch;
}

class PlainRun {
  public:
    using Progress = std::function<void(uint64_t done, uint64_t total)>;

    PlainRun(const Graph& graph, const arch::ChipConfig::Mxu& mxu, uint32_t batch, uint64_t seed,
             const Progress& progress)
        : graph_(graph),
          array_{mxu.rows, mxu.cols, mxu.sum4},
          batch_(batch),
          seed_(seed),
          progress_(progress),
          readers_(graph.tensors.size()),
          values_(graph.tensors.size()) {
        for (const Node& node : graph.nodes) {
            total_ += work_of(graph, node, batch);
            for (const TensorId id : node.inputs) ++readers_[id];
            if (node.op == Operator::kEdge) ++readers_[node.inputs[0]];  // kept
        }
        for (const TensorId id : graph.outputs) ++readers_[id];
    }

    /// Values of Graph::inputs; none: seeded ones.
    PlainValues run(const std::vector<PlainBytes>& inputs) {
        if (const Node* node = first_without_values(graph_)) refuse(*node);
        for (size_t i = 0; i < graph_.inputs.size(); ++i)
            values_[graph_.inputs[i]] = inputs.empty() ? seeded(graph_.inputs[i]) : inputs.at(i);
        for (const Node& node : graph_.nodes) {
            node_ = &node;
            const uint64_t before = done_;
            values_[node.outputs[0]] = compute();
            done_ = before;
            advance(work_of(graph_, node, batch_));
            for (const TensorId id : node.inputs) release(id);
            if (readers_[node.outputs[0]] == 0) values_[node.outputs[0]] = {};
        }
        return {std::move(values_)};
    }

  private:
    const Tensor& in(size_t i = 0) const { return graph_.input(*node_, i); }
    const Tensor& out() const { return graph_.output(*node_); }
    const PlainBytes& value(size_t i = 0) const {
        return in(i).is_constant ? in(i).bytes() : values_[node_->inputs[i]];
    }
    bool is_float() const {
        return in().type == ElementType::kBf16 || in().type == ElementType::kFloat32;
    }

    [[noreturn]] void refuse(const Node& node) const {
        throw UserError(place_of(graph_, node), describe(node),
                        "an operator, of a type, that plain loops have",
                        std::string(operator_name(node.op)) + " of " +
                            std::string(element_type_name(graph_.input(node, 0).type)));
    }

    PlainBytes seeded(TensorId id) const {
        Tensor tensor = graph_.tensors[id];
        if (!tensor.shape.empty()) tensor.shape[0] *= batch_;
        return seeded_bytes(tensor, seed_);
    }

    void release(TensorId id) {
        if (--readers_[id] == 0) values_[id] = {};
    }

    void advance(uint64_t work) {
        done_ += work;
        if (progress_) progress_(done_, total_);
    }

    PlainBytes compute() {
        switch (node_->op) {
            case Operator::kReshape:
                return value();
            case Operator::kPool:
                return first_elements(value());
            case Operator::kTranspose:
                return transposed();
            case Operator::kEdge:
                return seeded(node_->outputs[0]);
            default:
                return is_float() ? plain_bytes(float_values(), out().type) : int8_values();
        }
    }

    PlainBytes transposed() const {
        const PlainBytes moved = plain_transpose(
            value(), in().shape, integers_attribute(*node_, "perm"), element_type_bytes(in().type));
        return in().type == out().type ? moved
                                       : plain_bytes(plain_floats(moved, in().type), out().type);
    }

    PlainBytes int8_values() {
        switch (node_->op) {
            case Operator::kConv2d:
            case Operator::kDepthwiseConv2d:
                return convolution();
            case Operator::kFullyConnected:
            case Operator::kGroupedMatmul:
                return int8_product(product_of_rows());
            case Operator::kBatchMatmul:
                return int8_pairs();
            case Operator::kAdd:
                return plain_add(value(), in(), value(1), in(1), out(), range());
            case Operator::kVector:
                return first_elements(plain_add(value(), in(), value(), in(), out(), range()));
            case Operator::kAveragePool2d:
            case Operator::kMaxPool2d:
                return plain_pool(image_window(), node_->op == Operator::kMaxPool2d, value(),
                                  range());
            case Operator::kMean:
                return plain_mean(value(), in(), out(), range());
            case Operator::kSoftmax:
                return plain_softmax(value(), in(), real_attribute(*node_, "beta"));
            case Operator::kHardSwish: {
                PlainBytes bytes = value();
                for (uint8_t& byte : bytes) {
                    const int32_t steps = static_cast<int8_t>(byte) - in().zero_point();
                    byte = range().round(hard_swish(static_cast<float>(steps) * in().scale()) /
                                         out().scale());
                }
                return bytes;
            }
            default:
                refuse(*node_);
        }
    }

    PlainFloats floats(size_t i = 0) const { return plain_floats(value(i), in(i).type); }

    /// Operators on BFLOAT16 and FLOAT32 operands.
    PlainFloats float_values() {
        PlainFloats values = before_activation();
        plain_activate(values, activation(*node_));
        return values;
    }

    PlainFloats before_activation() {
        switch (node_->op) {
            case Operator::kConv2d:
                return float_product(product_of_image());
            case Operator::kDepthwiseConv2d:
                return with_bias(plain_bf16_depthwise(image_window(), multiplier(), value(),
                                                      value(1), array_, step()));
            case Operator::kFullyConnected:
            case Operator::kGroupedMatmul:
                return float_product(product_of_rows());
            case Operator::kBatchMatmul:
                return plain_bf16_pairs(pairs(), array_, step());
            case Operator::kAdd:
                return plain_add(floats(), floats(1));
            case Operator::kMaxPool2d:
                return plain_max_pool(image_window(), floats());
            case Operator::kAveragePool2d:
                return plain_average_pool(image_window(), floats());
            case Operator::kMean:
                return plain_average_pool(whole_image(), floats());
            case Operator::kSoftmax:
                return plain_softmax(floats(), natural(in().shape.back()),
                                     real_attribute(*node_, "beta"));
            case Operator::kHardSwish: {
                PlainFloats values = floats();
                for (float& each : values) each = hard_swish(each);
                return values;
            }
            case Operator::kCast:
                return floats();
            default:
                refuse(*node_);
        }
    }

    PlainFloats float_product(const PlainProduct& product) {
        return with_bias(plain_bf16_product(product, value(), value(1), array_, step()));
    }

    PlainPairs pairs() const { return plain_pairs(graph_, *node_, batch_, value(), value(1)); }

    PlainBytes int8_pairs() {
        const float factor = in().scale() * in(1).scale() / out().scale();
        return plain_int8_pairs(
            pairs(), in().zero_point(), in(1).zero_point(),
            [&](int32_t sum) { return range().round(static_cast<float>(sum) * factor); }, step());
    }

    PlainFloats with_bias(PlainFloats sums) const {
        if (node_->inputs.size() > 2) plain_add_bias(sums, floats(2));
        return sums;
    }

    PlainRange range() const { return {out(), *node_}; }

    PlainBytes first_elements(PlainBytes bytes) const {
        bytes.resize(out().size_bytes() * batch_);
        return bytes;
    }

    PlainWindow whole_image() const {
        const Shape& s = in().shape;
        return window_to({s[0], 1, 1, s[3]});
    }
    PlainWindow image_window() const { return window_to(out().shape); }
    PlainWindow window_to(const Shape& to) const {
        const WindowAttributes a = window(graph_, *node_);
        const Shape& from = in().shape;
        PlainWindow w;
        w.images = natural(from[0]) * batch_;
        w.height = natural(from[1]), w.width = natural(from[2]), w.channels = natural(from[3]);
        w.out_height = natural(to[1]), w.out_width = natural(to[2]);
        w.kernel_h = natural(a.kernel_h), w.kernel_w = natural(a.kernel_w);
        w.stride_h = natural(a.stride_h), w.stride_w = natural(a.stride_w);
        w.dilation_h = natural(a.dilation_h), w.dilation_w = natural(a.dilation_w);
        w.pad_top = natural(a.pad_top), w.pad_left = natural(a.pad_left);
        return w;
    }

    PlainStep step() {
        return [this](uint64_t macs) { advance(macs); };
    }

    /// Bias and scale of each output channel.
    PlainFinish finish(size_t channels) const {
        std::vector<uint32_t> bias(channels);
        if (node_->inputs.size() > 2)
            std::memcpy(bias.data(), in(2).bytes().data(), channels * sizeof(uint32_t));
        std::vector<float> factors;
        const auto& scales = in(1).quantization.scales;
        for (size_t c = 0; c < channels; ++c)
            factors.push_back(in().scale() * scales[scales.size() == 1 ? 0 : c] / out().scale());
        return [bias = std::move(bias), factors = std::move(factors), range = range()](uint32_t sum,
                                                                                       size_t c) {
            const auto total = static_cast<int32_t>(sum + bias[c]);
            return static_cast<int8_t>(range.round(static_cast<float>(total) * factors[c]));
        };
    }

    size_t multiplier() const { return natural(in(1).shape[3] / in().shape[3]); }

    PlainBytes convolution() {
        if (node_->op == Operator::kConv2d) return int8_product(product_of_image());
        return plain_int8_depthwise(image_window(), multiplier(), value(), in().zero_point(),
                                    value(1), finish(natural(in(1).shape[3])), step());
    }

    PlainProduct product_of_image() const {
        const Shape& weights = in(1).shape;
        PlainProduct product{image_window(), 1, 1};
        product.groups = natural(in().shape[3] / weights[3]);
        product.n = natural(weights[0]) / product.groups;
        return product;
    }

    PlainProduct product_of_rows() const {
        PlainProduct product;
        product.window.channels = natural(in(1).shape.back());
        product.window.images = in().elements() * batch_ / product.window.channels;
        product.n = in(1).elements() / product.window.channels;
        return product;
    }

    PlainBytes int8_product(const PlainProduct& product) {
        return plain_int8_product(product, value(), in().zero_point(), value(1),
                                  finish(product.out_channels()), step());
    }

    const Graph& graph_;
    const PlainArray array_;
    const uint32_t batch_;
    const uint64_t seed_;
    const Progress& progress_;
    std::vector<uint32_t> readers_;  ///< to come, and one more for what is kept
    std::vector<PlainBytes> values_;
    const Node* node_ = nullptr;
    uint64_t done_ = 0, total_ = 0;
};

}  // namespace

PlainValues plain_loops(const Graph& graph, const arch::ChipConfig::Mxu& mxu, uint32_t batch,
                        uint64_t seed, const std::function<void(uint64_t, uint64_t)>& progress) {
    return PlainRun(graph, mxu, batch, seed, progress).run({});
}

PlainValues plain_loops(const Graph& graph, const arch::ChipConfig::Mxu& mxu, uint32_t batch,
                        const std::vector<std::vector<uint8_t>>& inputs) {
    return PlainRun(graph, mxu, batch, 0, {}).run(inputs);
}

double plain_seconds(const Graph& graph, uint32_t batch) {
    // Per second of one processor, measured and rounded down (sum4 is the slowest bf16).
    constexpr double kInt8 = 2.5e9, kBf16 = 0.4e9, kOutputs = 0.1e9;
    double seconds = 0;
    for (const Node& node : graph.nodes) {
        const Counts sizes = counts(graph, node);
        const uint64_t once = sizes.macs() / sizes.repeat;
        double macs = static_cast<double>(once);
        const bool is_bf16 = graph.input(node, 0).type == ElementType::kBf16;
        // As many channels share a matrix, whose zeros are added, as fill 128 rows.
        if (is_bf16 && node.op == Operator::kDepthwiseConv2d)
            macs *= static_cast<double>(std::clamp<uint64_t>(128 / sizes.k, 1, sizes.groups));
        seconds += macs / (is_bf16 ? kBf16 : kInt8) +
                   static_cast<double>(sizes.elements + sizes.output_elements) / kOutputs;
    }
    return seconds * batch;
}

}  // namespace tandem::run
