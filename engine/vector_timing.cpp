// SPDX-License-Identifier: Apache-2.0
#include "engine/vector_timing.h"

#include <algorithm>
#include <array>
#include <bit>
#include <initializer_list>
#include <limits>
#include <span>

#include "arch/vector_rules.h"
#include "engine/vector_lattice.h"

namespace tandem::engine {
namespace {

using arch::VectorOperand;
using arch::VectorState;

constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();

uint64_t times(uint64_t a, uint64_t b) {
    uint64_t result = 0;
    return __builtin_mul_overflow(a, b, &result) ? kMost : result;
}

uint64_t plus(uint64_t a, uint64_t b) {
    uint64_t result = 0;
    return __builtin_add_overflow(a, b, &result) ? kMost : result;
}

uint64_t product(const Extents& extents) {
    uint64_t result = 1;
    for (const uint64_t extent : extents) result = times(result, extent);
    return result;
}

/// The last axis of more than one element.
size_t innermost_axis(const Extents& extents) {
    size_t axis = kInnermost;
    while (axis > 0 && extents[axis] == 1) --axis;
    return axis;
}

/// Vectors of `lanes` elements that all of `operands` stream in.
uint64_t vectors(uint32_t lanes, const VectorState& state, std::span<const VectorOperand> operands,
                 uint32_t dropped, uint32_t reduced, uint32_t alone) {
    Extents extents = extents_of(state, dropped);
    std::array<Strides, arch::kVectorOperands> strides;
    for (size_t i = 0; i < operands.size(); ++i) strides[i] = strides_of(state, operands[i]);
    join_axes(extents, std::span(strides).first(operands.size()), reduced, alone);
    uint64_t& run = extents[innermost_axis(extents)];
    run = base::divide_up(run, lanes);
    return product(extents);
}

/// The operands of an instruction: `first`, then out, and b and c as far as they are read.
class Operands {
  public:
    Operands(std::initializer_list<VectorOperand> first, unsigned read) {
        for (const VectorOperand operand : first) list_[count_++] = operand;
        if (read > 1) list_[count_++] = VectorOperand::kB;
        if (read > 2) list_[count_++] = VectorOperand::kC;
    }
    operator std::span<const VectorOperand>() const { return std::span(list_).first(count_); }

  private:
    std::array<VectorOperand, arch::kVectorOperands> list_{};
    size_t count_ = 0;
};

/// Distinct elements of an operand, in bytes.
uint64_t bytes_read(const VectorState& state, VectorOperand operand, uint32_t dropped = 0,
                    bool through_taps = false) {
    Extents extents = extents_of(state, dropped);
    const Strides strides = strides_of(state, operand);
    for (size_t axis = 0; axis < extents.size(); ++axis)
        if (strides[axis] == 0 && !(through_taps && (kTapAxes >> axis & 1) != 0)) extents[axis] = 1;
    return times(product(extents), arch::bytes_of(state.view(operand).type));
}

uint64_t bytes_written(const VectorState& state, uint32_t dropped = 0) {
    return times(product(extents_of(state, dropped)),
                 arch::bytes_of(state.view(VectorOperand::kOut).type));
}

/// Bytes that map and reduce read and write in the buffer.
template <class Op>
BufferBytes bytes_of_chain(const Op& op, const VectorState& state, uint32_t dropped) {
    uint64_t read = bytes_read(state, VectorOperand::kA, 0, op.taps != 0);
    if (op.operands > 1) read = plus(read, bytes_read(state, VectorOperand::kB, dropped));
    if (op.operands > 2) read = plus(read, bytes_read(state, VectorOperand::kC, dropped));
    return {read, bytes_written(state, dropped)};
}

}  // namespace

uint64_t VectorTiming::map(const isa::Map& op, const VectorState& state) const {
    const uint64_t count =
        vectors(unit.lanes, state, Operands({VectorOperand::kA, VectorOperand::kOut}, op.operands),
                0, 0, op.taps != 0 ? kTapAxes : 0);
    return plus(times(count, arch::chain_cycles(state, unit)), unit.latency_cycles);
}

uint64_t VectorTiming::reduce(const isa::Reduce& op, const VectorState& state) const {
    uint64_t cycles =
        plus(unit.latency_cycles, vectors(unit.lanes, state, Operands({VectorOperand::kA}, 1), 0,
                                          op.axes, op.taps != 0 ? kTapAxes : 0));
    const Extents extents = extents_of(state), kept = extents_of(state, op.axes);
    if (!unit.fixed_pipeline && state.chain_length() != 0)
        cycles = plus(cycles,
                      times(arch::chain_cycles(state, unit),
                            vectors(unit.lanes, state, Operands({VectorOperand::kOut}, op.operands),
                                    op.axes, 0, 0)));
    const size_t axis = innermost_axis(extents);
    if ((op.axes >> axis & 1) != 0) {
        const uint64_t side_by_side = std::min<uint64_t>(unit.lanes, extents[axis]);
        const auto levels = static_cast<uint64_t>(std::bit_width(side_by_side - 1));
        cycles = plus(cycles, times(product(kept), levels));
    }
    return cycles;
}

uint64_t VectorTiming::lookup(const isa::Lookup&, const VectorState& state) const {
    return plus(
        vectors(unit.lanes, state, Operands({VectorOperand::kA, VectorOperand::kOut}, 1), 0, 0, 0),
        unit.latency_cycles);
}

uint64_t VectorTiming::move(const isa::Move& op, const VectorState& state) const {
    const uint32_t alone = (op.taps != 0 ? kTapAxes : 0) | (op.gather != 0 ? 1 : 0);
    return plus(vectors(unit.lanes, state, Operands({VectorOperand::kA, VectorOperand::kOut}, 1), 0,
                        0, alone),
                unit.latency_cycles);
}

BufferBytes buffer_bytes(const isa::Map& op, const VectorState& state) {
    return bytes_of_chain(op, state, 0);
}

BufferBytes buffer_bytes(const isa::Reduce& op, const VectorState& state) {
    return bytes_of_chain(op, state, op.axes);
}

BufferBytes buffer_bytes(const isa::Lookup&, const VectorState& state) {
    return {bytes_read(state, VectorOperand::kA), bytes_written(state)};
}

BufferBytes buffer_bytes(const isa::Move& op, const VectorState& state) {
    uint64_t read = bytes_read(state, VectorOperand::kA, 0, op.taps != 0);
    if (op.gather != 0) read = plus(read, uint64_t{state.shape[0]} * sizeof(int32_t));
    return {read, bytes_written(state)};
}

}  // namespace tandem::engine
