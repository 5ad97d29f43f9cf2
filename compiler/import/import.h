// SPDX-License-Identifier: Apache-2.0
// Every source becomes a Graph.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "compiler/graph/graph.h"

namespace tandem::compiler {

struct ImportOptions {
    /// Multiplies the batch that a table's rows have. Other files say their own: 1.
    uint64_t batch = 1;
    /// Type of the layers of lists (tables, applications), which have none of their own: what the
    /// chip's array computes in, kInt8 or kBf16.
    ElementType list_type = ElementType::kInt8;
    /// Is told what a file says wrongly and has one meaning all the same; may be empty.
    std::function<void(const std::string&)> note{};
};

/// By its extension: .tflite, .tgraph, .csv (table), .yaml (application). Verified; FLOAT32
/// networks narrowed (compiler/graph/narrow.h). Throws UserError.
Graph import_model(const std::filesystem::path& file, const ImportOptions& options = {});

}  // namespace tandem::compiler
