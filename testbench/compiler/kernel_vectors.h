// SPDX-License-Identifier: Apache-2.0
// TFLite's kernel test vectors: text files of `param NAME value` and `array NAME ctype count v0 v1
// ...`.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "testbench/support/naive_ops.h"

namespace tandem::testbench {

/// One file; names are without the case's name in front.
class KernelVector {
  public:
    /// Reads tflite-kernel-vectors/<name>.txt; throws std::runtime_error when something is missing.
    explicit KernelVector(const std::string& name);

    bool has(const std::string& name) const { return params_.contains(name); }
    int number(const std::string& name) const;
    int number_or(const std::string& name, int otherwise) const;
    /// The first of `names` that the file has.
    std::vector<int32_t> numbers(std::initializer_list<const char*> names) const;
    Int8s bytes(std::initializer_list<const char*> names) const;

    /// Window of a convolution or, with `pooling`, of a pool (which name their parameters
    /// otherwise).
    NaiveWindow window(bool pooling) const;
    int32_t input_zero() const { return -number("INPUT_OFFSET"); }
    /// gemmlowp, per channel or for the whole tensor.
    NaiveOutput output(size_t channels) const;

  private:
    std::map<std::string, std::string> params_;
    std::map<std::string, std::vector<int32_t>> arrays_;
};

inline constexpr const char* kConvVectors[] = {"conv_1_x_n_1",
                                               "conv_1_x_n_2",
                                               "conv_1_x_n_4",
                                               "conv_1_x_n_5",
                                               "conv_1_x_n_6_generic",
                                               "conv_1_x_n_7",
                                               "conv_1_x_n_8",
                                               "conv_2",
                                               "conv_2x2_dilation_5x5_input",
                                               "conv_2x3_dilation",
                                               "conv_3",
                                               "conv_3x2_dilation",
                                               "conv_3x3_dilation_5x5_input",
                                               "conv_4",
                                               "conv_5",
                                               "conv_out_activation",
                                               "grouped_conv",
                                               "grouped_conv_1",
                                               "grouped_conv_3",
                                               "kernel1x1_stride_x",
                                               "kernel1x1_stride_x_y_2",
                                               "stride2pad1"};
inline constexpr const char* kDepthwiseVectors[] = {"depthwise_2",
                                                    "depthwise_dilation",
                                                    "depthwise_eq_in_out_ch",
                                                    "depthwise_kernel_3x3_null_bias",
                                                    "depthwise_mult_batches",
                                                    "depthwise_null_bias_1",
                                                    "depthwise_out_activation",
                                                    "depthwise_sub_block",
                                                    "in_ch_one_out_ch_larger_one"};
inline constexpr const char* kFullyConnectedVectors[] = {"fc_per_ch",
                                                         "fully_connected",
                                                         "fully_connected_mve_1",
                                                         "fully_connected_null_bias_0",
                                                         "fully_connected_out_activation",
                                                         "fully_connected_w_zp"};
inline constexpr const char* kAverageVectors[] = {"avgpooling", "avgpooling_1", "avgpooling_2",
                                                  "avgpooling_4", "avgpooling_5"};
inline constexpr const char* kMaxVectors[] = {"maxpooling",   "maxpooling_1", "maxpooling_3",
                                              "maxpooling_4", "maxpooling_5", "maxpooling_6"};

}  // namespace tandem::testbench
