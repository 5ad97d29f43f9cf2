// SPDX-License-Identifier: Apache-2.0
// The oracle for graphs: plain loops over one sample, sharing nothing with the machine's
// arithmetic in arch/. Two conventions of TFLite: `single` as XNNPACK computes (fp32
// scale, one rounding, half to even) and `gemmlowp` as the portable kernels do (Q31 scale, two
// roundings).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "compiler/graph/graph.h"

namespace tandem::testbench {

enum class NaiveRounding { kSingle, kGemmlowp };

/// One output channel's way from the accumulator to int8.
struct NaiveScale {
    float single = 0;        ///< for kSingle
    int32_t multiplier = 0;  ///< for kGemmlowp: Q31
    int32_t shift = 0;       ///< for kGemmlowp: power of two, positive to the left
};

struct NaiveOutput {
    std::vector<NaiveScale> scales;  ///< one, or one per channel
    int32_t zero_point = 0;
    int32_t low = -128;
    int32_t high = 127;
    NaiveRounding rounding = NaiveRounding::kSingle;

    int8_t finish(int32_t accumulator, int channel) const;
};

/// Extents and steps of a sliding window; images are NHWC.
struct NaiveWindow {
    int batch = 1, in_h = 1, in_w = 1, in_c = 1;
    int out_h = 1, out_w = 1;
    int kernel_h = 1, kernel_w = 1;
    int stride_h = 1, stride_w = 1;
    int dilation_h = 1, dilation_w = 1;
    int pad_top = 0, pad_left = 0;
};

using Int8s = std::vector<int8_t>;

/// Weights [out_c][kernel_h][kernel_w][in_c / groups]; `bias` may be empty.
Int8s naive_conv(const NaiveWindow& window, const Int8s& input, int32_t input_zero,
                 const Int8s& weights, const std::vector<int32_t>& bias, int out_c, int groups,
                 const NaiveOutput& output);

/// Weights [kernel_h][kernel_w][in_c * multiplier]; `bias` may be empty.
Int8s naive_depthwise(const NaiveWindow& window, const Int8s& input, int32_t input_zero,
                      const Int8s& weights, const std::vector<int32_t>& bias, int multiplier,
                      const NaiveOutput& output);

/// Weights [out_c][depth], input rows of `depth`; `bias` may be empty.
Int8s naive_fully_connected(const Int8s& input, int32_t input_zero, const Int8s& weights,
                            int32_t weight_zero, const std::vector<int32_t>& bias, int out_c,
                            const NaiveOutput& output);

Int8s naive_max_pool(const NaiveWindow& window, const Int8s& input, int32_t low, int32_t high);
Int8s naive_average_pool(const NaiveWindow& window, const Int8s& input, int32_t low, int32_t high);

/// kGemmlowp: TFLite's add with its left shift of 20; kSingle: fp32 sum of scaled operands.
Int8s naive_add(const Int8s& a, const Int8s& b, int32_t zero_a, int32_t zero_b,
                const NaiveScale& scale_a, const NaiveScale& scale_b, const NaiveOutput& output);

/// Rows of `cols`; output scale 1/256, zero point -128.
Int8s naive_softmax(const Int8s& input, int cols, float scale, float beta);

/// Half to even, by comparing with the floor; saturates at int32 and takes NaN as 0.
int64_t naive_nearest_even(double value);

/// accumulator * multiplier / 2^31 * 2^shift with two roundings.
int32_t naive_two_roundings(int32_t accumulator, int32_t multiplier, int32_t shift);

/// Q31 multiplier and shift of a real factor, as TFLite quantises it.
NaiveScale naive_quantise(double real);

/// What the order of bf16 sums depends on: the array's rows, whether four products are summed with
/// one rounding, and the columns, which say how many channels of a depthwise convolution share a
/// matrix.
struct NaiveArray {
    int rows = 1;
    bool sum4 = false;
    int cols = 1;
};

/// Values of the outputs of EDGE, which come from nowhere else.
using NaiveEdges = std::map<compiler::TensorId, Int8s>;

/// Outputs of every node for one sample, in node order; `inputs` as Graph::inputs. Raw bytes: bf16
/// as two of them, the lower one first. Operators other than CAST read FLOAT32 as bf16 has it: so a
/// network in FLOAT32 has a chip's values without being narrowed.
/// Element by element, of so many bytes: where each of the output comes from. Tensors may stand one
/// after another.
Int8s naive_transpose(const Int8s& source, const compiler::Shape& shape,
                      const std::vector<int64_t>& perm, size_t bytes);

std::vector<Int8s> naive_run(const compiler::Graph& graph, const std::vector<Int8s>& inputs,
                             NaiveRounding rounding, const NaiveArray& array = {},
                             const NaiveEdges& edges = {});

}  // namespace tandem::testbench
