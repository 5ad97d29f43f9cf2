// SPDX-License-Identifier: Apache-2.0
// Fetches TPU instructions from device memory, executes the scalar ones and dispatches the others,
// one per cycle, into the queues of their units.
//
// Timing: instructions are fetched in blocks of kFetchInstructions, the next kFetchAhead blocks
// while the current one is dispatched. A taken branch to none of them fetches its block anew.
// A program's start takes program_launch before the first block is asked for, a `launch`
// kernel_launch, at least a cycle; nothing is dispatched in that time.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "arch/program_source.h"
#include "systemc/kernel/unit.h"
#include "systemc/memory/initiator.h"

namespace tandem::sim {

struct ProgramRequest {
    uint64_t address;              ///< of the first instruction in device memory
    uint64_t instructions;         ///< number of instructions
    std::array<uint64_t, 3> args;  ///< scalar registers 1 to 3
    /// Where the instructions come from; null: from memory. The time to fetch them is the same.
    arch::ProgramSource* source = nullptr;
};

class Sequencer : public sc_core::sc_module {
  public:
    static constexpr uint32_t kFetchInstructions = 8;
    static constexpr uint32_t kFetchAhead = 4;  ///< blocks, beyond the one that is dispatched
    static constexpr uint64_t kWindowInstructions = 2048;  ///< of a program that is made
    MemoryInitiator memory;

    /// `core` is what the program finds in scalar register 4.
    Sequencer(sc_core::sc_module_name name, ChipServices& services, std::vector<Unit*> units,
              uint32_t core = 0);

    /// Runs a program to its end in the calling process. After an error the units are reset, the
    /// error is returned.
    std::optional<ProgramError> run(const ProgramRequest& request);

    const CycleAccount& account() const { return account_; }
    uint64_t program_cycles() const { return program_cycles_; }
    uint32_t program_counter() const { return static_cast<uint32_t>(pc_); }

  protected:
    // What waiting means; a sequencer of another level has its own. False: the program has failed.
    virtual Cycle now() const { return services_.clock().now(); }
    virtual void wait_until(Cycle cycle) { services_.clock().wait_until(cycle); }
    /// A program begins now.
    virtual void begin() {}
    virtual bool take(uint32_t flag);
    virtual void raise_signals(const isa::Header& header) { services_.raise_signals(header); }
    virtual bool enqueue(Unit& unit, const Dispatched& instruction);
    /// Until all units are idle.
    virtual bool wait_for_units();
    /// Simulated time is that of the program from here on.
    virtual void synchronise() {}

    bool wait_for(const std::function<bool()>& ready, const sc_core::sc_event& event);

    ChipServices& services_;
    std::vector<Unit*> units_;
    CycleAccount account_;

  private:
    enum class Step { kContinue, kHalted, kStopped };
    struct FetchBlock {
        uint64_t number = ~uint64_t{0};
        Cycle asked = 0;
        Booking booking;
        std::array<isa::Words, kFetchInstructions> words{};
    };

    Step step();
    Step execute_scalar(isa::Opcode opcode, const isa::Words& words);
    Step dispatch(isa::Unit unit, const isa::Words& words);
    /// The unit whose queue takes an instruction; nothing for a fence of a unit
    /// that is not there.
    static std::optional<isa::Unit> unit_of(const isa::InstructionInfo& info,
                                            const isa::Words& words);
    Step refuse();
    bool fetch(isa::Words& words);
    bool request_block(uint64_t number);
    /// Returns how many there are.
    uint64_t read_source(FetchBlock& block, uint64_t first, uint64_t count);
    bool units_idle() const;

    std::array<std::vector<Unit*>, isa::kUnitNames.size()> units_of_{};
    const uint32_t core_;
    const Cycle sync_cycles_, program_launch_cycles_, kernel_launch_cycles_;
    ProgramRequest program_{};
    uint64_t pc_ = 0;
    std::array<uint64_t, isa::kScalarRegisters> scalar_{};
    FetchBlock current_;
    std::deque<FetchBlock> ahead_;  ///< asked for, in order
    uint64_t program_cycles_ = 0;
    sc_core::sc_event watchdog_;
    sc_core::sc_time watchdog_at_;  ///< of its pending notification, or of the last one
};

}  // namespace tandem::sim
