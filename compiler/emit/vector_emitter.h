// SPDX-License-Identifier: Apache-2.0
// One core's share of a kernel of the vector unit, piece by piece.
#pragma once

#include "compiler/emit/core_emitter.h"

namespace tandem::compiler {

class VectorEmitter {
  public:
    VectorEmitter(CoreEmitter& core, size_t kernel);

    /// Emits the next piece; false: there is none.
    bool advance();

  private:
    int32_t node() const { return static_cast<int32_t>(index_); }
    const Chunk& chunk() const { return share_.chunks[chunk_]; }
    /// Of the piece's first byte: of an operand, of the result.
    uint32_t operand_address(size_t operand) const;
    uint32_t result_address() const;
    Range operand(size_t operand) const;
    Range result() const;
    void load(size_t chunk);
    void store();

    void emit(const MatmulWork&) {}
    void emit(const AddWork& work);
    void emit(const CopyWork& work);
    void emit(const PoolWork& work);
    void emit(const SoftmaxWork& work);
    void emit(const EdgeWork&) {}
    void emit(const AliasWork&) {}
    void copy(uint64_t at, uint64_t pixels, uint64_t channels);
    /// A step of the vector unit for this kernel.
    template <class Instruction>
    void add(const Instruction& instruction, std::initializer_list<Access> accesses);
    Access params() const;

    CoreEmitter& core_;
    const size_t index_;
    const Kernel& kernel_;
    const CorePlan& share_;
    size_t chunk_ = 0;
};

}  // namespace tandem::compiler
