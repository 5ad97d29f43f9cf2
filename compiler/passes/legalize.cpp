// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/legalize.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <stdexcept>

#include "arch/error.h"
#include "compiler/passes/fit.h"

namespace tandem::compiler {

namespace {

/// The bytes of one value or of a range of values.
template <class T>
std::vector<uint8_t> bytes_of(const T* values, size_t count) {
    std::vector<uint8_t> bytes(count * sizeof(T));
    std::memcpy(bytes.data(), values, bytes.size());
    return bytes;
}

/// Padding before the first pixel along one axis.
uint64_t padding_before(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t dilation,
                        Padding padding) {
    if (padding == Padding::kValid) return 0;
    const int64_t reach = (out - 1) * stride + (kernel - 1) * dilation + 1;
    return static_cast<uint64_t>(std::max<int64_t>(reach - in, 0) / 2);
}

/// The window of `kernel_h` x `kernel_w` taps over whole images `in`, all channels.
isa::Geometry image_window(const Tensor& in, const std::vector<int32_t>& out, int32_t kernel_h,
                           int32_t kernel_w, const Sliding& s) {
    const auto& shape = in.shape;
    isa::Geometry g;
    g.in_height = fit<uint16_t>(shape[1], "image height");
    g.in_width = fit<uint16_t>(shape[2], "image width");
    g.pixel_stride = g.channels = fit<uint16_t>(shape[3], "channels");
    g.kernel_h = fit<uint8_t>(kernel_h, "kernel height");
    g.kernel_w = fit<uint8_t>(kernel_w, "kernel width");
    g.stride_h = fit<uint8_t>(s.stride_h, "vertical stride");
    g.stride_w = fit<uint8_t>(s.stride_w, "horizontal stride");
    g.dilation_h = fit<uint8_t>(s.dilation_h, "vertical dilation");
    g.dilation_w = fit<uint8_t>(s.dilation_w, "horizontal dilation");
    g.pad_top = fit<uint8_t>(
        padding_before(shape[1], out[1], kernel_h, s.stride_h, s.dilation_h, s.padding),
        "padding above");
    g.pad_left = fit<uint8_t>(
        padding_before(shape[2], out[2], kernel_w, s.stride_w, s.dilation_w, s.padding),
        "padding on the left");
    g.out_height = fit<uint16_t>(out[1], "output height");
    g.out_width = fit<uint16_t>(out[2], "output width");
    g.image_stride =
        fit<uint32_t>(in.elements() / static_cast<size_t>(shape[0]), "bytes of an image");
    g.pad_value = static_cast<int8_t>(in.zero_point());
    return g;
}

/// Lowers one node after the other.
class Legalizer {
  public:
    Legalizer(const Graph& graph, const arch::ChipConfig& chip, uint32_t batch, Rounding rounding)
        : graph_(graph), chip_(chip), buffer_of_(graph.tensors.size()) {
        legal_.file = graph.file;
        legal_.batch = batch;
        legal_.rounding = rounding;
    }

    LegalGraph run() {
        for (const TensorId id : graph_.inputs) legal_.inputs.push_back(buffer_for(id));
        for (const Node& node : graph_.nodes) {
            try {
                lower(node);
            } catch (const std::out_of_range& error) {
                throw UserError(graph_.file + ": " + describe(node) + ": expected " + error.what());
            } catch (const std::domain_error& error) {
                throw UserError(graph_.file + ": " + describe(node) + ": expected " + error.what());
            }
        }
        for (const TensorId id : graph_.outputs) add_output(id);
        return std::move(legal_);
    }

  private:
    const Tensor& in(size_t i = 0) const { return graph_.input(*node_, i); }
    const Tensor& out() const { return graph_.output(*node_); }
    uint64_t batched(uint64_t count) const { return count * legal_.batch; }

    BufferId buffer_for(TensorId id) {
        if (!buffer_of_[id]) {
            const Tensor& tensor = graph_.tensors[id];
            legal_.buffers.push_back({tensor.name, batched(tensor.elements())});
            buffer_of_[id] = static_cast<BufferId>(legal_.buffers.size() - 1);
        }
        return *buffer_of_[id];
    }

    /// An output has to be computed, since data go from host to buffer and no other way.
    void add_output(TensorId id) {
        const BufferId buffer = buffer_for(id);
        if (std::ranges::find(legal_.inputs, buffer) != legal_.inputs.end())
            throw UserError(graph_.file, "graph output '" + graph_.tensors[id].name + "'",
                            "a computed tensor", "one that is an input");
        legal_.outputs.push_back(buffer);
    }

    void lower(const Node& node) {
        node_ = &node;
        current_ = {};
        current_.index = node.index;
        current_.op = operator_name(node.op);
        current_.name = node.name;
        current_.text = describe(node);
        std::visit([this](const auto& attributes) { lower(attributes); }, node.attributes);
        if (std::holds_alternative<AliasOp>(current_.work))
            buffer_of_[node.outputs[0]] = current_.inputs[0];
        current_.output = buffer_for(node.outputs[0]);
        legal_.nodes.push_back(std::move(current_));
    }

    void take_inputs(size_t count) {
        for (size_t i = 0; i < count; ++i) current_.inputs.push_back(buffer_for(node_->inputs[i]));
    }

    std::vector<int32_t> bias() const {
        if (node_->inputs.size() < 3) return {};
        std::vector<int32_t> values(in(2).elements());
        std::memcpy(values.data(), in(2).data.data(), in(2).data.size());
        return values;
    }

