// SPDX-License-Identifier: Apache-2.0
// Tensors of models and results, as the interface shows them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/graph/graph.h"
#include "tandem/tandem.h"

namespace tandem::c_api {

struct Tensor {
    std::string name{}, dtype{};
    std::vector<uint64_t> shape{};
    double scale = 0;
    int64_t zero_point = 0;
    uint64_t bytes = 0;           ///< of one sample, or of `data`
    std::vector<uint8_t> data{};  ///< of results
};

/// As NumPy spells it, but for bf16.
std::string dtype_name(compiler::ElementType type);
/// By the size of an element: 1, 2 or 4 bytes of int8, bf16, float32.
std::string dtype_name(uint64_t element_bytes);

/// Without data.
Tensor described(const compiler::Tensor& tensor);

/// Into the caller's struct, as much as it has. Throws UserError for an index beyond the tensors.
void show(const std::vector<Tensor>& tensors, uint64_t index, tandem_tensor* out);

}  // namespace tandem::c_api
