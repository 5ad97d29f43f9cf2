// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/tflite/operator_options.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/error.h"
#include "compiler/graph/operators.h"

namespace tandem::compiler {

namespace {

/// Reads options of one operator, with errors that name it.
class OptionsReader {
  public:
    OptionsReader(const tflite::Operator& source, const Graph& graph, Node& node)
        : source_(source), graph_(graph), node_(node) {}

    void conv() {
        const auto& options = require(source_.builtin_options_as_Conv2DOptions(), "Conv2DOptions");
        fused(options);
        slide(options);
    }

    void depthwise() {
        const auto& options =
            require(source_.builtin_options_as_DepthwiseConv2DOptions(), "DepthwiseConv2DOptions");
        node_.attributes["depth_multiplier"] = int64_t{options.depth_multiplier()};
        fused(options);
        slide(options);
    }

    void fully_connected() {
        const auto& options =
            require(source_.builtin_options_as_FullyConnectedOptions(), "FullyConnectedOptions");
        if (options.weights_format() != tflite::FullyConnectedOptionsWeightsFormat::DEFAULT)
            fail("weights format", "DEFAULT (0)",
                 std::to_string(static_cast<int>(options.weights_format())));
        fused(options);
    }

    void add() { fused(require(source_.builtin_options_as_AddOptions(), "AddOptions")); }

    void batch_matmul() {
        const auto& options =
            require(source_.builtin_options_as_BatchMatMulOptions(), "BatchMatMulOptions");
        node_.attributes["adj_x"] = int64_t{options.adj_x()};
        node_.attributes["adj_y"] = int64_t{options.adj_y()};
    }

    void transpose() {
        std::string found;
        const std::vector<int32_t> order = axes(found);
        node_.attributes["perm"] = std::vector<int64_t>(order.begin(), order.end());
        node_.inputs.resize(1);
    }

    void pool() {
        const auto& options = require(source_.builtin_options_as_Pool2DOptions(), "Pool2DOptions");
        node_.attributes["filter"] =
            std::vector<int64_t>{options.filter_height(), options.filter_width()};
        fused(options);
        slide(options);
    }

    void mean() {
        const auto& options =
            require(source_.builtin_options_as_ReducerOptions(), "ReducerOptions");
        check_axes();
        node_.attributes["keep_dims"] = int64_t{options.keep_dims()};
        node_.inputs.resize(1);
    }

    /// The output has the shape already.
    void reshape() {
        need_inputs(1);
        node_.inputs.resize(1);
    }

    void nothing() {}

