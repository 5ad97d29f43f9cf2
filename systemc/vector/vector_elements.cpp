// SPDX-License-Identifier: Apache-2.0
// The part of VectorUnit that sets shape, views and chain, and that runs through them.
#include "engine/vector_elements.h"

#include <algorithm>

#include "arch/vector_rules.h"
#include "systemc/vector/vector_unit.h"

namespace tandem::sim {

void VectorUnit::execute_elements(const Dispatched& instruction) {
    check_elements(instruction);
    if (state_.apply(instruction.words)) {
        const Cycle start = now();
        busy_for(1);
        return done_at(begin(instruction, start), now());
    }
    const Streaming streaming = streaming_of(instruction);
    wait_until_fewer(1);
    const uint64_t number = begin(instruction, now());
    compute_elements(instruction);
    stream(streaming.bytes.read, streaming.bytes.written, streaming.cycles);
    done_at(number, now());
}

Performed VectorUnit::perform_elements(const Dispatched& instruction, Cycle start) {
    check_elements(instruction);
    if (state_.apply(instruction.words)) return {start, start + 1, start + 1};
    const Streaming streaming = streaming_of(instruction);
    start = std::max(start, done_);
    compute_elements(instruction);
    const Cycle done =
        std::max({start + streaming.cycles, ports_.read_port.done(start, streaming.bytes.read),
                  ports_.write_port.done(start, streaming.bytes.written)});
    return {start, done, done};
}

void VectorUnit::check_elements(const Dispatched& instruction) {
    const isa::Words& words = instruction.words;
    const uint32_t index = instruction.index;
    switch (static_cast<isa::Opcode>(isa::opcode_of(words))) {
        case isa::Opcode::kSetShape:
        case isa::Opcode::kSetView:
        case isa::Opcode::kSetTaps:
        case isa::Opcode::kSetChain:
        case isa::Opcode::kSetConstants:
        case isa::Opcode::kMap:
        case isa::Opcode::kReduce:
        case isa::Opcode::kLookup:
        case isa::Opcode::kMove:
            break;
        default:
            services_.fail(arch::DeviceError::kBadInstruction, index);
    }
    if (arch::vector_mistake(words, state_) != nullptr)
        services_.fail(arch::DeviceError::kBadInstruction, index);
}

VectorUnit::Streaming VectorUnit::streaming_of(const Dispatched& instruction) {
    const isa::Words& words = instruction.words;
    const uint32_t index = instruction.index;
    for (const arch::VectorAccess& access : arch::vector_accesses(words, state_))
        if (!access.inside(bytes_.size())) services_.fail(arch::DeviceError::kUbAddress, index);
    const auto of = [&](const auto& op, uint64_t cycles) {
        return Streaming{cycles, engine::buffer_bytes(op, state_)};
    };
    const auto timed = [&] {
        switch (static_cast<isa::Opcode>(isa::opcode_of(words))) {
            case isa::Opcode::kMap: {
                const auto op = isa::Map::decode(words);
                return of(op, timing_.map(op, state_));
            }
            case isa::Opcode::kReduce: {
                const auto op = isa::Reduce::decode(words);
                return of(op, timing_.reduce(op, state_));
            }
            case isa::Opcode::kLookup: {
                const auto op = isa::Lookup::decode(words);
                return of(op, timing_.lookup(op, state_));
            }
            default: {
                const auto op = isa::Move::decode(words);
                return of(op, timing_.move(op, state_));
            }
        }
    };
    const Streaming streaming = timed();
    // Before any work: a shape may have more elements than anybody can wait for.
    if (streaming.cycles >= services_.config().sequencer.watchdog_cycles)
        services_.fail(arch::DeviceError::kWatchdog, index);
    return streaming;
}

/// A move may meet an index outside of the rows.
void VectorUnit::compute_elements(const Dispatched& instruction) {
    if (!services_.functional()) return;
    const isa::Words& words = instruction.words;
    switch (static_cast<isa::Opcode>(isa::opcode_of(words))) {
        case isa::Opcode::kMap:
            return engine::map_elements(isa::Map::decode(words), state_, bytes_);
        case isa::Opcode::kReduce:
            return engine::reduce_elements(isa::Reduce::decode(words), state_, bytes_);
        case isa::Opcode::kLookup:
            return engine::lookup_elements(isa::Lookup::decode(words), state_, bytes_);
        default:
            if (!engine::move_elements(isa::Move::decode(words), state_, bytes_))
                services_.fail(arch::DeviceError::kUbAddress, instruction.index);
    }
}

}  // namespace tandem::sim
