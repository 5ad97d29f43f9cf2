// SPDX-License-Identifier: Apache-2.0
// Seeded values for what has a shape and no bytes: constants, inputs, outputs of EDGE. They depend
// on seed and tensor name alone, so that every engine, backend and order meets the same ones.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/graph/graph.h"

namespace tandem::compiler {

/// Values of the tensor's type. Constants: int8 from -127 to 127, as TFLite's weights; int32 small.
/// Activations: int8 from -128 to 127. bf16: normally distributed, those below 2^-8 are zero, so
/// that plain loops meet no tiny product; weights are divided by the square root of how many are
/// summed, so that a chain of layers neither grows nor fades. FLOAT32: the same, not rounded.
std::vector<uint8_t> seeded_bytes(const Tensor& tensor, uint64_t seed);

/// Gives every constant without data that a node reads its seeded bytes. Others stay as they are.
/// Not for graphs of which only the time is defined (first_without_values).
void seed_constants(Graph& graph, uint64_t seed);

/// Scale of the int8 weights of a product over k whose activations have scale 1: weights have a
/// deviation of 74 steps, so that outputs vary as inputs do, and a chain of layers does not fade.
float seeded_weight_scale(uint64_t k);

}  // namespace tandem::compiler
