// SPDX-License-Identifier: Apache-2.0
// Every source becomes a Graph.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "compiler/graph/graph.h"

namespace tandem::compiler {

/// What becomes of FLOAT32 networks.
enum class Precision : uint8_t {
    kBf16,    ///< bf16 between operators (compiler/graph/narrow.h)
    kFp32,    ///< products of three pieces each (compiler/graph/split_products.h)
    kFp32x3,  ///< of two
};

struct ImportOptions {
    /// Multiplies the batch that a table's rows have. Other files say their own: 1.
    uint64_t batch = 1;
    /// Type of the layers of lists (tables, applications), which have none of their own: what the
    /// chip's array computes in, kInt8 or kBf16.
    ElementType list_type = ElementType::kInt8;
    Precision precision = Precision::kBf16;
    /// As OnnxOptions has them.
    std::vector<std::string> given{};
    std::function<void(size_t input)> drop{};
    /// Is told what a file says wrongly and has one meaning all the same; may be empty.
    std::function<void(const std::string&)> note{};
};

/// By its extension: .tflite, .onnx, .tgraph, .csv (table), .yaml (application). Verified; FLOAT32
/// networks as `precision` says. Throws UserError.
Graph import_model(const std::filesystem::path& file, const ImportOptions& options = {});

}  // namespace tandem::compiler
