// SPDX-License-Identifier: Apache-2.0
#include "arch/core_machine.h"

#include <fmt/format.h>

#include <algorithm>

namespace tandem::arch {
namespace {

constexpr uint64_t kTileWork = 50;  ///< see InstructionCheck::spend
// Scalar registers at the start of a program.
constexpr size_t kDataBase = 1, kInputBase = 2, kOutputBase = 3, kCoreNumber = 4;

}  // namespace

CoreMachine::CoreMachine(ProgramCheck& all, MachineFlags& flags, uint32_t core)
    : chip_(all.chip),
      core_(core),
      program_(all.image.cores[core]),
      flags_(flags),
      check_(all, core),
      arrays_(all.chip.mxu.count) {
    const MachineClock nothing(all.image.cores.size() * (arrays_.size() + 1));
    for (const auto kind :
         {isa::Unit::kSequencer, isa::Unit::kDmaIn, isa::Unit::kDmaOut, isa::Unit::kVector})
        units_.push_back({.kind = kind, .known = nothing});
    for (uint32_t array = 0; array < arrays_.size(); ++array) {
        units_.push_back({.kind = isa::Unit::kWeights, .array = array, .known = nothing});
        units_.push_back({.kind = isa::Unit::kMxu, .array = array, .known = nothing});
        arrays_[array].writer.resize(chip_.mxu.accumulator_rows);
        arrays_[array].reader.resize(chip_.mxu.accumulator_rows);
    }
    scalar_[kDataBase].value = check_.data_address();
    scalar_[kInputBase].kind = ScalarValue::Kind::kInputs;
    scalar_[kOutputBase].kind = ScalarValue::Kind::kOutputs;
    scalar_[kCoreNumber].value = core;
}

size_t CoreMachine::unit_number(isa::Unit kind, uint32_t array) const {
    switch (kind) {
        case isa::Unit::kSequencer:
            return 0;
        case isa::Unit::kDmaIn:
            return 1;
        case isa::Unit::kDmaOut:
            return 2;
        case isa::Unit::kVector:
            return 3;
        case isa::Unit::kWeights:
            return 4 + 2 * size_t{array};
        default:
            return 5 + 2 * size_t{array};
    }
}

bool CoreMachine::step() {
    bool moved = false;
    while (!halted_ && step_sequencer()) moved = true;
    for (size_t number = 1; number < units_.size(); ++number)
        while (step_unit(number)) moved = true;
    return moved;
}

// The sequencer.

bool CoreMachine::step_sequencer() {
    const auto last = static_cast<uint32_t>(program_.instructions.size() - 1);
    if (pc_ > last) check_.fail(last, "a halt as the last instruction", "a program that runs on");
    const auto index = static_cast<uint32_t>(pc_);
    if (!looked_at_) check_.look_at(index, base_of(index));
    looked_at_ = true;
    const isa::Opcode opcode = opcode_at(index);
    isa::Unit unit = isa::Unit::kSequencer;
    for (const auto& info : isa::kInstructions)
        if (info.opcode == opcode) unit = info.unit;
    if (opcode == isa::Opcode::kFence)
        unit = static_cast<isa::Unit>(isa::Fence::decode(program_.instructions[index]).unit);
    const bool done =
        unit == isa::Unit::kSequencer ? execute_scalar(index, opcode) : dispatch(index, unit);
    if (!done) return false;
    ++pc_;
    looked_at_ = false;
    return true;
}

ScalarValue CoreMachine::base_of(uint32_t index) const {
    const isa::Words& words = program_.instructions[index];
    switch (opcode_at(index)) {
        case isa::Opcode::kReadHost:
        case isa::Opcode::kReadMemory:
        case isa::Opcode::kWriteHost:
        case isa::Opcode::kWriteMemory:
            return scalar_[isa::ReadHost::decode(words).base];
        case isa::Opcode::kReadWeights:
            return scalar_[isa::ReadWeights::decode(words).base];
        default:
            return {};
    }
}

bool CoreMachine::execute_scalar(uint32_t index, isa::Opcode opcode) {
    Unit& sequencer = units_[0];
    const isa::Words& words = program_.instructions[index];
    if (opcode == isa::Opcode::kHalt) {
        if (index + 1 != program_.instructions.size())
            check_.fail(index, "a halt as the last instruction only",
                        fmt::format("one of {}", program_.instructions.size()));
        if (!units_idle()) return false;
    }
    if (!take_flags(index, 0, sequencer.known)) return false;
    switch (opcode) {
        case isa::Opcode::kHalt:
            halted_ = true;
            break;
        case isa::Opcode::kSetScalar: {
            const auto op = isa::SetScalar::decode(words);
            scalar_[op.rd] = {ScalarValue::Kind::kNumber, op.imm};
            break;
        }
        case isa::Opcode::kAddScalar: {
            const auto op = isa::AddScalar::decode(words);
            scalar_[op.rd] = scalar_[op.rs];
            scalar_[op.rd].value += static_cast<uint64_t>(int64_t{op.imm});
            break;
        }
        case isa::Opcode::kBranchNonzero:
            branch(isa::BranchNonzero::decode(words), index);
            break;
        default:
            break;
    }
    scalar_[0] = {};
    raise_flags(index, 0, sequencer.known);
    return true;
}

void CoreMachine::branch(const isa::BranchNonzero& op, uint32_t index) {
    if (scalar_[op.rs].is_zero()) return;
    const int64_t target = int64_t{index} + op.offset;
    if (target < 0 || target >= static_cast<int64_t>(program_.instructions.size()))
        check_.fail(index, "a target inside the program", std::to_string(target));
    pc_ = static_cast<uint64_t>(target) - 1;
}

bool CoreMachine::dispatch(uint32_t index, isa::Unit unit) {
    const isa::Words& words = program_.instructions[index];
    const isa::Opcode opcode = opcode_at(index);
    if (opcode == isa::Opcode::kSetWindow) {
        for (; windows_sent_ < arrays_.size(); ++windows_sent_)
            if (!enqueue(units_[unit_number(unit, windows_sent_)], index)) return false;
        windows_sent_ = 0;
        return true;
    }
    uint32_t array = 0;
    if (opcode == isa::Opcode::kMatmul) array = isa::Matmul::decode(words).mxu;
    if (opcode == isa::Opcode::kReadWeights) array = isa::ReadWeights::decode(words).mxu;
    if (opcode == isa::Opcode::kFence) array = isa::Fence::decode(words).mxu;
    return enqueue(units_[unit_number(unit, array)], index);
}

/// The instruction that a unit works on has left its queue.
bool CoreMachine::enqueue(Unit& unit, uint32_t index) {
    if (unit.queue.size() >= chip_.sequencer.queue_entries + size_t{1}) return false;
    unit.queue.push_back({index, units_[0].known, check_.access()});
    return true;
}

// The units.

bool CoreMachine::step_unit(size_t number) {
    Unit& unit = units_[number];
    bool moved = false;
    if (unit.kind == isa::Unit::kWeights) moved = step_fifo(arrays_[unit.array], number);
    if (unit.queue.empty() || !begin(number, unit)) return moved;
    switch (opcode_at(unit.queue.front().index)) {
        case isa::Opcode::kFence:
            fence(unit, number);
            break;
        case isa::Opcode::kReadWeights:
            return fetch(unit) || moved;
        case isa::Opcode::kMatmul:
            return matmul(unit, number) || moved;
        case isa::Opcode::kRequantise:
        case isa::Opcode::kConvert:
            drain(unit, number);
            break;
        default:
            if (unit.kind == isa::Unit::kVector) unit.known[vector_clock()] = ++vector_started_;
            raise_flags(unit.queue.front().index, number, unit.known);
    }
    finish(unit);
    return true;
}

/// Takes the flags of the instruction in front, once.
bool CoreMachine::begin(size_t number, Unit& unit) {
    if (unit.begun) return true;
    const Queued& front = unit.queue.front();
    if (!take_flags(front.index, number, unit.known)) return false;
    join(unit.known, front.known);
    check_.begin(front.index, front.access);
    unit.begun = true;
    unit.tiles_left = 0;
    return true;
}

/// A tile that stands in front of the FIFO ends its read_weights, if it is the last one; it leaves
/// the FIFO when it is loaded into the array.
bool CoreMachine::step_fifo(Array& array, size_t number) {
    if (array.fifo.empty()) return false;
    Tile& front = array.fifo.front();
    bool moved = false;
    if (!front.stands) {
        front.stands = moved = true;
        if (front.last) raise_flags(front.index, number, front.known);
        for (const Queued& fence : front.fences) raise_flags(fence.index, number, fence.known);
        front.fences.clear();
    }
    if (array.loaded) return moved;
    array.fifo.pop_front();
    return array.loaded = true;
}

bool CoreMachine::fetch(Unit& unit) {
    Array& array = arrays_[unit.array];
    const uint32_t index = unit.queue.front().index;
    if (unit.tiles_left == 0)
        unit.tiles_left = isa::ReadWeights::decode(program_.instructions[index]).tiles;
    if (array.fifo.size() >= chip_.mxu.weight_fifo_tiles) return false;
    check_.spend(kTileWork, index);
    ++array.tiles;
    const bool last = --unit.tiles_left == 0;
    array.fifo.push_back({index, last, false, unit.known, {}});
    if (last) finish(unit);
    return true;
}

bool CoreMachine::matmul(Unit& unit, size_t number) {
    Array& array = arrays_[unit.array];
    const uint32_t index = unit.queue.front().index;
    const auto op = isa::Matmul::decode(program_.instructions[index]);
    if (op.new_weights != 0) {
        if (!array.loaded) return false;
        array.loaded = false;
        ++array.swaps;
    } else if (array.swaps == 0) {
        check_.fail(index, "weights in the array", "none: no matmul before has taken a tile");
    }
    check_.spend(op.rows, index);
    ++array.matmuls;
    for (uint32_t row = op.acc_addr; row < uint32_t{op.acc_addr} + op.rows; ++row) {
        if (array.reader[row] > unit.known[vector_clock()])
            check_.fail(index, "a flag between it and the drain of the same accumulators",
                        fmt::format("none for row {}", row));
        array.writer[row] = array.matmuls;
    }
    MachineClock retired = unit.known;
    retired[array_clock(unit.array)] = array.matmuls;
    raise_flags(index, number, retired);
    finish(unit);
    return true;
}

void CoreMachine::drain(Unit& unit, size_t number) {
    const uint32_t index = unit.queue.front().index;
    // The two have these fields at the same places.
    const auto op = isa::Requantise::decode(program_.instructions[index]);
    Array& array = arrays_[op.mxu];
    check_.spend(op.rows, index);
    ++vector_started_;
    for (uint32_t row = op.acc_addr; row < uint32_t{op.acc_addr} + op.rows; ++row) {
        if (array.writer[row] > unit.known[array_clock(op.mxu)])
            check_.fail(index, "a flag between it and the matmul of the same accumulators",
                        fmt::format("none for row {}", row));
        array.reader[row] = vector_started_;
    }
    unit.known[vector_clock()] = vector_started_;
    raise_flags(index, number, unit.known);
}

/// Retires with the work before it.
void CoreMachine::fence(Unit& unit, size_t number) {
    const Queued& front = unit.queue.front();
    MachineClock known = unit.known;
    if (unit.kind == isa::Unit::kMxu) known[array_clock(unit.array)] = arrays_[unit.array].matmuls;
    if (unit.kind == isa::Unit::kVector) known[vector_clock()] = ++vector_started_;
    if (unit.kind == isa::Unit::kVector) unit.known = known;
    if (unit.kind == isa::Unit::kWeights) {
        auto& fifo = arrays_[unit.array].fifo;
        if (!fifo.empty() && !fifo.back().stands) {
            fifo.back().fences.push_back({front.index, known, {}});
            return;
        }
    }
    raise_flags(front.index, number, known);
}

// Flags.

bool CoreMachine::take_flags(uint32_t index, size_t taker, MachineClock& known) {
    const isa::Header header = isa::header_of(program_.instructions[index]);
    for (const uint32_t number : {header.wait_a, header.wait_b})
        if (!flags_.claim(core_, number, unit_id(taker)))
            check_.fail(index, fmt::format("flag {} taken by one unit only", number),
                        "a second one");
    return flags_.take(core_, header, known);
}

void CoreMachine::raise_flags(uint32_t index, size_t raiser, const MachineClock& known) {
    flags_.raise(core_, isa::header_of(program_.instructions[index]), unit_id(raiser), known);
}

// The end.

bool CoreMachine::units_idle() const {
    return std::all_of(units_.begin(), units_.end(),
                       [](const Unit& unit) { return unit.queue.empty(); }) &&
           std::all_of(arrays_.begin(), arrays_.end(),
                       [](const Array& array) { return array.fifo.empty(); });
}

void CoreMachine::check_end() const {
    const auto halt = static_cast<uint32_t>(pc_ - 1);
    for (uint32_t flag = 1; flag < isa::kFlagCount; ++flag)
        if (const size_t left = flags_.raised(core_, flag); left != 0)
            check_.fail(halt, "no flag left over", fmt::format("{} of flag {}", left, flag));
    for (size_t array = 0; array < arrays_.size(); ++array)
        if (arrays_[array].tiles != arrays_[array].swaps)
            check_.fail(halt, "as many weight tiles fetched as used",
                        fmt::format("{} and {} in array {}", arrays_[array].tiles,
                                    arrays_[array].swaps, array));
}

CoreMachine::Waiting CoreMachine::waiting() const {
    std::vector<uint32_t> waiting;
    if (!halted_) waiting.push_back(static_cast<uint32_t>(pc_));
    for (const Unit& unit : units_)
        if (!unit.queue.empty()) waiting.push_back(unit.queue.front().index);
    std::sort(waiting.begin(), waiting.end());
    for (const uint32_t index : waiting) {
        const isa::Header header = isa::header_of(program_.instructions[index]);
        for (const uint32_t flag : {header.wait_a, header.wait_b})
            if (flag != 0 && flags_.raised(core_, flag) == 0) return {index, flag};
    }
    return {waiting.front(), 0};
}

void CoreMachine::fail_stuck(const Waiting& waiting) const {
    std::string what = "a wait for room in a queue or weight FIFO";
    if (waiting.flag != 0)
        what = fmt::format("a wait for flag {}, which nobody raises", waiting.flag);
    else if (opcode_at(waiting.index) == isa::Opcode::kMatmul)
        what = "a wait for a weight tile";
    check_.fail(waiting.index, "a program without deadlock", what);
}

}  // namespace tandem::arch
