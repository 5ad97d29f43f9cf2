// SPDX-License-Identifier: Apache-2.0
#include "compiler/tflite/operator_options.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "arch/error.h"

namespace tandem::compiler {

namespace {

constexpr std::pair<int32_t, Operator> kSupported[] = {
    {0, Operator::kAdd},
    {1, Operator::kAveragePool2d},
    {3, Operator::kConv2d},
    {4, Operator::kDepthwiseConv2d},
    {9, Operator::kFullyConnected},
    {17, Operator::kMaxPool2d},
    {22, Operator::kReshape},
    {25, Operator::kSoftmax},
    {40, Operator::kMean},
};

/// Reads options of one operator, with errors that name it.
class OptionsReader {
  public:
    OptionsReader(const tflite::Operator& source, const Node& node, const Graph& graph)
        : source_(source), node_(node), graph_(graph) {}

    Attributes read() const {
        switch (node_.op) {
            case Operator::kConv2d:
                return conv();
            case Operator::kDepthwiseConv2d:
                return depthwise();
            case Operator::kFullyConnected:
                return fully_connected();
            case Operator::kAdd:
                return AddAttributes{
                    activation(require(source_.builtin_options_as_AddOptions(), "AddOptions")
                                   .fused_activation_function())};
            case Operator::kAveragePool2d:
            case Operator::kMaxPool2d:
                return pool();
            case Operator::kMean:
                return mean();
            case Operator::kReshape:
                need_inputs(1);
                return ReshapeAttributes{};
            case Operator::kSoftmax:
                return SoftmaxAttributes{
                    require(source_.builtin_options_as_SoftmaxOptions(), "SoftmaxOptions").beta()};
        }
        fail("", "a known operator", "another");
    }

  private:
    [[noreturn]] void fail(const std::string& what, const std::string& expected,
                           const std::string& found) const {
        throw UserError(graph_.file, describe(node_) + (what.empty() ? "" : ": " + what), expected,
                        found);
    }

    void need_inputs(size_t count) const {
        if (node_.inputs.size() < count)
            fail("inputs", std::to_string(count), std::to_string(node_.inputs.size()));
    }

    template <class Options>
    const Options& require(const Options* options, const char* name) const {
        if (options == nullptr)
            fail(
                "options", name,
                "union member " + std::to_string(static_cast<int>(source_.builtin_options_type())));
        return *options;
    }

    Activation activation(tflite::ActivationFunctionType type) const {
        switch (type) {
            case tflite::ActivationFunctionType::NONE:
                return Activation::kNone;
            case tflite::ActivationFunctionType::RELU:
                return Activation::kRelu;
            case tflite::ActivationFunctionType::RELU_N1_TO_1:
                return Activation::kReluN1To1;
            case tflite::ActivationFunctionType::RELU6:
                return Activation::kRelu6;
            default:
                break;
        }
        fail("fused activation", "NONE, RELU, RELU_N1_TO_1 or RELU6",
             type == tflite::ActivationFunctionType::TANH ? "TANH"
             : type == tflite::ActivationFunctionType::SIGN_BIT
                 ? "SIGN_BIT"
                 : std::to_string(static_cast<int>(type)));
    }

    Padding padding(tflite::Padding value) const {
        if (value == tflite::Padding::SAME) return Padding::kSame;
        if (value == tflite::Padding::VALID) return Padding::kValid;
        fail("padding", "SAME or VALID", std::to_string(static_cast<int>(value)));
    }

    template <class Options>
    Sliding sliding(const Options& options) const {
        Sliding result;
        result.padding = padding(options.padding());
        result.stride_h = options.stride_h();
        result.stride_w = options.stride_w();
        if constexpr (requires { options.dilation_h_factor(); }) {
            result.dilation_h = options.dilation_h_factor();
            result.dilation_w = options.dilation_w_factor();
        }
        return result;
    }

    Attributes conv() const {
        const auto& options = require(source_.builtin_options_as_Conv2DOptions(), "Conv2DOptions");
        return ConvAttributes{sliding(options), activation(options.fused_activation_function())};
    }

    Attributes depthwise() const {
        const auto& options =
            require(source_.builtin_options_as_DepthwiseConv2DOptions(), "DepthwiseConv2DOptions");
        return DepthwiseAttributes{sliding(options), options.depth_multiplier(),
                                   activation(options.fused_activation_function())};
    }

    Attributes fully_connected() const {
        const auto& options =
            require(source_.builtin_options_as_FullyConnectedOptions(), "FullyConnectedOptions");
        if (options.weights_format() != tflite::FullyConnectedOptionsWeightsFormat::DEFAULT)
            fail("weights format", "DEFAULT (0)",
                 std::to_string(static_cast<int>(options.weights_format())));
        return FullyConnectedAttributes{activation(options.fused_activation_function())};
    }

    Attributes pool() const {
        const auto& options = require(source_.builtin_options_as_Pool2DOptions(), "Pool2DOptions");
        PoolAttributes result;
        result.sliding = sliding(options);
        result.filter_h = options.filter_height();
        result.filter_w = options.filter_width();
        result.activation = activation(options.fused_activation_function());
        return result;
    }

    Attributes mean() const {
        const auto& options =
            require(source_.builtin_options_as_ReducerOptions(), "ReducerOptions");
        need_inputs(2);
        const Tensor& axes = graph_.input(node_, 1);
        if (!axes.is_constant || axes.type != DataType::kInt32)
            fail("axes", "constant INT32",
                 std::string(data_type_name(axes.type)) +
                     (axes.is_constant ? "" : ", not constant"));
        const auto rank = static_cast<int32_t>(graph_.input(node_, 0).shape.size());
        std::vector<int32_t> values(axes.elements());
        std::memcpy(values.data(), axes.data.data(), values.size() * sizeof(int32_t));
        std::string found;
        for (int32_t& axis : values) {
            found += (found.empty() ? "" : ", ") + std::to_string(axis);
            if (axis < 0 && axis >= -rank) axis += rank;
        }
        std::ranges::sort(values);
        if (rank != 4 || values != std::vector<int32_t>{1, 2})
            fail("axes", "height and width (1, 2) of an NHWC tensor",
                 found + " of a tensor with " + std::to_string(rank) + " dimensions");
        return MeanAttributes{options.keep_dims()};
    }

    const tflite::Operator& source_;
    const Node& node_;
    const Graph& graph_;
};

}  // namespace

std::optional<Operator> supported_operator(int32_t code) {
    for (const auto& [number, op] : kSupported)
        if (number == code) return op;
    return std::nullopt;
}

std::string supported_operator_names() {
    std::string names;
    for (const auto& [number, op] : kSupported)
        names += (names.empty() ? "" : ", ") + std::string(operator_name(op));
    return names;
}

Attributes import_attributes(const tflite::Operator& source, const Node& node, const Graph& graph) {
    return OptionsReader(source, node, graph).read();
}

}  // namespace tandem::compiler
