// SPDX-License-Identifier: Apache-2.0
// Samples tensor by tensor, as callers have them, and inference by inference, as a chip takes them:
// of each inference the tensors one behind the other, each with the samples of the batch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "api/c/tensor.h"

namespace tandem::c_api {

/// `data`: for each tensor `count` samples, of which the last inference may have too few.
std::vector<uint8_t> by_inference(const std::vector<Tensor>& tensors,
                                  const std::vector<std::span<const uint8_t>>& data, uint64_t count,
                                  uint64_t batch);

/// The tensors with their data; the first dimension of their shapes, which is 1 or put in front, is
/// `count`. `bytes` are those of whole inferences.
std::vector<Tensor> by_tensor(std::vector<Tensor> tensors, std::span<const uint8_t> bytes,
                              uint64_t count, uint64_t batch);

}  // namespace tandem::c_api
