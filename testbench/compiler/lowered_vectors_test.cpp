// SPDX-License-Identifier: Apache-2.0
// TFLite's kernel vectors through the back end: planned, emitted, interpreted. They come with Q31
// multipliers instead of scales, so that they enter behind lower().
#include <gtest/gtest.h>

#include <cstring>

#include "compiler/lower/vector_lowerings.h"
#include "compiler/lower/weight_matrices.h"
#include "testbench/compiler/kernel_run.h"
#include "testbench/compiler/kernel_vectors.h"
#include "testbench/compiler/model_data.h"
#include "testbench/compiler/test_chips.h"

namespace tandem::testbench {
namespace {

using compiler::ImageWindow;
using compiler::Kernel;
using compiler::MatmulWork;

ImageWindow image_window(const NaiveWindow& n, int32_t pad_value) {
    const auto size = [](int value) { return static_cast<uint64_t>(value); };
    ImageWindow w;
    w.images = size(n.batch), w.in_h = size(n.in_h), w.in_w = size(n.in_w);
    w.channels = size(n.in_c), w.out_h = size(n.out_h), w.out_w = size(n.out_w);
    w.kernel_h = size(n.kernel_h), w.kernel_w = size(n.kernel_w);
    w.stride_h = size(n.stride_h), w.stride_w = size(n.stride_w);
    w.dilation_h = size(n.dilation_h), w.dilation_w = size(n.dilation_w);
    w.pad_top = size(n.pad_top), w.pad_left = size(n.pad_left);
    w.pad_value = static_cast<int8_t>(pad_value);
    return w;
}

Kernel matmul_kernel(MatmulWork work, const NaiveOutput& output, int32_t input_zero,
                     const std::vector<int32_t>& bias) {
    Kernel kernel;
    work.range = {output.zero_point, output.low, output.high};
    std::vector<numerics::ChannelParams> params(work.out_channels);
    for (const auto& group : work.groups) {
        const auto folded = compiler::fold_zero_point(group, input_zero, bias);
        for (uint32_t c = 0; c < group.n; ++c) {
            const uint32_t channel = group.out_channel + c;
            const auto& scale = output.scales[output.scales.size() == 1 ? 0 : channel];
            params[channel] = {folded[c], static_cast<uint32_t>(scale.multiplier), scale.shift};
        }
    }
    kernel.params.resize(params.size() * sizeof params[0]);
    std::memcpy(kernel.params.data(), params.data(), kernel.params.size());
    kernel.params_bytes = kernel.params.size();
    kernel.work = std::move(work);
    return kernel;
}

/// Padding as the file has it, which need not be what the output's extents say.
Kernel pool_kernel(compiler::Operator op, const KernelVector& v) {
    const NaiveWindow w = v.window(true);
    compiler::Graph graph;
    const auto image = [](int images, int h, int w, int c) {
        compiler::Tensor tensor;
        tensor.shape = {images, h, w, c};
        tensor.quantization = {{1.0f}, {0}, 0};
        return tensor;
    };
    graph.tensors = {image(w.batch, w.in_h, w.in_w, w.in_c),
                     image(w.batch, w.out_h, w.out_w, w.in_c)};
    compiler::Node node;
    node.op = op;
    node.inputs = {0}, node.outputs = {1};
    node.attributes["filter"] = std::vector<int64_t>{w.kernel_h, w.kernel_w};
    compiler::WindowAttributes attributes;
    attributes.stride_h = w.stride_h, attributes.stride_w = w.stride_w;
    attributes.pad_top = w.pad_top, attributes.pad_left = w.pad_left;
    compiler::set_window(node, attributes);
    compiler::VectorKernel lowered =
        compiler::lower_to_vector({graph, node, 1, numerics::Rounding::kGemmlowp, true, "a pool"});
    Kernel kernel;
    compiler::VectorStep& step = lowered.work.steps.at(0);
    step.clamp_min = v.number("ACTIVATION_MIN"), step.clamp_max = v.number("ACTIVATION_MAX");
    kernel.work = std::move(lowered.work);
    kernel.params_bytes = lowered.params_bytes;
    kernel.params = std::move(lowered.params);
    return kernel;
}

const uint8_t* bytes_of(const Int8s& weights) {
    return reinterpret_cast<const uint8_t*>(weights.data());
}

class LoweredVectors : public ::testing::TestWithParam<std::pair<uint32_t, uint32_t>> {
  protected:
    /// Two cores of two arrays if the array is 16x4.
    static arch::ChipConfig chip() {
        auto chip = test_chip(GetParam().first, GetParam().second);
        if (GetParam().first == 16) chip.cores = chip.mxu.count = 2;
        return chip;
    }
};

TEST_P(LoweredVectors, ConvolutionsAreExact) {
    TANDEM_NEEDS_MODELS();
    for (const char* name : kConvVectors) {
        const KernelVector v(name);
        const auto out_c = static_cast<uint32_t>(v.number("OUT_CH"));
        const Int8s weights = v.bytes({"weights"}), expected = v.bytes({"output_ref"});
        MatmulWork op;
        op.out_channels = out_c;
        op.window = image_window(v.window(false), v.input_zero());
        op.groups = compiler::conv_groups(
            op.window, bytes_of(weights), out_c,
            static_cast<uint32_t>(v.number_or("FILTER_CH", v.number("IN_CH"))));
        const auto kernel =
            matmul_kernel(op, v.output(out_c), v.input_zero(), v.numbers({"biases"}));
        const Int8s input = v.bytes({"input"});
        EXPECT_EQ(run_kernel(chip(), kernel, {input}, expected.size()), expected) << name;
    }
}

TEST_P(LoweredVectors, DepthwiseConvolutionsAreExact) {
    TANDEM_NEEDS_MODELS();
    for (const char* name : kDepthwiseVectors) {
        const KernelVector v(name);
        const auto out_c = static_cast<uint32_t>(v.number("OUT_CH"));
        const Int8s weights = v.bytes({"weights"}), expected = v.bytes({"output_ref"});
        MatmulWork op;
        op.out_channels = out_c;
        op.window = image_window(v.window(false), v.input_zero());
        op.groups = compiler::depthwise_groups(op.window, bytes_of(weights),
                                               static_cast<uint32_t>(v.number("CH_MULT")),
                                               chip().mxu.rows, chip().mxu.cols);
        const auto kernel =
            matmul_kernel(op, v.output(out_c), v.input_zero(), v.numbers({"biases"}));
        // The file of a batch of two can hold more input than its case uses.
        const Int8s input = v.bytes({"input"});
        EXPECT_EQ(run_kernel(chip(), kernel, {input}, expected.size()), expected) << name;
    }
}

TEST_P(LoweredVectors, FullyConnectedLayersAreExact) {
    TANDEM_NEEDS_MODELS();
    for (const char* name : kFullyConnectedVectors) {
        const KernelVector v(name);
        if (v.number_or("FILTER_OFFSET", 0) != 0) continue;  // importers refuse such weights
        const auto out_c = static_cast<uint32_t>(v.number("OUT_CH"));
        const Int8s weights = v.bytes({"weights"}), expected = v.bytes({"output_ref", "output"});
        NaiveWindow w;
        w.in_c = static_cast<int>(weights.size() / out_c);
        w.batch = static_cast<int>(expected.size() / out_c);
        MatmulWork op;
        op.out_channels = out_c;
        op.window = image_window(w, v.input_zero());
        op.groups = compiler::conv_groups(op.window, bytes_of(weights), out_c,
                                          static_cast<uint32_t>(w.in_c));
        const auto kernel =
            matmul_kernel(op, v.output(out_c), v.input_zero(), v.numbers({"biases", "bias"}));
        const Int8s input = v.bytes({"input"});
        EXPECT_EQ(run_kernel(chip(), kernel, {input}, expected.size()), expected) << name;
    }
}

TEST_P(LoweredVectors, PoolsAreExact) {
    TANDEM_NEEDS_MODELS();
    const auto check = [](const char* name, compiler::Operator op) {
        const KernelVector v(name);
        const Int8s input = v.bytes({"input_tensor"}), expected = v.bytes({"output"});
        EXPECT_EQ(run_kernel(chip(), pool_kernel(op, v), {input}, expected.size()), expected)
            << name;
    };
    for (const char* name : kAverageVectors) check(name, compiler::Operator::kAveragePool2d);
    for (const char* name : kMaxVectors) check(name, compiler::Operator::kMaxPool2d);
}

INSTANTIATE_TEST_SUITE_P(Arrays, LoweredVectors,
                         ::testing::Values(std::pair{8u, 8u}, std::pair{16u, 4u},
                                           std::pair{64u, 64u}),
                         [](const auto& info) {
                             return std::to_string(info.param.first) + "x" +
                                    std::to_string(info.param.second);
                         });

}  // namespace
}  // namespace tandem::testbench
