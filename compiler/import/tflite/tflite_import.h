// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite model files into graphs: int8 and float32 networks of the operators in
// compiler/graph/graph.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "compiler/graph/graph.h"

namespace tandem::compiler {

/// ImportOptions::note.
using ImportNote = std::function<void(const std::string&)>;

/// Reads, checks and validates a model. Throws UserError, naming file, operator or tensor, expected
/// and found, for a file that cannot be read, is malformed in any way, or uses what Tandem does not
/// run (another operator, another type, several subgraphs).
Graph import_tflite(const std::filesystem::path& file, const ImportNote& note = {});

/// The same from bytes; `origin` names them in messages.
Graph import_tflite_bytes(const std::vector<uint8_t>& bytes, const std::string& origin,
                          const ImportNote& note = {});

}  // namespace tandem::compiler
