// SPDX-License-Identifier: Apache-2.0
// An instruction with what it touches: the form in which programs exist before their flags are set.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "arch/generated/isa.h"
#include "arch/program.h"

namespace tandem::compiler {

enum class Space : uint8_t { kUnifiedBuffer, kAccumulators };

/// Bytes or accumulator rows begin to end - 1. May be wider than the truth, never narrower.
struct Access {
    Space space = Space::kUnifiedBuffer;
    uint64_t begin = 0, end = 0;
};

using AnyInstruction =
    std::variant<isa::Nop, isa::Halt, isa::ReadHost, isa::ReadMemory, isa::WriteHost,
                 isa::ReadWeights, isa::SetWindow, isa::Matmul, isa::Activate, isa::ActivateFloat,
                 isa::Add, isa::SetPoolWindow, isa::Pool, isa::Softmax>;

struct Step {
    AnyInstruction instruction;
    std::vector<Access> reads, writes;
    arch::InstructionSource source;
    int32_t buffer = -1;  ///< BufferId of the activation that it writes, -1: none

    isa::Unit unit() const {
        return std::visit([](const auto& i) { return i.kUnit; }, instruction);
    }
    isa::Header& header() {
        return std::visit([](auto& i) -> isa::Header& { return i.header; }, instruction);
    }
    isa::Words encode() const {
        return std::visit([](const auto& i) { return i.encode(); }, instruction);
    }
};

}  // namespace tandem::compiler
