// SPDX-License-Identifier: Apache-2.0
// What a vector unit does, by plain loops in fp32: docs/numerics.md, float networks. Subnormal
// numbers count as zero of their sign, every NaN is 0x7fc00000.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/graph/operators.h"
#include "run/plain_products.h"

namespace tandem::run {

using PlainFloats = std::vector<float>;

/// The elements of a BFLOAT16 or FLOAT32 tensor, and back: rounded half to even.
PlainFloats plain_floats(const std::vector<uint8_t>& bytes, compiler::ElementType type);
std::vector<uint8_t> plain_bytes(const PlainFloats& values, compiler::ElementType type);

/// Rows of so many channels as the bias has.
void plain_add_bias(PlainFloats& rows, const PlainFloats& bias);
void plain_activate(PlainFloats& values, compiler::Activation activation);

PlainFloats plain_add(const PlainFloats& a, const PlainFloats& b);
PlainFloats plain_max_pool(const PlainWindow& window, const PlainFloats& image);
/// Mean of the taps inside the image, summed in their order.
PlainFloats plain_average_pool(const PlainWindow& window, const PlainFloats& image);
PlainFloats plain_softmax(const PlainFloats& rows, size_t cols, float beta);

}  // namespace tandem::run
