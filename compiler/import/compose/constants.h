// SPDX-License-Identifier: Apache-2.0
// Constants as importers compute with them: FLOAT32 or INT64.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/graph/graph.h"

namespace tandem::compiler {

/// Of an INT64 tensor.
std::vector<int64_t> integers_of(const Tensor& constant);
/// Of a FLOAT32 tensor.
std::vector<float> reals_of(const Tensor& constant);

Tensor integer_tensor(const std::vector<int64_t>& values, const Shape& shape);
Tensor real_tensor(const std::vector<float>& values, const Shape& shape);

}  // namespace tandem::compiler
