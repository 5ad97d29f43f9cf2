// SPDX-License-Identifier: Apache-2.0
// Operators on BFLOAT16 and FLOAT32, in fp32 inside the vector unit: docs/numerics.md, float
// networks.
#pragma once

#include "compiler/lower/kernels.h"
#include "compiler/lower/vector_lowerings.h"

namespace tandem::compiler {

// Rows of the table in vector_lowerings.cpp.
VectorKernel lower_float_add(const LoweredNode& node);
VectorKernel lower_float_average_pool(const LoweredNode& node);
VectorKernel lower_float_cast(const LoweredNode& node);
VectorKernel lower_float_max_pool(const LoweredNode& node);
VectorKernel lower_float_mean(const LoweredNode& node);
VectorKernel lower_float_softmax(const LoweredNode& node);

/// What becomes of a bf16 product's sums. The parameter block is the bias, where there is one.
FloatDrain float_drain(const LoweredNode& node);

}  // namespace tandem::compiler
