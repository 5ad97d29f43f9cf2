// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/lower.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "base/error.h"
#include "compiler/graph/operators.h"
#include "compiler/lower/batch_matmul.h"
#include "compiler/lower/float_lowerings.h"
#include "compiler/lower/vector_steps.h"
#include "compiler/lower/weight_matrices.h"

namespace tandem::compiler {

namespace {

class Lowering {
  public:
    Lowering(const Graph& graph, const arch::ChipConfig& chip, uint32_t batch,
             numerics::Rounding rounding)
        : graph_(graph), chip_(chip), value_of_(graph.tensors.size()) {
        result_.file = graph.file;
        result_.name = graph.name.empty() ? graph.file : graph.name;
        result_.batch = batch;
        result_.rounding = rounding;
        result_.has_data = first_without_values(graph) == nullptr && compiler::has_data(graph);
        result_.host_input_bytes = graph.host_input_bytes * batch;
        result_.host_output_bytes = graph.host_output_bytes * batch;
    }

    KernelGraph run() {
        for (const TensorId id : graph_.inputs) {
            result_.inputs.push_back(value_for(id));
            result_.values[result_.inputs.back()].is_input = true;
        }
        for (const Node& node : graph_.nodes) {
            const auto refuse = [&](const std::exception& error) {
                throw UserError(place_of(graph_, node) + ": " + describe(node) + ": expected " +
                                error.what());
            };
            try {
                lower(node);
            } catch (const std::domain_error& error) {
                refuse(error);
            } catch (const std::out_of_range& error) {
                refuse(error);  // a number that no field of an instruction holds
            }
        }
        for (const TensorId id : graph_.outputs) add_output(id);
        return std::move(result_);
    }

  private:
    const Tensor& in(size_t i = 0) const { return graph_.input(*node_, i); }
    const Tensor& out() const { return graph_.output(*node_); }
    uint64_t batched(uint64_t count) const { return count * result_.batch; }
    bool is_float() const { return in().type == ElementType::kBf16; }

    ValueId value_for(TensorId id) {
        if (!value_of_[id]) {
            const Tensor& tensor = graph_.tensors[id];
            Value value;
            value.name = tensor.name;
            value.tensor = id;
            value.bytes = batched(tensor.size_bytes());
            value.home = tensor.memory;
            value_of_[id] = static_cast<ValueId>(result_.values.size());
            result_.values.push_back(std::move(value));
        }
        return *value_of_[id];
    }

    /// An output has to be computed, since data go from host to buffer and no other way.
    void add_output(TensorId id) {
        const ValueId value = value_for(id);
        if (result_.values[value].is_input)
            throw UserError(graph_.file, "graph output '" + graph_.tensors[id].name + "'",
                            "a computed tensor", "one that is an input");
        result_.values[value].is_output = true;
        result_.values[value].home = graph_.tensors[id].memory;
        result_.outputs.push_back(value);
    }

    void lower(const Node& node) {
        node_ = &node;
        current_ = {};
        current_.node = static_cast<uint32_t>(&node - graph_.nodes.data());
        current_.index = node.index;
        current_.op = operator_name(node.op);
        current_.name = node.name;
        current_.text = place_of(graph_, node) + ": " + describe(node);
        current_.repeat = node.repeat;
        current_.macs = counts(graph_, node).macs() * result_.batch;
        check_type();
        switch (operator_info(node.op).lowering) {
            case LoweringKind::kMatmul:
                lower_matmul();
                break;
            case LoweringKind::kBatchMatmul:
                return lower_parts();
            case LoweringKind::kVector:
                lower_vector();
                break;
            case LoweringKind::kAlias:
                take_inputs(1);
                current_.work = AliasWork{};
                value_of_[node.outputs[0]] = current_.inputs[0];
                break;
            case LoweringKind::kEdge:
                take_inputs(1);
                current_.work = EdgeWork{};
                break;
        }
        current_.output = value_for(node.outputs[0]);
        result_.kernels.push_back(std::move(current_));
    }

    void check_type() const {
        const bool array_is_float = chip_.mxu.dtype == arch::Dtype::kBf16;
        if (multiplies(operator_info(node_->op).lowering) && array_is_float != is_float())
            throw UserError(place_of(graph_, *node_), describe(*node_),
                            "tensors of the array's type (chip " + chip_.name + " is " +
                                std::string(arch::to_string(chip_.mxu.dtype)) + ")",
                            std::string(element_type_name(in().type)));
    }

    /// Those that are computed: constants stand among the parameters.
    void take_inputs(size_t count) {
        for (size_t i = 0; i < count; ++i) {
            if (in(i).is_constant) continue;
            current_.inputs.push_back(value_for(node_->inputs[i]));
            if (!result_.values[current_.inputs.back()].is_input) result_.chained = true;
        }
    }

    /// All the same but for what its own work says.
    void lower_parts() {
        const Kernel common = std::move(current_);
        std::vector<ValueId> made;
        for (NodePart& part : lower_batch_matmul(view_of(common.text), chip_)) {
            Kernel kernel = common;
            if (!part.name.empty()) kernel.name += "/" + part.name;
            for (const auto& [is_part, index] : part.inputs) {
                kernel.inputs.push_back(is_part ? made[index] : value_for(node_->inputs[index]));
                if (!result_.values[kernel.inputs.back()].is_input) result_.chained = true;
            }
            std::visit([&](auto& work) { kernel.work = std::move(work); }, part.work);
            if (kernel.matmul() == nullptr) kernel.macs = 0;
            kernel.params_bytes = part.params_bytes;
            kernel.params_uniform = true;
            kernel.params = std::move(part.params);
            kernel.output = part.name.empty() ? value_for(node_->outputs[0]) : inner_value(part);
            made.push_back(kernel.output);
            result_.kernels.push_back(std::move(kernel));
        }
    }

