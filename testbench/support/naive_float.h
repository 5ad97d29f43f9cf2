// SPDX-License-Identifier: Apache-2.0
// The oracle's float operators: plain loops over fp32 patterns, in the double arithmetic of
// naive_bf16.h. What is promised: docs/numerics.md, float networks.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/graph/operators.h"
#include "testbench/support/naive_ops.h"

namespace tandem::testbench {

using Fp32s = std::vector<uint32_t>;

/// The patterns in raw bytes of bf16 or fp32, and back; bf16 half to even.
Fp32s naive_widen(const Int8s& bytes, bool is_bf16);
Int8s naive_narrow(const Fp32s& values, bool to_bf16);
/// Each value as bf16 has it.
Fp32s naive_rounded_to_bf16(const Fp32s& values);

/// Weights as naive_conv's, all values bf16; fp32 sums in the array's order: k runs over taps and
/// channels, padding is zero; the rows of a weight tile are summed from zero in fp32, one after the
/// other or four at a time, then the tile's sum is added to that of the tiles before.
Fp32s naive_conv_bf16(const NaiveWindow& window, const Fp32s& input, const Fp32s& weights,
                      int out_c, int groups, const NaiveArray& array);

/// Weights as naive_depthwise's. Channels share block-diagonal matrices, whose zeros are added.
Fp32s naive_depthwise_bf16(const NaiveWindow& window, const Fp32s& input, const Fp32s& weights,
                           int multiplier, const NaiveArray& array);

/// Rows of `bias.size()` channels; no bias changes nothing.
Fp32s naive_with_bias(Fp32s rows, const Fp32s& bias);
Fp32s naive_activated(Fp32s values, compiler::Activation activation);

Fp32s naive_add_float(const Fp32s& a, const Fp32s& b);
Fp32s naive_max_pool_float(const NaiveWindow& window, const Fp32s& input);
Fp32s naive_average_pool_float(const NaiveWindow& window, const Fp32s& input);
Fp32s naive_softmax_float(const Fp32s& input, int cols, float beta);
/// Every operation in double, rounded to fp32.
Fp32s naive_hard_swish_float(Fp32s values);

}  // namespace tandem::testbench