    void softmax() {
        node_.attributes["beta"] =
            require(source_.builtin_options_as_SoftmaxOptions(), "SoftmaxOptions").beta();
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

    template <class Options>
    void fused(const Options& options) {
        node_.attributes["activation"] =
            std::string(activation_name(activation(options.fused_activation_function())));
    }

    template <class Options>
    void slide(const Options& options) {
        const bool same = options.padding() == tflite::Padding::SAME;
        if (!same && options.padding() != tflite::Padding::VALID)
            fail("padding", "SAME or VALID", std::to_string(static_cast<int>(options.padding())));
        WindowAttributes w;
        w.stride_h = options.stride_h();
        w.stride_w = options.stride_w();
        if constexpr (requires { options.dilation_h_factor(); }) {
            w.dilation_h = options.dilation_h_factor();
            w.dilation_w = options.dilation_w_factor();
        }
        if (same) pad_as_same(w);
        set_window(node_, w);
    }

    /// TFLite's rule: half of the padding, rounded down, above and on the left. What has no sense
    /// is left for the verifier, which names it.
    void pad_as_same(WindowAttributes& w) const {
        const bool from_weights = find_attribute(operator_info(node_.op), "filter") == nullptr;
        if (node_.inputs.empty() || graph_.input(node_, 0).shape.size() != 4) return;
        if (from_weights && (node_.inputs.size() < 2 || graph_.input(node_, 1).shape.size() != 4))
            return;
        const WindowAttributes kernel = window(graph_, node_);
        for (const int64_t value :
             {w.stride_h, w.stride_w, w.dilation_h, w.dilation_w, kernel.kernel_h, kernel.kernel_w})
            if (value < 1) return;
        const Shape& in = graph_.input(node_, 0).shape;
        const int64_t h = same_padding(in[1], kernel.kernel_h, w.stride_h, w.dilation_h);
        const int64_t v = same_padding(in[2], kernel.kernel_w, w.stride_w, w.dilation_w);
        w.pad_top = h / 2, w.pad_bottom = h - h / 2;
        w.pad_left = v / 2, w.pad_right = v - v / 2;
    }

    /// The second input, constant; negative ones count from the last dimension. `found`: as they
    /// stand in the file.
    std::vector<int32_t> axes(std::string& found) const {
        need_inputs(2);
        const Tensor& axes = graph_.input(node_, 1);
        if (!axes.is_constant || axes.type != ElementType::kInt32)
            fail("axes", "constant INT32",
                 std::string(element_type_name(axes.type)) +
                     (axes.is_constant ? "" : ", not constant"));
        const auto rank = static_cast<int32_t>(graph_.input(node_, 0).shape.size());
        std::vector<int32_t> values(axes.elements());
        std::memcpy(values.data(), axes.bytes().data(), values.size() * sizeof(int32_t));
        for (int32_t& axis : values) {
            found += (found.empty() ? "" : ", ") + std::to_string(axis);
            if (axis < 0 && axis >= -rank) axis += rank;
        }
        return values;
    }

    void check_axes() const {
        std::string found;
        std::vector<int32_t> values = axes(found);
        const size_t rank = graph_.input(node_, 0).shape.size();
        std::ranges::sort(values);
        if (rank != 4 || values != std::vector<int32_t>{1, 2})
            fail("axes", "height and width (1, 2) of an NHWC tensor",
                 found + " of a tensor with " + std::to_string(rank) + " dimensions");
    }

    const tflite::Operator& source_;
    const Graph& graph_;
    Node& node_;
};

/// What TFLite has of the table of operators: the number of the format's BuiltinOperator.
struct Supported {
    int32_t code;
    Operator op;
    void (OptionsReader::*read)();
};

constexpr Supported kSupported[] = {
    {0, Operator::kAdd, &OptionsReader::add},
    {1, Operator::kAveragePool2d, &OptionsReader::pool},
    {3, Operator::kConv2d, &OptionsReader::conv},
    {4, Operator::kDepthwiseConv2d, &OptionsReader::depthwise},
    {9, Operator::kFullyConnected, &OptionsReader::fully_connected},
    {17, Operator::kMaxPool2d, &OptionsReader::pool},
    {22, Operator::kReshape, &OptionsReader::reshape},
    {25, Operator::kSoftmax, &OptionsReader::softmax},
    {39, Operator::kTranspose, &OptionsReader::transpose},
    {40, Operator::kMean, &OptionsReader::mean},
    {117, Operator::kHardSwish, &OptionsReader::nothing},
    {126, Operator::kBatchMatmul, &OptionsReader::batch_matmul},
};

}  // namespace

std::optional<Operator> supported_operator(int32_t code) {
    const auto* const found = std::ranges::find(kSupported, code, &Supported::code);
    return found == std::end(kSupported) ? std::nullopt : std::optional(found->op);
}

std::string supported_operator_names() {
    std::string names;
    for (const Supported& one : kSupported)
        names += (names.empty() ? "" : ", ") + std::string(operator_name(one.op));
    return names;
}

void import_attributes(const tflite::Operator& source, const Graph& graph, Node& node) {
    OptionsReader reader(source, graph, node);
    (reader.*std::ranges::find(kSupported, node.op, &Supported::op)->read)();
}

}  // namespace tandem::compiler
