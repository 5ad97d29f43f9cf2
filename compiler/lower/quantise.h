// SPDX-License-Identifier: Apache-2.0
// Real scales into the numbers that the vector unit works with, in TFLite's two conventions.
// `single` follows XNNPACK: factors in fp32, one rounding. `gemmlowp` follows TFLite's portable
// kernels: factors in double, quantised to Q31 with a power of two.
#pragma once

#include <array>
#include <cstdint>

#include "arch/numerics.h"
#include "compiler/graph/operators.h"

namespace tandem::compiler {

using numerics::Rounding;

/// As it stands in a parameter block: fp32 bits (single) or Q31 (gemmlowp).
struct Multiplier {
    uint32_t value = 0;
    int32_t shift = 0;
};

/// scale_in * scale_weight / scale_out. Throws std::domain_error when the factor is 2^30 or larger.
Multiplier channel_multiplier(float scale_in, float scale_weight, float scale_out,
                              Rounding rounding);

/// scale_in / (scale_out * count): mean of `count` elements from their sum.
Multiplier mean_multiplier(float scale_in, float scale_out, uint32_t count, Rounding rounding);

struct OutputRange {
    int32_t zero_point = 0;
    int32_t low = -128;
    int32_t high = 127;
};

/// Zero point of a tensor, and the int8 values that its fused activation lets through.
OutputRange output_range(const Tensor& tensor, Activation activation, Rounding rounding);

/// Factors of a quantised sum: single takes a and b to the output's scale; gemmlowp, 20 bits
/// further left, to twice the larger one of their scales, and the sum from there to the output's.
struct AddFactors {
    Multiplier a, b, out;
};
AddFactors add_factors(const Tensor& a, const Tensor& b, const Tensor& out, Rounding rounding);

/// exp(-beta * scale * d) for d = 0 to 255.
std::array<float, 256> softmax_table(float scale, float beta);

}  // namespace tandem::compiler
