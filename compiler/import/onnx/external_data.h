// SPDX-License-Identifier: Apache-2.0
// Values of a model that lie in other files beside it (TensorProto.external_data).
#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>

namespace tandem::compiler {

/// Puts the values of initialisers, and of tensors that nodes have as attributes, also in their
/// subgraphs, into the model that was read from `file`. Throws UserError, naming model, tensor and
/// file, for a file that is missing, lies outside the model's folder or is shorter than it has to
/// be, and for malformed entries.
void load_external_data(onnx::ModelProto& model, const std::filesystem::path& file);

}  // namespace tandem::compiler
