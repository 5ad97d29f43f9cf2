// SPDX-License-Identifier: Apache-2.0
// map, reduce, lookup and move element by element, straight from the words of arch/isa.yaml, in
// double and wide integers and apart from the engine.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/vector_state.h"

namespace tandem::testbench::plain_vector {

using Bytes = std::vector<uint8_t>;

/// One step of a chain on bits.
uint32_t apply(isa::ChainOp op, uint32_t x, uint32_t y, uint32_t z);
/// r0 after the chain.
uint32_t chain(const arch::VectorState& state, uint32_t a, uint32_t b, uint32_t c);

void map(const isa::Map& op, const arch::VectorState& state, Bytes& buffer);
void reduce(const isa::Reduce& op, const arch::VectorState& state, Bytes& buffer);
void lookup(const isa::Lookup& op, const arch::VectorState& state, Bytes& buffer);
bool move(const isa::Move& op, const arch::VectorState& state, Bytes& buffer);

}  // namespace tandem::testbench::plain_vector
