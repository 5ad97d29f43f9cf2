// SPDX-License-Identifier: Apache-2.0
// One core of a ProgramMachine: sequencer, queues, weight FIFOs. Part of check_program.
#pragma once

#include <array>
#include <deque>
#include <vector>

#include "arch/instruction_check.h"
#include "arch/machine_flags.h"

namespace tandem::arch {

class CoreMachine {
  public:
    CoreMachine(ProgramCheck& all, MachineFlags& flags, uint32_t core);

    /// Opcodes, unused bits and headers of all instructions.
    void check_encodings() const { check_.check_encodings(); }
    /// As far as it comes. False: nothing moved.
    bool step();
    bool halted() const { return halted_; }
    /// After the halt: nothing is left over.
    void check_end() const;
    /// An instruction that waits; the earliest for a flag that nobody has raised, if there is one.
    struct Waiting {
        uint32_t index = 0;
        uint32_t flag = 0;  ///< 0: it waits for something else
    };
    Waiting waiting() const;
    /// Reports it.
    [[noreturn]] void fail_stuck(const Waiting& waiting) const;

  private:
    struct Queued {
        uint32_t index;
        MachineClock known;  ///< by the sequencer, when it was dispatched
        MemoryAccess access{};
    };
    struct Unit {
        isa::Unit kind;
        uint32_t array = 0;
        std::deque<Queued> queue{};  ///< the one in front is being executed
        MachineClock known{};
        uint32_t tiles_left = 0;  ///< of the read_weights in front, when it has begun
        bool begun = false;
    };
    struct Tile {
        uint32_t index;  ///< of the read_weights that fetched it
        bool last;
        bool stands = false;
        MachineClock known;
        std::vector<Queued> fences;  ///< that wait until it stands
    };
    struct Array {
        std::deque<Tile> fifo;
        bool loaded = false;  ///< a tile stands in the array, not used yet
        uint32_t matmuls = 0;
        uint64_t tiles = 0, swaps = 0;
        // Per accumulator row: number of the last matmul that wrote it, of the last drain; from 1.
        std::vector<uint32_t> writer, reader;
    };

    bool step_sequencer();
    bool execute_scalar(uint32_t index, isa::Opcode opcode);
    bool dispatch(uint32_t index, isa::Unit unit);
    bool enqueue(Unit& unit, uint32_t index);
    size_t unit_number(isa::Unit kind, uint32_t array) const;
    ScalarValue base_of(uint32_t index) const;
    void branch(const isa::BranchNonzero& op, uint32_t index);

    bool step_unit(size_t number);
    bool step_fifo(Array& array, size_t number);
    bool begin(size_t number, Unit& unit);
    void finish(Unit& unit) {
        unit.queue.pop_front();
        unit.begun = false;
    }
    bool fetch(Unit& unit);
    bool matmul(Unit& unit, size_t number);
    void drain(Unit& unit, size_t number);
    void fence(Unit& unit, size_t number);

    bool take_flags(uint32_t index, size_t taker, MachineClock& known);
    void raise_flags(uint32_t index, size_t raiser, const MachineClock& known);
    bool units_idle() const;
    isa::Opcode opcode_at(uint32_t index) const {
        return static_cast<isa::Opcode>(isa::opcode_of(program_.instructions[index]));
    }
    /// The unit's number among all units of the chip.
    uint32_t unit_id(size_t number) const {
        return core_ * static_cast<uint32_t>(units_.size()) + static_cast<uint32_t>(number);
    }
    // Places in a MachineClock.
    size_t array_clock(uint32_t array) const { return core_ * (arrays_.size() + 1) + array; }
    size_t vector_clock() const { return array_clock(static_cast<uint32_t>(arrays_.size())); }

    const ChipConfig& chip_;
    const uint32_t core_;
    const CoreProgram& program_;
    MachineFlags& flags_;
    InstructionCheck check_;
    std::vector<Unit>
        units_;  ///< sequencer, DMA in and out, vector, then weights and mxu of each array
    std::vector<Array> arrays_;
    std::array<ScalarValue, isa::kScalarRegisters> scalar_{};
    uint64_t pc_ = 0;
    bool looked_at_ = false;     ///< the instruction at pc_
    uint32_t windows_sent_ = 0;  ///< arrays that have the set_window at pc_ in their queue
    uint32_t vector_started_ = 0;
    bool halted_ = false;
};

}  // namespace tandem::arch
