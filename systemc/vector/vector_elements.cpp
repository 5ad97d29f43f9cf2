// SPDX-License-Identifier: Apache-2.0
// The part of VectorUnit that sets shape, views and chain, and that runs through them.
#include "engine/vector_elements.h"

#include "arch/vector_rules.h"
#include "systemc/vector/vector_unit.h"

namespace tandem::sim {

void VectorUnit::execute_elements(const Dispatched& instruction) {
    const isa::Words& words = instruction.words;
    const uint32_t index = instruction.index;
    if (arch::vector_mistake(words, state_) != nullptr)
        services_.fail(arch::DeviceError::kBadInstruction, index);
    if (state_.apply(words)) {
        const Cycle start = now();
        busy_for(1);
        return done_at(begin(instruction, start), now());
    }
    for (const arch::VectorAccess& access : arch::vector_accesses(words, state_))
        if (!access.inside(bytes_.size())) services_.fail(arch::DeviceError::kUbAddress, index);
    switch (static_cast<isa::Opcode>(isa::opcode_of(words))) {
        case isa::Opcode::kMap: {
            const auto op = isa::Map::decode(words);
            return stream_elements(op, timing_.map(op, state_), instruction, [&] {
                engine::map_elements(op, state_, bytes_);
                return true;
            });
        }
        case isa::Opcode::kReduce: {
            const auto op = isa::Reduce::decode(words);
            return stream_elements(op, timing_.reduce(op, state_), instruction, [&] {
                engine::reduce_elements(op, state_, bytes_);
                return true;
            });
        }
        case isa::Opcode::kLookup: {
            const auto op = isa::Lookup::decode(words);
            return stream_elements(op, timing_.lookup(op, state_), instruction, [&] {
                engine::lookup_elements(op, state_, bytes_);
                return true;
            });
        }
        default: {
            const auto op = isa::Move::decode(words);
            return stream_elements(op, timing_.move(op, state_), instruction,
                                   [&] { return engine::move_elements(op, state_, bytes_); });
        }
    }
}

template <class Op>
void VectorUnit::stream_elements(const Op& op, uint64_t cycles, const Dispatched& instruction,
                                 const auto& compute) {
    // Before any work: a shape may have more elements than anybody can wait for.
    if (cycles >= services_.config().sequencer.watchdog_cycles)
        services_.fail(arch::DeviceError::kWatchdog, instruction.index);
    wait_until_fewer(1);
    const uint64_t number = begin(instruction, now());
    if (services_.functional() && !compute())
        services_.fail(arch::DeviceError::kUbAddress, instruction.index);
    const engine::BufferBytes bytes = engine::buffer_bytes(op, state_);
    stream(bytes.read, bytes.written, cycles);
    done_at(number, now());
}

}  // namespace tandem::sim
