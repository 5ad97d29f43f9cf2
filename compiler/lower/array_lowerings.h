// SPDX-License-Identifier: Apache-2.0
// Operators over arrays of any number of axes, of int32 and floats.
#pragma once

#include "compiler/lower/vector_lowerings.h"

namespace tandem::compiler {

VectorKernel lower_arranged(const LoweredNode& node);  ///< TRANSPOSE, SLICE, BROADCAST_TO
VectorKernel lower_concatenation(const LoweredNode& node);
VectorKernel lower_pad(const LoweredNode& node);
VectorKernel lower_reduce(const LoweredNode& node);
VectorKernel lower_gather(const LoweredNode& node);
/// In as many steps as its formula needs.
VectorKernel lower_elementwise(const LoweredNode& node);

/// A constant's values, in fp32 or int32, behind the kernel's parameters; where they begin.
uint64_t add_constant_values(VectorKernel& kernel, const LoweredNode& node, size_t input);

}  // namespace tandem::compiler
