// SPDX-License-Identifier: Apache-2.0
// One core's share of a kernel of the vector unit, chunk by chunk.
#pragma once

#include "compiler/emit/core_emitter.h"

namespace tandem::compiler {

class VectorEmitter {
  public:
    VectorEmitter(CoreEmitter& core, const Visit& visit);

    /// Emits the next chunk; false: there is none.
    bool advance();

  private:
    using State = arch::VectorState;

    int32_t node() const { return static_cast<int32_t>(index_); }
    const Chunk& chunk() const { return share_.chunks[chunk_]; }
    /// What a chunk reads of an operand, and what it makes.
    Range operand(size_t operand) const;
    Range result() const;
    /// Where the first byte of that lies in the buffer.
    uint32_t operand_address(size_t operand) const;
    uint32_t result_address() const;
    void load(size_t chunk);
    void store();

    /// Parts of the chunk, so that the next kernel starts before all of it is done.
    uint64_t parts() const;
    void emit(const VectorStep& step, const Range& lines);
    State state_for(const VectorStep& step, const Range& lines) const;
    uint32_t address_of(const VectorStep& step, const VectorRef& ref, const Range& lines) const;
    isa::Words words_of(const VectorStep& step, const Range& lines) const;
    template <class Instruction>
    Instruction with_chain(const VectorStep& step, const Range& lines) const;

    CoreEmitter& core_;
    const size_t index_;  ///< kernel
    const Kernel& kernel_;
    const VectorWork& work_;
    const CorePlan& share_;
    size_t chunk_ = 0;
};

}  // namespace tandem::compiler
