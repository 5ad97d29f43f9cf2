// SPDX-License-Identifier: Apache-2.0
// What one activation row gives with a weight tile, and what an accumulator row becomes by it; in
// the arithmetic of the model (engine/).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/gemm_bf16.h"
#include "engine/gemm_int8.h"
#include "engine/mxu_engine.h"

namespace tandem::cosim {

/// An accumulator row, or a result: int32, or bits of fp32; empty: undefined.
using PortRow = std::vector<int32_t>;

class ArrayArithmetic {
  public:
    explicit ArrayArithmetic(engine::MxuShape shape) : shape_(std::move(shape)) {}

    /// `activations`: rows elements; `weights`: a tile, row 0 first, or empty (undefined).
    /// `tile`: not 0 and that of the call before: the same weights.
    PortRow sums(std::span<const std::byte> activations, std::span<const std::byte> weights,
                 uint64_t tile = 0);
    /// row += sums; undefined if one of them is.
    void add(PortRow& row, const PortRow& sums) const;

  private:
    const engine::MxuShape shape_;
    engine::GemmInt8 int8_;
    engine::GemmBf16 bf16_;
};

}  // namespace tandem::cosim
