// SPDX-License-Identifier: Apache-2.0
#include "systemc/kernel/unit.h"

#include <algorithm>
#include <cstring>

namespace tandem::sim {

std::string_view mnemonic(uint32_t opcode) {
    for (const auto& info : isa::kInstructions)
        if (static_cast<uint32_t>(info.opcode) == opcode) return info.name;
    return {};
}

Unit::Unit(sc_core::sc_module_name name, isa::Unit unit, ChipServices& services)
    : sc_module(name), services_(services), unit_(unit) {
    SC_HAS_PROCESS(Unit);
    SC_THREAD(run_thread);
    set_stack_size(0x20000);
}

void Unit::enqueue(const Dispatched& instruction) {
    queue_.push_back(instruction);
    probe_.queue_depth = static_cast<uint32_t>(queue_.size());
    enqueued_.notify(sc_core::SC_ZERO_TIME);
}

void Unit::reset() {
    queue_.clear();
    fences_.clear();
    executing_ = false;
    set_probe("idle", nullptr);
    process_.reset();
}

void Unit::run_thread() {
    process_ = sc_core::sc_get_current_process_handle();
    for (;;) {
        while (queue_.empty()) sc_core::wait(enqueued_);
        charge(cause_of_wait(Cause::kIdle));
        const Dispatched instruction = queue_.front();
        queue_.pop_front();
        executing_ = true;
        dequeued_.notify(sc_core::SC_ZERO_TIME);
        set_probe("flag", &instruction);
        const isa::Header header = isa::header_of(instruction.words);
        services_.flags().take(header.wait_a);
        services_.flags().take(header.wait_b);
        charge(cause_of_wait(Cause::kWaitFlag));
        set_probe("busy", &instruction);
        const Cycle start = now();
        services_.started(unit_, instruction.index, start);
        const auto opcode = static_cast<isa::Opcode>(isa::opcode_of(instruction.words));
        const bool fence = opcode == isa::Opcode::kFence;
        fence ? pass_fence(instruction, start) : execute(instruction);
        executing_ = false;
        show_idle();
        if (!fence && !retires_later(opcode)) retire(instruction, start);
    }
}

void Unit::retire(const Dispatched& instruction, Cycle start) {
    const isa::Header header = isa::header_of(instruction.words);
    services_.raise_signals(header);
    services_.retired(unit_, instruction.index, start, now());
    show_idle();
}

/// Unless something is being executed or under way.
void Unit::show_idle() {
    if (!executing_ && !outstanding()) set_probe("idle", nullptr);
}

/// Takes one cycle; then it retires with the work before it, which nothing
/// behind it waits for.
void Unit::pass_fence(const Dispatched& fence, Cycle start) {
    wait_until(start + 1);
    charge(cause_of_wait(Cause::kIdle));
    if (const auto piece = outstanding())
        fences_.push_back({*piece, fence, start});
    else
        retire(fence, start);
}

void Unit::retire_fences(uint64_t piece) {
    for (; !fences_.empty() && fences_.front().piece == piece; fences_.pop_front())
        retire(fences_.front().instruction, fences_.front().start);
}

void Unit::check_range(uint64_t address, uint64_t bytes, uint64_t size, arch::DeviceError code,
                       uint32_t index) {
    if (address > size || bytes > size - address) services_.fail(code, index);
}

void Unit::set_probe(std::string_view state, const Dispatched* instruction) {
    std::memset(probe_.state, 0, sizeof probe_.state);
    std::reverse_copy(state.begin(), state.end(), probe_.state);
    probe_.queue_depth = static_cast<uint32_t>(queue_.size());
    std::memset(probe_.text, 0, sizeof probe_.text);
    if (instruction == nullptr) return;
    probe_.instruction = instruction->index;
    const std::string_view name =
        mnemonic(isa::opcode_of(instruction->words)).substr(0, sizeof probe_.text);
    std::reverse_copy(name.begin(), name.end(), probe_.text);
}

}  // namespace tandem::sim
