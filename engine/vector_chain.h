// SPDX-License-Identifier: Apache-2.0
// The chain of set_chain over blocks of elements.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "arch/vector_state.h"
#include "engine/vector_kernel.h"

namespace tandem::engine {

inline constexpr size_t kBlock = 512;  ///< elements that are worked on together

/// One value for each element of a block.
using Lane = std::array<uint32_t, kBlock>;

/// dst[i] = op(x[i], y[i], z[i]), i below count; dst may be one of the others.
void apply(isa::ChainOp op, uint32_t* dst, const uint32_t* x, const uint32_t* y, const uint32_t* z,
           size_t count, VectorKernel kernel);

class Chain {
  public:
    /// `most`: elements of the longest block, at most kBlock.
    Chain(const arch::VectorState& state, size_t most, VectorKernel kernel);

    /// Whether what the register begins with may matter.
    bool reads(size_t reg) const { return (reads_ >> reg & 1) != 0; }
    /// Registers hold the elements; the results are in register 0.
    void run(std::span<Lane, arch::kVectorOperands> registers, size_t count) const;

  private:
    std::span<const arch::ChainStep> steps_;
    uint32_t reads_ = 0;
    VectorKernel kernel_;
    alignas(64) std::array<Lane, arch::kChainConstants> constants_;
};

}  // namespace tandem::engine
