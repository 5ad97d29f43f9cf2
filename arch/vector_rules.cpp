// SPDX-License-Identifier: Apache-2.0
#include "arch/vector_rules.h"

#include <algorithm>
#include <span>

#include "base/divide.h"

namespace tandem::arch {
namespace {

constexpr int64_t kTableEntries = 256;

/// Accesses of map and reduce; `reduced`: axes that out, b and c do not have.
template <class Op>
VectorAccesses of_chain(const Op& op, const VectorState& state, uint32_t reduced) {
    VectorAccesses all;
    all.add("operand a", op.a_addr, state.span(VectorOperand::kA, 0, op.taps != 0));
    if (op.operands >= 2) all.add("operand b", op.b_addr, state.span(VectorOperand::kB, reduced));
    if (op.operands >= 3) all.add("operand c", op.c_addr, state.span(VectorOperand::kC, reduced));
    all.add("the result", op.out_addr, state.span(VectorOperand::kOut, reduced), true);
    return all;
}

VectorAccesses of_lookup(const isa::Lookup& op, const VectorState& state) {
    const auto entry = bytes_of(state.view(VectorOperand::kOut).type);
    VectorAccesses all;
    all.add("operand a", op.a_addr, state.span(VectorOperand::kA));
    all.add("the table", op.table_addr, {0, int64_t{entry} * kTableEntries});
    all.add("the result", op.out_addr, state.span(VectorOperand::kOut), true);
    return all;
}

VectorAccesses of_move(const isa::Move& op, const VectorState& state) {
    VectorState source = state;
    if (op.gather != 0) source.shape[0] = op.rows;
    VectorAccesses all;
    all.add("operand a", op.a_addr, source.span(VectorOperand::kA, 0, op.taps != 0));
    if (op.gather != 0)
        all.add("the indices", op.index_addr, {0, int64_t{state.shape[0]} * int64_t{4}});
    all.add("the result", op.out_addr, state.span(VectorOperand::kOut), true);
    return all;
}

}  // namespace

const char* vector_mistake(const isa::Words& words, const VectorState& state) {
    const VectorType a = state.view(VectorOperand::kA).type;
    switch (static_cast<isa::Opcode>(isa::opcode_of(words))) {
        case isa::Opcode::kMap:
            return isa::Map::decode(words).operands != 0 ? nullptr : "one operand at least";
        case isa::Opcode::kReduce:
            return isa::Reduce::decode(words).operands != 0 ? nullptr : "one operand at least";
        case isa::Opcode::kLookup:
            return a == VectorType::kInt8 ? nullptr : "an int8 view of operand a";
        case isa::Opcode::kMove: {
            const auto op = isa::Move::decode(words);
            if (a != state.view(VectorOperand::kOut).type)
                return "views of operand a and out of the same type";
            return op.gather == 0 || op.rows != 0 ? nullptr : "one row at least to gather from";
        }
        default:
            return VectorState::valid(words) ? nullptr : "values that the vector unit has";
    }
}

VectorAccesses vector_accesses(const isa::Words& words, const VectorState& state) {
    switch (static_cast<isa::Opcode>(isa::opcode_of(words))) {
        case isa::Opcode::kMap:
            return of_chain(isa::Map::decode(words), state, 0);
        case isa::Opcode::kReduce: {
            const auto op = isa::Reduce::decode(words);
            return of_chain(op, state, op.axes);
        }
        case isa::Opcode::kLookup:
            return of_lookup(isa::Lookup::decode(words), state);
        default:
            return of_move(isa::Move::decode(words), state);
    }
}

uint32_t chain_cycles(const VectorState& state, const ChipConfig::Vector& unit) {
    if (unit.fixed_pipeline) return 1;
    const uint32_t slow =
        unit.transcendental_lanes == 0
            ? 1
            : static_cast<uint32_t>(base::divide_up(unit.lanes, unit.transcendental_lanes));
    uint32_t cycles = 0;
    for (const ChainStep& step : std::span(state.chain).first(state.chain_length()))
        cycles += std::ranges::find(isa::kChainOps, step.op, &isa::ChainOpInfo::op)->transcendental
                      ? slow
                      : 1;
    return std::max(cycles, 1u);
}

}  // namespace tandem::arch
