// SPDX-License-Identifier: Apache-2.0
// The chain operations of arch/isa.yaml, one at a time and apart from the engine: whole numbers in
// 64 bits, floats by the rules of docs/numerics.md in double, functions by the C library in long
// double, rounded once.
#pragma once

#include <array>
#include <cstdint>

#include "arch/generated/isa.h"

namespace tandem::testbench {

/// Bits in, bits out: of an int32 or an fp32, as the operation has it. Throws std::runtime_error
/// for an operation that there is not.
uint32_t naive_chain_op(isa::ChainOp op, uint32_t x, uint32_t y, uint32_t z);

struct NaiveStep {
    isa::ChainOp op = isa::ChainOp::kNop;
    uint8_t dst = 0, x = 0, y = 0, z = 0;
};

/// r0 of a chain of 12 steps, up to the first nop; registers begin with a, b, c and 0.
uint32_t naive_chain(const std::array<NaiveStep, 12>& steps,
                     const std::array<uint32_t, 12>& constants, uint32_t a, uint32_t b, uint32_t c);

/// Subnormals to zero of their sign, every NaN to the one.
uint32_t naive_plain_float(uint32_t fp32);

}  // namespace tandem::testbench
