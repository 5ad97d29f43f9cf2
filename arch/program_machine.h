// SPDX-License-Identifier: Apache-2.0
// Executes a program without data and without time: sequencer, queues, counting flags, weight
// FIFOs. Part of check_program.
//
// Every flag is taken by one unit only, and every queue and FIFO has one reader. In such a machine
// it does not matter who moves first: what gets stuck in one order gets stuck in every order.
#pragma once

#include <array>
#include <deque>
#include <vector>

#include "arch/instruction_check.h"

namespace tandem::arch {

class ProgramMachine {
  public:
    ProgramMachine(const ChipConfig& chip, const Program& program, InstructionCheck& check);

    /// From the first instruction to the halt; whatever would stop the chip is a UserError.
    void run();

  private:
    static constexpr size_t kMostArrays = 16;
    /// What an instruction knows to have retired: matmuls of each array, and instructions of the
    /// vector unit.
    using Clock = std::array<uint32_t, kMostArrays + 1>;
    static constexpr size_t kVector = kMostArrays;

    struct Queued {
        uint32_t index;
        Clock known;  ///< by the sequencer, when it was dispatched
    };
    struct Unit {
        isa::Unit kind;
        uint32_t array = 0;
        std::deque<Queued> queue{};  ///< the one in front is being executed
        Clock known{};
        uint32_t tiles_left = 0;  ///< of the read_weights in front, when it has begun
        bool begun = false;
    };
    struct Flag {
        uint32_t taker = kNobody, raiser = kNobody;
        std::deque<Clock> raised;  ///< not taken yet, with what their raisers knew
    };
    struct Tile {
        uint32_t index;  ///< of the read_weights that fetched it
        bool last;
        bool stands = false;
        Clock known;
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
    static constexpr uint32_t kNobody = ~0u;

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
    bool fetch(Unit& unit, size_t number);
    bool matmul(Unit& unit, size_t number);
    void drain(Unit& unit, size_t number);
    void fence(Unit& unit, size_t number);

    bool take_flags(uint32_t index, size_t taker, Clock& known);
    void raise_flags(uint32_t index, size_t raiser, const Clock& known);
    bool units_idle() const;
    void end_of_program();
    [[noreturn]] void stuck();

    const ChipConfig& chip_;
    const Program& program_;
    InstructionCheck& check_;
    std::vector<Unit>
        units_;  ///< sequencer, DMA in and out, vector, then weights and mxu of each array
    std::vector<Array> arrays_;
    std::array<Flag, isa::kFlagCount> flags_;
    std::array<ScalarValue, isa::kScalarRegisters> scalar_{};
    uint64_t pc_ = 0;
    bool looked_at_ = false;     ///< the instruction at pc_
    uint32_t windows_sent_ = 0;  ///< arrays that have the set_window at pc_ in their queue
    uint32_t vector_started_ = 0;
    bool halted_ = false;
};

}  // namespace tandem::arch
