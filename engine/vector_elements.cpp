// SPDX-License-Identifier: Apache-2.0
#include "engine/vector_elements.h"

#include <algorithm>
#include <cstring>

#include "engine/vector_access.h"
#include "engine/vector_chain.h"
#include "engine/vector_lattice.h"
#include "engine/vector_reduction.h"

namespace tandem::engine {
namespace {

using arch::VectorOperand;
using arch::VectorState;

uint64_t product(const Extents& extents) {
    uint64_t result = 1;
    for (const uint64_t extent : extents) result *= extent;
    return result;
}

/// The chain over what `a` delivers and the operands b and c; `dropped`: axes that are reduced.
template <class Op, class First>
void stream(const Op& op, First& a, const VectorState& state, uint32_t dropped,
            std::span<uint8_t> buffer, VectorKernel kernel) {
    const auto lattice = [&](VectorOperand operand, uint64_t address) {
        return Lattice(state, operand, address, {.dropped = dropped});
    };
    const auto reader = [&](VectorOperand operand, uint64_t address, int32_t zero) {
        return ElementReader(state.view(operand).type, zero, 0, lattice(operand, address), buffer,
                             kernel);
    };
    ElementReader b = reader(VectorOperand::kB, op.b_addr, op.zero_b);
    ElementReader c = reader(VectorOperand::kC, op.c_addr, op.zero_c);
    const OutputForm form{state.view(VectorOperand::kOut).type, op.zero_out, op.clamp_min,
                          op.clamp_max};
    ElementWriter out(form, lattice(VectorOperand::kOut, op.out_addr), buffer, kernel);

    const uint64_t all = product(extents_of(state, dropped));
    const Chain chain(state, static_cast<size_t>(std::min<uint64_t>(all, kBlock)), kernel);
    alignas(64) std::array<Lane, arch::kVectorOperands> registers;
    for (uint64_t done = 0; done < all;) {
        const auto count = static_cast<size_t>(std::min<uint64_t>(all - done, kBlock));
        for (size_t filled = 0; filled < count;)
            filled += a.next(registers[0].data() + filled, count - filled);
        for (size_t reg = 1; reg < registers.size(); ++reg) {
            if (!chain.reads(reg)) continue;
            if (reg < op.operands)
                (reg == 1 ? b : c).read(registers[reg].data(), count);
            else
                std::fill_n(registers[reg].begin(), count, 0);
        }
        chain.run(registers, count);
        out.write(registers[0].data(), count);
        done += count;
    }
}

}  // namespace

void map_elements(const isa::Map& op, const VectorState& state, std::span<uint8_t> buffer,
                  VectorKernel kernel) {
    ElementReader a(state.view(VectorOperand::kA).type, op.zero_a, state.taps.fill,
                    Lattice(state, VectorOperand::kA, op.a_addr, {.through_taps = op.taps != 0}),
                    buffer, kernel);
    stream(op, a, state, 0, buffer, kernel);
}

void reduce_elements(const isa::Reduce& op, const VectorState& state, std::span<uint8_t> buffer,
                     VectorKernel kernel) {
    Reduction a(op, state, buffer, kernel);
    stream(op, a, state, op.axes, buffer, kernel);
}

void lookup_elements(const isa::Lookup& op, const VectorState& state, std::span<uint8_t> buffer,
                     VectorKernel kernel) {
    constexpr size_t kEntries = 256;
    const auto type = state.view(VectorOperand::kOut).type;
    const uint32_t bytes = arch::bytes_of(type);
    std::array<uint32_t, kEntries> table;
    load_bits(bytes, buffer, {true, op.table_addr, bytes, kEntries}, table.data(), kernel);

    // With a zero point of -128 elements are indices.
    ElementReader a(arch::VectorType::kInt8, -128, 0,
                    Lattice(state, VectorOperand::kA, op.a_addr, {}), buffer, kernel);
    ElementWriter out({type, 0, 0, 0}, Lattice(state, VectorOperand::kOut, op.out_addr, {}), buffer,
                      kernel);
    const uint64_t all = product(extents_of(state));
    alignas(64) Lane elements;
    for (uint64_t done = 0; done < all;) {
        const auto count = static_cast<size_t>(std::min<uint64_t>(all - done, kBlock));
        a.read(elements.data(), count);
        for (size_t i = 0; i < count; ++i) elements[i] = table[elements[i]];
        out.write_bits(elements.data(), count);
        done += count;
    }
}

}  // namespace tandem::engine
