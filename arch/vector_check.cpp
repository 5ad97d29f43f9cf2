// SPDX-License-Identifier: Apache-2.0
// The part of InstructionCheck about shapes, views, chains and what runs through them.
#include <algorithm>

#include "arch/instruction_check.h"
#include "arch/vector_rules.h"
#include "base/error.h"

namespace tandem::arch {
namespace {

using Wide = unsigned __int128;

/// Elements and steps that the machine does in the time of a unit of work.
constexpr uint64_t kElementsPerWork = 16;

/// Saturates far beyond any limit.
Wide elements_of(const VectorState& state) {
    constexpr Wide kMost = Wide{1} << 80;
    Wide elements = 1;
    for (const uint32_t extent : state.shape) elements = std::min(elements * extent, kMost);
    return elements;
}

}  // namespace

bool InstructionCheck::check_vector(uint32_t index) {
    const isa::Words& words = program_.instructions[index];
    const auto opcode = static_cast<isa::Opcode>(isa::opcode_of(words));
    if (opcode < isa::Opcode::kSetShape || opcode > isa::Opcode::kMove) return false;
    if (const char* expected = vector_mistake(words, vector_)) fail(index, expected, "another one");
    if (vector_.apply(words)) return true;
    for (const VectorAccess& access : vector_accesses(words, vector_)) {
        if (access.low < 0)
            fail(index, std::string(access.what) + " inside the unified buffer",
                 std::to_string(-access.low) + " bytes ahead of it");
        in_buffer(index, access.what, static_cast<uint64_t>(access.low),
                  static_cast<uint64_t>(access.high - access.low));
    }
    const bool chain = opcode == isa::Opcode::kMap || opcode == isa::Opcode::kReduce;
    const Wide elements = elements_of(vector_), steps = chain ? vector_.chain_length() : 0;
    const Wide work = elements * (1 + steps) / kElementsPerWork;
    spend(static_cast<uint64_t>(std::min<Wide>(work, ~0ull)), index);
    in_time(index, (elements + chip_.vector.lanes - 1) / chip_.vector.lanes *
                           chain_cycles(vector_, chip_.vector) +
                       chip_.vector.latency_cycles);
    return true;
}

}  // namespace tandem::arch
