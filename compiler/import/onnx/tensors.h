// SPDX-License-Identifier: Apache-2.0
// Tensors of ONNX files. Real numbers of all widths become FLOAT32, integers and truth INT64.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/import/compose/constants.h"
#include "compiler/import/compose/value_types.h"

namespace tandem::compiler {

/// A type of numbers or truth that Tandem reads.
bool is_number_type(int32_t onnx_type);

/// FLOAT32 or INT64, rounded half to even where the file has more bits. Throws UserError, `where`
/// in front.
Tensor constant_of(const onnx::TensorProto& source, const std::string& where);

}  // namespace tandem::compiler
