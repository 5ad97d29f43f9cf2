// SPDX-License-Identifier: Apache-2.0
#include "systemc/sequencer/sequencer.h"

#include <algorithm>

namespace tandem::sim {
namespace {

/// What dispatch has to know of an opcode.
struct Decoding {
    const isa::InstructionInfo* info = nullptr;
    const isa::FieldPosition* base = nullptr;  ///< of its base register, if it has one
    const isa::FieldPosition* mxu = nullptr;   ///< of the array that it is for, likewise
};

const Decoding& decoding_of(const isa::Words& words) {
    static const auto table = [] {
        std::array<Decoding, 256> entries{};
        for (const auto& info : isa::kInstructions) {
            Decoding& entry = entries[static_cast<uint32_t>(info.opcode)];
            entry.info = &info;
            for (uint32_t i = 0; i < info.field_count; ++i) {
                if (info.fields[i].name == "base") entry.base = &info.fields[i].position;
                if (info.fields[i].name == "mxu") entry.mxu = &info.fields[i].position;
            }
        }
        return entries;
    }();
    return table[isa::opcode_of(words)];
}

/// The vector unit serves all arrays; only these units stand once per array.
bool one_per_array(isa::Unit unit) {
    return unit == isa::Unit::kMxu || unit == isa::Unit::kWeights;
}

}  // namespace

Sequencer::Sequencer(sc_core::sc_module_name name, ChipServices& services, std::vector<Unit*> units,
                     uint32_t core)
    : sc_module(name),
      memory("memory"),
      services_(services),
      units_(std::move(units)),
      core_(core),
      sync_cycles_(services.config().sync_cycles()),
      program_launch_cycles_(
          services.config().cycles_in(services.config().sequencer.program_launch_ps)),
      kernel_launch_cycles_(std::max<Cycle>(
          services.config().cycles_in(services.config().sequencer.kernel_launch_ps), 1)) {
    for (Unit* unit : units_) units_of_[static_cast<size_t>(unit->unit())].push_back(unit);
}

std::optional<ProgramError> Sequencer::run(const ProgramRequest& request) {
    const Clock& clock = services_.clock();
    clock.wait_until(clock.now());
    begin();
    const Cycle start = now();
    services_.program_started(start);
    program_ = request;
    pc_ = 0;
    scalar_.fill(0);
    std::copy(request.args.begin(), request.args.end(), scalar_.begin() + 1);
    scalar_[4] = core_;
    services_.flags().clear();
    current_ = {};
    ahead_.clear();
    account_.begin(start);
    for (Unit* unit : units_) unit->begin_program(start);
    wait_until(start + program_launch_cycles_);
    account_.charge(Cause::kLaunch, now());

    while (step() == Step::kContinue) {
    }
    synchronise();
    const Cycle end = now();
    account_.end(end);
    for (Unit* unit : units_) unit->end_program(end);
    program_cycles_ += end - start;
    auto error = services_.error();
    if (error)
        for (Unit* unit : units_) unit->reset();
    return error;
}

Sequencer::Step Sequencer::step() {
    if (services_.error()) return Step::kStopped;
    isa::Words words;
    if (!fetch(words)) return Step::kStopped;
    const isa::InstructionInfo* info = decoding_of(words).info;
    if (info == nullptr || isa::header_of(words).core > services_.cores()) return refuse();
    const auto unit = unit_of(*info, words);
    if (!unit) return refuse();
    const Step result = *unit == isa::Unit::kSequencer ? execute_scalar(info->opcode, words)
                                                       : dispatch(*unit, words);
    if (result != Step::kContinue) return result;
    ++pc_;
    const bool launch = info->opcode == isa::Opcode::kLaunch;
    account_.charge(launch ? Cause::kLaunch : Cause::kBusy, now() + 1);
    wait_until(now() + 1);
    return Step::kContinue;
}

std::optional<isa::Unit> Sequencer::unit_of(const isa::InstructionInfo& info,
                                            const isa::Words& words) {
    if (info.opcode != isa::Opcode::kFence) return info.unit;
    const uint32_t unit = isa::Fence::decode(words).unit;
    if (unit >= isa::kUnitNames.size()) return std::nullopt;
    return static_cast<isa::Unit>(unit);
}

Sequencer::Step Sequencer::refuse() {
    services_.raise_error(arch::DeviceError::kBadInstruction, program_counter());
    return Step::kStopped;
}

Sequencer::Step Sequencer::execute_scalar(isa::Opcode opcode, const isa::Words& words) {
    const isa::Header header = isa::header_of(words);
    const uint32_t index = program_counter();
    const Cycle start = now();
    if (!take(header.wait_a) || !take(header.wait_b)) return Step::kStopped;
    if (header.wait_a != 0 || header.wait_b != 0) wait_until(now() + sync_cycles_);
    account_.charge(Cause::kWaitFlag, now());
    switch (opcode) {
        case isa::Opcode::kHalt:
            if (!wait_for_units()) return Step::kStopped;
            account_.charge(Cause::kIdle, now());
            break;
        case isa::Opcode::kSetScalar: {
            const auto op = isa::SetScalar::decode(words);
            scalar_[op.rd] = op.imm;
            break;
        }
        case isa::Opcode::kAddScalar: {
            const auto op = isa::AddScalar::decode(words);
            scalar_[op.rd] = scalar_[op.rs] + static_cast<uint64_t>(int64_t{op.imm});
            break;
        }
        case isa::Opcode::kBranchNonzero: {
            const auto op = isa::BranchNonzero::decode(words);
            if (scalar_[op.rs] != 0) pc_ += static_cast<uint64_t>(int64_t{op.offset}) - 1;
            break;
        }
        case isa::Opcode::kLaunch:
            // Its last cycle is the one that every instruction takes.
            wait_until(now() + kernel_launch_cycles_ - 1);
            account_.charge(Cause::kLaunch, now());
            break;
        default:
            break;
    }
    scalar_[0] = 0;
    raise_signals(header);
    services_.retired(isa::Unit::kSequencer, index, start, now());
    return opcode == isa::Opcode::kHalt ? Step::kHalted : Step::kContinue;
}

Sequencer::Step Sequencer::dispatch(isa::Unit unit, const isa::Words& words) {
    const Decoding& decoding = decoding_of(words);
    const uint64_t base = decoding.base ? scalar_[isa::get(words, *decoding.base)] : 0;
    const Dispatched instruction{words, program_counter(), base};
    const auto& units = units_of_[static_cast<size_t>(unit)];
    if (!one_per_array(unit))
        return enqueue(*units.front(), instruction) ? Step::kContinue : Step::kStopped;
    if (decoding.mxu == nullptr) {  // set_window is for all arrays
        for (Unit* array : units)
            if (!enqueue(*array, instruction)) return Step::kStopped;
        return Step::kContinue;
    }
    const uint64_t index = isa::get(words, *decoding.mxu);
    if (index >= units.size()) return refuse();
    return enqueue(*units[index], instruction) ? Step::kContinue : Step::kStopped;
}

bool Sequencer::enqueue(Unit& unit, const Dispatched& instruction) {
    if (!wait_for([&] { return !unit.queue_full(); }, unit.dequeued())) return false;
    account_.charge(Cause::kWaitSpace, now());
    unit.enqueue(instruction);
    return true;
}

bool Sequencer::take(uint32_t flag) {
    return wait_for([&] { return services_.flags().try_take(flag); }, services_.flags().raised());
}

bool Sequencer::wait_for_units() {
    return wait_for([&] { return units_idle(); }, services_.progress());
}

/// Waits until ready() holds. False: the program has failed, or nothing has moved for too long.
///
/// One notification of the watchdog is under way at a time: a time-out for each wait would stay in
/// the kernel's queue until its time, though nobody waits for it any more.
bool Sequencer::wait_for(const std::function<bool()>& ready, const sc_core::sc_event& event) {
    const Clock& clock = services_.clock();
    const sc_core::sc_time patience = clock.time_of(services_.config().sequencer.watchdog_cycles);
    uint64_t retired = services_.chip_instructions_retired();
    sc_core::sc_time deadline = sc_core::sc_time_stamp() + patience;
    for (;;) {
        if (services_.error()) return false;
        if (ready()) return true;
        if (services_.chip_instructions_retired() != retired) {
            retired = services_.chip_instructions_retired();
            deadline = sc_core::sc_time_stamp() + patience;
        }
        if (sc_core::sc_time_stamp() >= deadline) {
            services_.raise_error(arch::DeviceError::kWatchdog, program_counter());
            return false;
        }
        if (sc_core::sc_time_stamp() >= watchdog_at_) {
            watchdog_at_ = deadline;
            watchdog_.notify(deadline - sc_core::sc_time_stamp());
        }
        sc_core::wait(event | services_.progress() | watchdog_);
    }
}

bool Sequencer::units_idle() const {
    return std::all_of(units_.begin(), units_.end(), [](const Unit* unit) { return unit->idle(); });
}

bool Sequencer::fetch(isa::Words& words) {
    if (pc_ >= program_.instructions) {
        services_.raise_error(arch::DeviceError::kProgramEnd, program_counter());
        return false;
    }
    const uint64_t number = pc_ / kFetchInstructions;
    if (current_.number != number) {
        while (!ahead_.empty() && ahead_.front().number != number) ahead_.pop_front();
        if (ahead_.empty() && !request_block(number)) return false;
        if (ahead_.empty()) {
            services_.raise_error(arch::DeviceError::kProgramEnd, program_counter());
            return false;
        }
        current_ = std::move(ahead_.front());
        ahead_.pop_front();
        wait_until(current_.asked + 1);  // by then all that share the memory have asked
        wait_until(services_.clock().at_or_after(current_.booking.end()));
        account_.charge(Cause::kWaitMemory, now());
        for (uint64_t next = ahead_.empty() ? number + 1 : ahead_.back().number + 1;
             ahead_.size() < kFetchAhead && next * kFetchInstructions < program_.instructions;
             ++next)
            if (!request_block(next)) return false;
    }
    words = current_.words[pc_ % kFetchInstructions];
    return true;
}

bool Sequencer::request_block(uint64_t number) {
    FetchBlock block;
    const uint64_t first = number * kFetchInstructions;
    uint64_t count = std::min<uint64_t>(kFetchInstructions, program_.instructions - first);
    const bool made = program_.source != nullptr;
    if (made) count = read_source(block, first, count);
    if (count == 0) return true;  // the block before was the last one
    // A program that is made has no place in memory of its own length: it goes round in a window.
    const uint64_t place = first % (made ? kWindowInstructions : program_.instructions);
    Booked booked;
    booked.turn = services_.turn(isa::Unit::kSequencer);
    booked.urgent = true;
    booked.extent = count * isa::kInstructionBytes;
    if (!memory.book_read(program_.address + place * isa::kInstructionBytes,
                          made ? nullptr : reinterpret_cast<uint8_t*>(block.words.data()),
                          booked.extent, booked)) {
        services_.raise_error(arch::DeviceError::kMemoryAddress, program_counter());
        return false;
    }
    block.number = number;
    block.asked = now();
    block.booking = std::move(booked.booking);
    ahead_.push_back(std::move(block));
    return true;
}

uint64_t Sequencer::read_source(FetchBlock& block, uint64_t first, uint64_t count) {
    const size_t made = program_.source->next(std::span(block.words).first(count));
    if (made < count) program_.instructions = first + made;
    return made;
}

}  // namespace tandem::sim
