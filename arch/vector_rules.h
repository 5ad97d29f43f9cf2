// SPDX-License-Identifier: Apache-2.0
// What the instructions of the typed vector unit must keep to: the machine refuses what breaks a
// rule, and the check of programs what the machine would. And what a chain costs, for both.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "arch/chip_config.h"
#include "arch/vector_state.h"

namespace tandem::arch {

/// Bytes of the unified buffer, half open, that an instruction may touch.
struct VectorAccess {
    const char* what = "";
    int64_t low = 0, high = 0;
    bool writes = false;
    bool inside(uint64_t buffer_bytes) const {
        return low >= 0 && high <= static_cast<int64_t>(buffer_bytes);
    }
};

class VectorAccesses {
  public:
    void add(const char* what, uint32_t address, const ByteSpan& bytes, bool writes = false) {
        list_[count_++] = {what, address + bytes.low, address + bytes.high, writes};
    }
    const VectorAccess* begin() const { return list_.data(); }
    const VectorAccess* end() const { return list_.data() + count_; }

  private:
    std::array<VectorAccess, kVectorOperands> list_;
    size_t count_ = 0;
};

/// What is expected of a set_ instruction, map, reduce, lookup or move that is wrong by itself;
/// nullptr: nothing is. `state`: what it finds.
const char* vector_mistake(const isa::Words& words, const VectorState& state);

/// Accesses of a map, reduce, lookup or move without mistake: all that its operands reach, whether
/// it is read or not; rows that are gathered, and the lines of a window, as many as there are.
VectorAccesses vector_accesses(const isa::Words& words, const VectorState& state);

/// Cycles that a vector of `lanes` elements takes in the chain.
uint32_t chain_cycles(const VectorState& state, const ChipConfig::Vector& unit);

}  // namespace tandem::arch
