// SPDX-License-Identifier: Apache-2.0
// What map, reduce, lookup and move compute, on plain bytes, bit by bit as docs/numerics.md states
// it. Callers have checked that instructions are valid and that all addresses lie inside the
// buffer. An out that overlaps an operand other than element by element gives unspecified bytes.
#pragma once

#include <cstdint>
#include <span>

#include "arch/vector_state.h"
#include "engine/vector_kernel.h"

namespace tandem::engine {

void map_elements(const isa::Map& op, const arch::VectorState& state, std::span<uint8_t> buffer,
                  VectorKernel kernel = best_vector_kernel());
void reduce_elements(const isa::Reduce& op, const arch::VectorState& state,
                     std::span<uint8_t> buffer, VectorKernel kernel = best_vector_kernel());
void lookup_elements(const isa::Lookup& op, const arch::VectorState& state,
                     std::span<uint8_t> buffer, VectorKernel kernel = best_vector_kernel());
/// False: an index outside of the rows; what was written until then is unspecified.
bool move_elements(const isa::Move& op, const arch::VectorState& state, std::span<uint8_t> buffer);

}  // namespace tandem::engine
