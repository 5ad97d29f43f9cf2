// SPDX-License-Identifier: Apache-2.0
// ONNX model files into graphs: the operators that operators/ has.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "compiler/graph/graph.h"

namespace tandem::compiler {

struct OnnxOptions {
    /// Values of the graph's inputs, in their order (.pb). A shape or a constant of an operator may
    /// depend on them; the graph is then right for these values alone.
    std::vector<std::string> given{};
    /// Is told the number of an input that has no elements, and is none of the graph's; may be
    /// empty.
    std::function<void(size_t input)> drop{};
    /// Is told of that; may be empty.
    std::function<void(const std::string&)> note{};
};

/// Reads, checks and validates a model. Inputs and outputs of the graph have the shapes and the
/// order of elements that the file says; images are NHWC in between. A first dimension without a
/// number is one sample. Values may lie in other files in the model's folder. Throws UserError,
/// naming file, node or tensor, expected and found, for a file that cannot be read, is malformed in
/// any way, or uses what Tandem does not run.
Graph import_onnx(const std::filesystem::path& file, const OnnxOptions& options = {});

/// The same from bytes, without values in other files; `origin` names them in messages.
Graph import_onnx_bytes(const std::vector<uint8_t>& bytes, const std::string& origin,
                        const OnnxOptions& options = {});

/// A tensor of test data (.pb), FLOAT32 or INT64. `real`: 16 bits without a sign are a BFLOAT16's,
/// as test data have those. Throws UserError.
Tensor read_onnx_tensor(const std::filesystem::path& file, bool real = false);

}  // namespace tandem::compiler
