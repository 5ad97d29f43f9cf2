// SPDX-License-Identifier: Apache-2.0
// Tensors of ONNX files. Real numbers of all widths become FLOAT32, integers and truth INT64.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/graph/graph.h"

namespace tandem::compiler {

/// Of TensorProto::DataType.
inline constexpr int32_t kOnnxFloat = onnx::TensorProto::FLOAT,
                         kOnnxInt32 = onnx::TensorProto::INT32,
                         kOnnxInt64 = onnx::TensorProto::INT64, kOnnxBool = onnx::TensorProto::BOOL;

bool is_float_type(int32_t onnx_type);
/// Of eight bits.
bool is_float8(int32_t onnx_type);
/// A type of numbers or truth that Tandem reads.
bool is_number_type(int32_t onnx_type);

/// FLOAT32 or INT64, rounded half to even where the file has more bits. Throws UserError, `where`
/// in front.
Tensor constant_of(const onnx::TensorProto& source, const std::string& where);

/// Of an INT64 tensor.
std::vector<int64_t> integers_of(const Tensor& constant);
/// Of a FLOAT32 tensor.
std::vector<float> reals_of(const Tensor& constant);

Tensor integer_tensor(const std::vector<int64_t>& values, const Shape& shape);
Tensor real_tensor(const std::vector<float>& values, const Shape& shape);

}  // namespace tandem::compiler
