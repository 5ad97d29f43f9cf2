// SPDX-License-Identifier: Apache-2.0
// A program that is made while it runs, so that its length costs no memory. It has no branches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "arch/generated/isa.h"
#include "arch/instruction_source.h"

namespace tandem::arch {

class ProgramSource {
  public:
    virtual ~ProgramSource() = default;
    /// Writes the next instructions and returns how many; fewer than asked for only at the end.
    virtual size_t next(std::span<isa::Words> words) = 0;
    /// What instruction `index` is for; asked for instructions that have been made a short while
    /// ago (some thousand before the last one), whenever one of them retires.
    virtual InstructionSource source(uint64_t /*index*/) const { return {}; }
};

}  // namespace tandem::arch
