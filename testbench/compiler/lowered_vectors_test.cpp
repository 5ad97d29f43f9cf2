// SPDX-License-Identifier: Apache-2.0
// TFLite's kernel vectors through the back end: lowered, placed, emitted, interpreted. They come
// with Q31 multipliers instead of scales, so that they enter behind legalize().
#include <gtest/gtest.h>

#include <cstring>

#include "compiler/emit/emitter.h"
#include "compiler/passes/legalize.h"
#include "testbench/compiler/kernel_vectors.h"
#include "testbench/compiler/model_data.h"
#include "testbench/compiler/test_chips.h"
#include "testbench/support/isa_interpreter.h"

namespace tandem::testing {
namespace {

using compiler::LegalGraph;
using compiler::LegalNode;
using compiler::MatmulOp;
using compiler::PoolKind;
using compiler::PoolOp;

isa::Geometry geometry(const NaiveWindow& w, int32_t pad_value) {
    isa::Geometry g;
    g.in_height = static_cast<uint16_t>(w.in_h), g.in_width = static_cast<uint16_t>(w.in_w);
    g.pixel_stride = g.channels = static_cast<uint16_t>(w.in_c);
    g.kernel_h = static_cast<uint8_t>(w.kernel_h), g.kernel_w = static_cast<uint8_t>(w.kernel_w);
    g.stride_h = static_cast<uint8_t>(w.stride_h), g.stride_w = static_cast<uint8_t>(w.stride_w);
    g.dilation_h = static_cast<uint8_t>(w.dilation_h);
    g.dilation_w = static_cast<uint8_t>(w.dilation_w);
    g.pad_top = static_cast<uint8_t>(w.pad_top), g.pad_left = static_cast<uint8_t>(w.pad_left);
    g.out_height = static_cast<uint16_t>(w.out_h), g.out_width = static_cast<uint16_t>(w.out_w);
    g.image_stride = static_cast<uint32_t>(w.in_h * w.in_w * w.in_c);
    g.pad_value = static_cast<int8_t>(pad_value);
    return g;
}

/// One node between one input and one output.
LegalGraph one_node(LegalNode node, size_t input_bytes, size_t output_bytes) {
    LegalGraph graph;
    graph.file = "vector";
    graph.rounding = numerics::Rounding::kGemmlowp;
    graph.buffers = {{"in", input_bytes}, {"out", output_bytes}};
    graph.inputs = {0};
    graph.outputs = {1};
    node.inputs = {0};
    node.output = 1;
    graph.nodes.push_back(std::move(node));
    return graph;
}

LegalNode matmul_node(MatmulOp op, const NaiveOutput& output, int32_t input_zero,
                      const std::vector<int32_t>& bias) {
    LegalNode node;
    op.range = {output.zero_point, output.low, output.high};
    std::vector<numerics::ChannelParams> params(op.out_channels);
    for (const auto& group : op.groups) {
        const auto folded = compiler::fold_zero_point(group, input_zero, bias);
        for (uint32_t c = 0; c < group.n; ++c) {
            const uint32_t channel = group.out_channel + c;
            const auto& scale = output.scales[output.scales.size() == 1 ? 0 : channel];
            params[channel] = {folded[c], static_cast<uint32_t>(scale.multiplier), scale.shift};
        }
    }
    node.params.resize(params.size() * sizeof params[0]);
    std::memcpy(node.params.data(), params.data(), node.params.size());
    node.work = std::move(op);
    return node;
}

Int8s run(const arch::ChipConfig& chip, const LegalGraph& graph, const Int8s& input) {
    const auto program = compiler::emit_program(graph, chip);
    return IsaInterpreter(chip, program, {.random = true, .seed = 0}).run(input);
}

class LoweredVectors : public ::testing::TestWithParam<std::pair<uint32_t, uint32_t>> {
  protected:
    static arch::ChipConfig chip() { return test_chip(GetParam().first, GetParam().second); }
};

TEST_P(LoweredVectors, ConvolutionsAreExact) {
    TANDEM_NEEDS_MODELS();
    for (const char* name : kConvVectors) {
        const KernelVector v(name);
        const auto out_c = static_cast<uint32_t>(v.number("OUT_CH"));
        const Int8s weights = v.bytes({"weights"}), expected = v.bytes({"output_ref"});
        MatmulOp op;
        op.out_channels = out_c;
        op.rows = expected.size() / out_c;
        op.groups = compiler::conv_groups(
            geometry(v.window(false), v.input_zero()), weights.data(), out_c,
            static_cast<uint32_t>(v.number_or("FILTER_CH", v.number("IN_CH"))));
        auto node = matmul_node(op, v.output(out_c), v.input_zero(), v.numbers({"biases"}));
        const Int8s input = v.bytes({"input"});
        EXPECT_EQ(run(chip(), one_node(node, input.size(), expected.size()), input), expected)
            << name;
    }
}

TEST_P(LoweredVectors, DepthwiseConvolutionsAreExact) {
    TANDEM_NEEDS_MODELS();
    for (const char* name : kDepthwiseVectors) {
        const KernelVector v(name);
        const auto out_c = static_cast<uint32_t>(v.number("OUT_CH"));
        const Int8s weights = v.bytes({"weights"}), expected = v.bytes({"output_ref"});
        MatmulOp op;
        op.out_channels = out_c;
        op.rows = expected.size() / out_c;
        op.groups = compiler::depthwise_groups(
            geometry(v.window(false), v.input_zero()), weights.data(),
            static_cast<uint32_t>(v.number("CH_MULT")), chip().mxu.rows, chip().mxu.cols);
        auto node = matmul_node(op, v.output(out_c), v.input_zero(), v.numbers({"biases"}));
        // The file of a batch of two can hold more input than its case uses.
        const Int8s input = v.bytes({"input"});
        EXPECT_EQ(run(chip(), one_node(node, input.size(), expected.size()), input), expected)
            << name;
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
        MatmulOp op;
        op.out_channels = out_c;
        op.rows = expected.size() / out_c;
        op.groups = compiler::conv_groups(geometry(w, v.input_zero()), weights.data(), out_c,
                                          static_cast<uint32_t>(w.in_c));
        auto node = matmul_node(op, v.output(out_c), v.input_zero(), v.numbers({"biases", "bias"}));
        const Int8s input = v.bytes({"input"});
        EXPECT_EQ(run(chip(), one_node(node, input.size(), expected.size()), input), expected)
            << name;
    }
}

TEST_P(LoweredVectors, PoolsAreExact) {
    TANDEM_NEEDS_MODELS();
    const auto check = [](const char* name, PoolKind kind) {
        const KernelVector v(name);
        const NaiveWindow w = v.window(true);
        PoolOp op;
        op.window = geometry(w, 0);
        op.images = static_cast<uint64_t>(w.batch);
        op.kind = kind;
        op.range = {0, v.number("ACTIVATION_MIN"), v.number("ACTIVATION_MAX")};
        LegalNode node;
        node.work = op;
        const Int8s input = v.bytes({"input_tensor"}), expected = v.bytes({"output"});
        EXPECT_EQ(run(chip(), one_node(node, input.size(), expected.size()), input), expected)
            << name;
    };
    for (const char* name : kAverageVectors) check(name, PoolKind::kAverage);
    for (const char* name : kMaxVectors) check(name, PoolKind::kMax);
}

INSTANTIATE_TEST_SUITE_P(Arrays, LoweredVectors,
                         ::testing::Values(std::pair{8u, 8u}, std::pair{16u, 4u},
                                           std::pair{64u, 64u}),
                         [](const auto& info) {
                             return std::to_string(info.param.first) + "x" +
                                    std::to_string(info.param.second);
                         });

}  // namespace
}  // namespace tandem::testing
