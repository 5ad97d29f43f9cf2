// SPDX-License-Identifier: Apache-2.0
// An instruction with what it touches: the form in which programs exist before their flags are set.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>

#include "arch/generated/isa.h"
#include "arch/instruction_source.h"

namespace tandem::compiler {

/// One of the units of all cores that take part.
struct UnitPlace {
    uint32_t core = 0;
    isa::Unit unit = isa::Unit::kSequencer;
    uint32_t array = 0;  ///< weights and mxu stand once for each

    bool operator==(const UnitPlace&) const = default;
};

/// What is kept apart: the buffer of a core, the accumulators of an array, device memory.
struct Space {
    enum class Kind : uint8_t { kBuffer, kAccumulators, kMemory };
    Kind kind = Kind::kBuffer;
    uint32_t core = 0, array = 0;
};

/// Bytes or accumulator rows begin to end - 1. May be wider than the truth, never narrower.
struct Access {
    Space space;
    uint64_t begin = 0, end = 0;
    bool writes = false;
    /// The writers of a value in memory touch different bytes of rows that they share: they need no
    /// order among themselves. Not of a place that several values have in turns.
    bool shared = false;
    /// A read that only waits: who writes there later does not wait for it.
    bool fleeting = false;
};

struct Step {
    UnitPlace place;
    isa::Words words{};  ///< the header's flags are not set yet
    arch::InstructionSource source;
    std::array<Access, 6> accesses{};
    uint32_t access_count = 0;
    bool writes_value = false;  ///< a part of its node's output

    Step& touches(const Access& access) {
        if (access.begin >= access.end) return *this;
        if (access_count == accesses.size())
            throw std::logic_error("a step with too many accesses");
        accesses[access_count++] = access;
        return *this;
    }
    std::span<const Access> touched() const { return {accesses.data(), access_count}; }
};

}  // namespace tandem::compiler