    const int8_t* weights() const { return reinterpret_cast<const int8_t*>(in(1).data.data()); }

    void finish_matmul(MatmulOp op, Activation activation) {
        take_inputs(1);
        op.range = output_range(out(), activation, legal_.rounding);
        const auto& scales = in(1).quantization.scales;
        std::vector<numerics::ChannelParams> params(op.out_channels);
        const auto source_bias = bias();
        for (const MatmulGroup& group : op.groups) {
            const auto folded = fold_zero_point(group, in().zero_point(), source_bias);
            for (uint32_t c = 0; c < group.n; ++c) {
                const uint32_t channel = group.out_channel + c;
                const Multiplier m =
                    channel_multiplier(in().scale(), scales[scales.size() == 1 ? 0 : channel],
                                       out().scale(), legal_.rounding);
                params[channel] = {folded[c], m.value, m.shift};
            }
            current_.macs += op.rows * group.k * group.useful_n;
        }
        current_.params = bytes_of(params.data(), params.size());
        current_.work = std::move(op);
    }

    void lower(const ConvAttributes& a) {
        const auto& w = in(1).shape;
        const isa::Geometry window = image_window(in(), out().shape, w[1], w[2], a.sliding);
        MatmulOp op;
        op.out_channels = static_cast<uint32_t>(w[0]);
        op.rows = batched(out().elements() / op.out_channels);
        op.groups = conv_groups(window, weights(), op.out_channels, static_cast<uint32_t>(w[3]));
        finish_matmul(std::move(op), a.activation);
    }

    void lower(const DepthwiseAttributes& a) {
        const auto& w = in(1).shape;
        const isa::Geometry window = image_window(in(), out().shape, w[1], w[2], a.sliding);
        MatmulOp op;
        op.out_channels = static_cast<uint32_t>(w[3]);
        op.rows = batched(out().elements() / op.out_channels);
        op.groups = depthwise_groups(window, weights(), static_cast<uint32_t>(a.depth_multiplier),
                                     chip_.mxu.rows, chip_.mxu.cols);
        finish_matmul(std::move(op), a.activation);
    }

    /// Each row is an image of one pixel.
    void lower(const FullyConnectedAttributes& a) {
        const auto& w = in(1).shape;
        Tensor row = in();
        row.shape = {1, 1, 1, w[1]};
        const isa::Geometry window = image_window(row, {1, 1, 1, w[0]}, 1, 1, {});
        MatmulOp op;
        op.out_channels = static_cast<uint32_t>(w[0]);
        op.rows = batched(out().elements() / op.out_channels);
        op.groups = conv_groups(window, weights(), op.out_channels, static_cast<uint32_t>(w[1]));
        finish_matmul(std::move(op), a.activation);
    }

    void lower(const AddAttributes& a) {
        take_inputs(2);
        const auto params = add_params(in(0), in(1), out(), a.activation, legal_.rounding);
        current_.params = bytes_of(&params, 1);
        current_.work = AddOp{batched(out().elements())};
    }

    void lower(const PoolAttributes& a) {
        take_inputs(1);
        PoolOp op;
        op.window = image_window(in(), out().shape, a.filter_h, a.filter_w, a.sliding);
        op.images = batched(static_cast<uint64_t>(in().shape[0]));
        op.kind = node_->op == Operator::kMaxPool2d ? PoolKind::kMax : PoolKind::kAverage;
        op.range = output_range(out(), a.activation, legal_.rounding);
        current_.work = op;
    }

    void lower(const MeanAttributes&) {
        take_inputs(1);
        const auto& s = in().shape;
        PoolOp op;
        op.window = image_window(in(), {s[0], 1, 1, s[3]}, s[1], s[2],
                                 {.padding = Padding::kValid,
                                  .stride_h = 1,
                                  .stride_w = 1,
                                  .dilation_h = 1,
                                  .dilation_w = 1});
        op.images = batched(static_cast<uint64_t>(s[0]));
        op.kind = PoolKind::kMean;
        op.range = output_range(out(), Activation::kNone, legal_.rounding);
        const auto count = static_cast<uint32_t>(s[1] * s[2]);
        const Multiplier m = mean_multiplier(in().scale(), out().scale(), count, legal_.rounding);
        const numerics::ChannelParams params{-in().zero_point() * static_cast<int32_t>(count),
                                             m.value, m.shift};
        current_.params = bytes_of(&params, 1);
        current_.work = op;
    }

    void lower(const ReshapeAttributes&) {
        take_inputs(1);
        current_.work = AliasOp{};
    }

    void lower(const SoftmaxAttributes& a) {
        take_inputs(1);
        const auto cols = static_cast<uint32_t>(in().shape.back());
        const auto table = softmax_table(in().scale(), a.beta);
        current_.params = bytes_of(table.data(), table.size());
        current_.work = SoftmaxOp{batched(in().elements() / cols), cols};
    }

    const Graph& graph_;
    const arch::ChipConfig& chip_;
    std::vector<std::optional<BufferId>> buffer_of_;
    LegalGraph legal_;
    const Node* node_ = nullptr;
    LegalNode current_;
};

}  // namespace

LegalGraph legalize(const Graph& graph, const arch::ChipConfig& chip, uint32_t batch,
                    Rounding rounding) {
    return Legalizer(graph, chip, batch, rounding).run();
}

}  // namespace tandem::compiler