    ValueId inner_value(const NodePart& part) {
        Value value;
        value.name = out().name + "/" + part.name;
        value.tensor = node_->outputs[0];
        value.bytes = part.output_bytes;
        value.is_internal = true;
        value.is_tiles = part.makes_tiles;
        result_.values.push_back(std::move(value));
        return static_cast<ValueId>(result_.values.size() - 1);
    }

    LoweredNode view() const { return view_of(current_.text); }
    LoweredNode view_of(const std::string& text) const {
        return {graph_, *node_, result_.batch, result_.rounding, result_.has_data, text};
    }

    /// A product's rows are images of one pixel.
    ImageWindow row_window(uint64_t rows, uint64_t k) const {
        ImageWindow w;
        w.images = rows;
        w.channels = k;
        w.element_bytes = is_float() ? 2 : 1;
        return w;
    }

    const uint8_t* weights() const {
        return in(1).has_data() && result_.has_data ? in(1).bytes().data() : nullptr;
    }

    void lower_matmul() {
        const auto& shape = in(1).shape;
        const auto extent = [&](size_t i) { return static_cast<uint32_t>(shape[i]); };
        const Counts sizes = counts(graph_, *node_);
        MatmulWork work;
        work.passes = static_cast<uint32_t>(sizes.passes);
        if (node_->op == Operator::kConv2d) {
            work.window = view().image_window(out().shape);
            work.out_channels = extent(0);
            work.groups = conv_groups(work.window, weights(), extent(0), extent(3));
        } else if (node_->op == Operator::kDepthwiseConv2d) {
            work.window = view().image_window(out().shape);
            work.out_channels = extent(3);
            work.groups = depthwise_groups(
                work.window, weights(),
                static_cast<uint32_t>(integer_attribute(*node_, "depth_multiplier")),
                chip_.mxu.rows, chip_.mxu.cols);
        } else {
            work.window = row_window(batched(sizes.m), sizes.k);
            work.out_channels = static_cast<uint32_t>(sizes.n * sizes.groups);
            work.groups =
                product_groups(work.window, weights(), static_cast<uint32_t>(sizes.groups),
                               static_cast<uint32_t>(sizes.n));
        }
        work.out_element_bytes = work.window.element_bytes * work.passes;
        take_inputs(1);
        is_float() ? add_float_drain(work) : add_channel_params(work);
        current_.work = std::move(work);
    }

    void add_float_drain(MatmulWork& work) {
        work.floats = float_drain(view());
        work.out_element_bytes = static_cast<uint32_t>(element_type_bytes(out().type));
        if (!work.floats.has_bias) return;
        current_.params_bytes = in(2).size_bytes();
        if (result_.has_data) current_.params = in(2).bytes();
    }

    void add_channel_params(MatmulWork& work) {
        const auto& scales = in(1).quantization.scales;
        const auto& zeros = in().quantization.zero_points;
        current_.params_uniform =
            node_->inputs.size() < 3 && scales.size() < 2 && (zeros.empty() || zeros.front() == 0);
        const uint32_t channels = current_.params_uniform
                                      ? std::min(work.out_channels, chip_.mxu.cols)
                                      : work.out_channels;
        current_.params_bytes = uint64_t{channels} * sizeof(numerics::ChannelParams);
        if (!result_.has_data) return;
        work.range = output_range(out(), activation(*node_), result_.rounding);
        std::vector<int32_t> source_bias;
        if (node_->inputs.size() > 2) {
            source_bias.resize(in(2).elements());
            std::memcpy(source_bias.data(), in(2).bytes().data(), in(2).bytes().size());
        }
        std::vector<numerics::ChannelParams> params(work.out_channels);
        for (const MatmulGroup& group : work.groups) {
            const auto folded = fold_zero_point(group, in().zero_point(), source_bias);
            for (uint32_t c = 0; c < group.n; ++c) {
                const uint32_t channel = group.out_channel + c;
                const Multiplier m =
                    channel_multiplier(in().scale(), scales[scales.size() == 1 ? 0 : channel],
                                       out().scale(), result_.rounding);
                params[channel] = {folded[c], m.value, m.shift};
            }
        }
        current_.params = bytes_of(params.data(), channels);
    }

    void lower_vector() {
        take_inputs(node_->inputs.size());
        VectorKernel kernel = lower_to_vector(view());
        current_.work = std::move(kernel.work);
        current_.params_bytes = kernel.params_bytes;
        current_.params = std::move(kernel.params);
    }

    const Graph& graph_;
    const arch::ChipConfig& chip_;
    std::vector<std::optional<ValueId>> value_of_;
    KernelGraph result_;
    const Node* node_ = nullptr;
    Kernel current_;
};

}  // namespace

KernelGraph lower(const Graph& graph, const arch::ChipConfig& chip, uint32_t batch,
                  numerics::Rounding rounding) {
    return Lowering(graph, chip, batch, rounding).run();
}

}  // namespace tandem::compiler
