// SPDX-License-Identifier: Apache-2.0
// The oracle against outputs that TFLite's runtimes computed: whole networks and kernel vectors.
#include "testbench/support/naive_ops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "testbench/compiler/kernel_vectors.h"
#include "testbench/compiler/model_data.h"

namespace tandem::testbench {
namespace {

class NaiveNetwork : public ::testing::TestWithParam<ModelFiles> {};
class NaiveLayers : public ::testing::TestWithParam<ModelFiles> {};

std::string name_of(const ::testing::TestParamInfo<ModelFiles>& info) { return info.param.name; }

/// Largest difference over all samples; names the first sample that differs by more than `allowed`.
void expect_outputs(const ModelData& data, NaiveRounding rounding,
                    const std::vector<int8_t>& expected, int allowed) {
    ASSERT_EQ(expected.size(), data.samples() * data.output_bytes());
    for (size_t sample = 0; sample < data.samples(); ++sample) {
        const Int8s found = naive_run(data.graph, {data.input(sample)}, rounding).back();
        for (size_t i = 0; i < found.size(); ++i) {
            const int want = expected[sample * found.size() + i];
            ASSERT_LE(std::abs(found[i] - want), allowed)
                << "sample " << sample << ", output " << i << ": expected " << want << ", found "
                << int{found[i]};
        }
    }
}

TEST_P(NaiveNetwork, ReproducesTheRuntimesOutputsWithSingleRounding) {
    TANDEM_NEEDS_MODELS();
    const ModelData data = load_model(GetParam());
    expect_outputs(data, NaiveRounding::kSingle, data.expected_single, 0);
}

TEST_P(NaiveNetwork, ReproducesThePortableOutputsWithGemmlowpRounding) {
    TANDEM_NEEDS_MODELS();
    const ModelData data = load_model(GetParam());
    const bool softmax = data.graph.nodes.back().op == compiler::Operator::kSoftmax;
    expect_outputs(data, NaiveRounding::kGemmlowp, data.expected_gemmlowp, softmax ? 1 : 0);
}

TEST_P(NaiveLayers, AreReproducedForSample0) {
    TANDEM_NEEDS_MODELS();
    const ModelData data = load_model(GetParam());
    size_t offset = 0;
    const auto layers = naive_run(data.graph, {data.input(0)}, NaiveRounding::kSingle);
    for (size_t node = 0; node < layers.size(); ++node)
        for (const int8_t value : layers[node])
            ASSERT_EQ(value, data.layers_of_sample_0.at(offset++))
                << describe(data.graph.nodes[node]) << ", byte " << offset - 1 << " of the file";
    EXPECT_EQ(offset, data.layers_of_sample_0.size());
}

INSTANTIATE_TEST_SUITE_P(Int8, NaiveNetwork, ::testing::ValuesIn(kInt8Models), name_of);
INSTANTIATE_TEST_SUITE_P(Int8, NaiveLayers, ::testing::ValuesIn(kModelsWithLayers), name_of);

TEST(NaiveKernelVectors, ConvolutionsAreExact) {
    TANDEM_NEEDS_MODELS();
    for (const char* name : kConvVectors) {
        const KernelVector v(name);
        const int out_c = v.number("OUT_CH"), in_c = v.number("IN_CH");
        EXPECT_EQ(
            naive_conv(v.window(false), v.bytes({"input"}), v.input_zero(), v.bytes({"weights"}),
                       v.numbers({"biases"}), out_c, in_c / v.number_or("FILTER_CH", in_c),
                       v.output(static_cast<size_t>(out_c))),
            v.bytes({"output_ref"}))
            << name;
    }
}

TEST(NaiveKernelVectors, DepthwiseConvolutionsAreExact) {
    TANDEM_NEEDS_MODELS();
    for (const char* name : kDepthwiseVectors) {
        const KernelVector v(name);
        EXPECT_EQ(naive_depthwise(v.window(false), v.bytes({"input"}), v.input_zero(),
                                  v.bytes({"weights"}), v.numbers({"biases"}), v.number("CH_MULT"),
                                  v.output(static_cast<size_t>(v.number("OUT_CH")))),
                  v.bytes({"output_ref"}))
            << name;
    }
}

TEST(NaiveKernelVectors, FullyConnectedLayersAreExact) {
    TANDEM_NEEDS_MODELS();
    for (const char* name : kFullyConnectedVectors) {
        const KernelVector v(name);
        const bool has_bias = std::string(name) != "fully_connected_w_zp";
        EXPECT_EQ(naive_fully_connected(
                      v.bytes({"input"}), v.input_zero(), v.bytes({"weights"}),
                      -v.number_or("FILTER_OFFSET", 0),
                      has_bias ? v.numbers({"biases", "bias"}) : std::vector<int32_t>{},
                      v.number("OUT_CH"), v.output(static_cast<size_t>(v.number("OUT_CH")))),
                  v.bytes({"output_ref", "output"}))
            << name;
    }
}

TEST(NaiveKernelVectors, PoolsAreExact) {
    TANDEM_NEEDS_MODELS();
    for (const char* name : kAverageVectors) {
        const KernelVector v(name);
        EXPECT_EQ(naive_average_pool(v.window(true), v.bytes({"input_tensor"}),
                                     v.number("ACTIVATION_MIN"), v.number("ACTIVATION_MAX")),
                  v.bytes({"output"}))
            << name;
    }
    for (const char* name : kMaxVectors) {
        const KernelVector v(name);
        EXPECT_EQ(naive_max_pool(v.window(true), v.bytes({"input_tensor"}),
                                 v.number("ACTIVATION_MIN"), v.number("ACTIVATION_MAX")),
                  v.bytes({"output"}))
            << name;
    }
}

TEST(NaiveKernelVectors, AddIsExact) {
    TANDEM_NEEDS_MODELS();
    const KernelVector v("add");
    NaiveOutput output;
    output.rounding = NaiveRounding::kGemmlowp;
    output.scales = {{0, v.number("OUTPUT_MULT"), v.number("OUTPUT_SHIFT")}};
    output.zero_point = v.number("OUTPUT_OFFSET");
    EXPECT_EQ(naive_add(v.bytes({"input1"}), v.bytes({"input2"}), -v.number("INPUT1_OFFSET"),
                        -v.number("INPUT2_OFFSET"),
                        {0, v.number("INPUT1_MULT"), v.number("INPUT1_SHIFT")},
                        {0, v.number("INPUT2_MULT"), v.number("INPUT2_SHIFT")}, output),
              v.bytes({"output_ref"}));
}

TEST(NaiveRounding, TwoRoundingsRoundTiesAsTfliteDoes) {
    const int32_t half = 1 << 30;
    EXPECT_EQ(naive_two_roundings(1, half, 0), 1) << "0.5 rounds up in the first step";
    EXPECT_EQ(naive_two_roundings(-1, half, 0), 0) << "-0.5 rounds up in the first step";
    EXPECT_EQ(naive_two_roundings(6, half, -1), 2) << "1.5 rounds away in the second step";
    EXPECT_EQ(naive_two_roundings(-6, half, -1), -2) << "-1.5 rounds away in the second step";
}

TEST(NaiveRounding, SingleRoundingTakesHalvesToEven) {
    const NaiveOutput output{{{0.5f, 0, 0}}, 0, -128, 127, NaiveRounding::kSingle};
    EXPECT_EQ(output.finish(1, 0), 0);
    EXPECT_EQ(output.finish(3, 0), 2);
    EXPECT_EQ(output.finish(-1, 0), 0);
    EXPECT_EQ(output.finish(-3, 0), -2);
    EXPECT_EQ(output.finish(1000, 0), 127);
}

}  // namespace
}  // namespace tandem::testbench
