// SPDX-License-Identifier: Apache-2.0
// What the vector unit makes of rows of accumulators. Arithmetic: arch/numerics.h. Callers have
// checked that all addresses lie inside the buffer.
#pragma once

#include <cstdint>
#include <span>

#include "arch/vector_state.h"
#include "engine/vector_kernel.h"

namespace tandem::engine {

/// sums: rows x array_cols int32. Writes rows x cols int8 into `buffer`.
void requantise_rows(const isa::Requantise& op, std::span<const int32_t> sums, uint32_t array_cols,
                     std::span<uint8_t> buffer, VectorKernel kernel = best_vector_kernel());
/// sums: rows x array_cols fp32 as bit patterns, or int32 for a chain. Writes rows x cols of 2 or 4
/// bytes into `buffer`.
void convert_rows(const isa::Convert& op, const arch::VectorState& state,
                  std::span<const int32_t> sums, uint32_t array_cols, std::span<uint8_t> buffer,
                  VectorKernel kernel = best_vector_kernel());

}  // namespace tandem::engine
