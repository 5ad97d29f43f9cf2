// SPDX-License-Identifier: Apache-2.0
// What a vector unit does, by plain loops in int8.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/graph/graph.h"
#include "run/plain_products.h"

namespace tandem::run {

using PlainBytes = std::vector<uint8_t>;

/// Adds the output's zero point, and clamps to its type and the node's fused activation.
class PlainRange {
  public:
    PlainRange(const compiler::Tensor& out, const compiler::Node& node);

    /// Rounds a real number, in steps of the output's scale, half to even.
    uint8_t round(float steps) const;
    uint8_t clamp(int32_t value) const;

  private:
    int32_t zero_point_ = 0, low_ = -128, high_ = 127;
};

/// a + b in the output's scale.
PlainBytes plain_add(const PlainBytes& a, const compiler::Tensor& of_a, const PlainBytes& b,
                     const compiler::Tensor& of_b, const compiler::Tensor& out,
                     const PlainRange& range);
PlainBytes plain_pool(const PlainWindow& window, bool largest, const PlainBytes& image,
                      const PlainRange& range);
/// The mean of each channel of each image.
PlainBytes plain_mean(const PlainBytes& image, const compiler::Tensor& in,
                      const compiler::Tensor& out, const PlainRange& range);
/// Tensors one after another, their elements, of `bytes` each, in the order of `perm`.
PlainBytes plain_transpose(const PlainBytes& from, const compiler::Shape& shape,
                           const std::vector<int64_t>& perm, size_t bytes);
PlainBytes plain_softmax(const PlainBytes& rows, const compiler::Tensor& in, float beta);

}  // namespace tandem::run
