// SPDX-License-Identifier: Apache-2.0
// A unit with an instruction queue: takes instructions in order, waits for their flags, executes,
// raises their flags. The units derive from it and say what executing means and how long it takes.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <systemc>

#include "arch/generated/isa.h"
#include "systemc/kernel/chip_services.h"
#include "systemc/kernel/cycle_account.h"

namespace tandem::sim {

/// An instruction on its way to a unit.
struct Dispatched {
    isa::Words words{};
    uint32_t index = 0;  ///< in the program
    uint64_t base = 0;   ///< value of its base register at dispatch; 0 where it has none
};

/// What a waveform shows of a unit; plain memory that a tracer samples.
struct UnitProbe {
    char state[8] = "";        ///< idle, flag, busy; last character first, as waveform
                               ///< viewers want it
    uint32_t queue_depth = 0;  ///< instructions waiting
    uint32_t instruction = 0;  ///< index of the current one
    char text[20] = "";        ///< its mnemonic, likewise
};

/// Of an instruction that was performed at once, in cycles.
struct Performed {
    Cycle start;  ///< begins to work
    Cycle next;   ///< the unit may begin the next one
    Cycle done;   ///< its effects are visible
};

class Unit : public sc_core::sc_module {
  public:
    isa::Unit unit() const { return unit_; }
    bool queue_full() const { return queue_.size() >= services_.config().sequencer.queue_entries; }
    /// Call only when the queue is not full. Seen by the unit in the next delta cycle.
    void enqueue(const Dispatched& instruction);
    const sc_core::sc_event& dequeued() const { return dequeued_; }
    /// Loosely timed, in place of enqueue(): all effects of an instruction whose flags are there in
    /// cycle `start`, at once and without waiting. Nothing: it waits for another unit; call it
    /// again with the same values. Throws InstructionFailed.
    virtual std::optional<Performed> perform(const Dispatched& instruction, Cycle start) = 0;
    /// Nothing queued, nothing executing, nothing outstanding.
    virtual bool idle() const { return queue_.empty() && !executing_; }
    /// Drops everything and starts afresh (the unit's process restarts).
    virtual void reset();

    virtual void begin_program(Cycle cycle) { account_.begin(cycle); }
    void end_program(Cycle cycle) {
        account_.charge(cause_of_wait(Cause::kIdle), cycle);
        account_.end(cycle);
    }
    const CycleAccount& account() const { return account_; }
    const UnitProbe& probe() const { return probe_; }

  protected:
    Unit(sc_core::sc_module_name name, isa::Unit unit, ChipServices& services);

    /// Runs in the unit's process; consumes simulated time; charges its cycles.
    virtual void execute(const Dispatched& instruction) = 0;
    /// True when execute() has arranged for retire() itself, later.
    virtual bool retires_later(isa::Opcode) const { return false; }
    void retire(const Dispatched& instruction, Cycle start);

    /// The last piece of work that has been begun and not retired, by a number
    /// that grows; a unit that retires in execute() has none.
    virtual std::optional<uint64_t> outstanding() const { return std::nullopt; }
    /// Retires the fences behind a piece of work that has just retired.
    void retire_fences(uint64_t piece);

    /// What the cycles since the last charge count as when the unit's process has waited for
    /// `cause`: work that goes on meanwhile may come first.
    virtual Cause cause_of_wait(Cause cause) const { return cause; }

    /// Throws nothing: a wrong address ends the program.
    void check_range(uint64_t address, uint64_t bytes, uint64_t size, arch::DeviceError code,
                     uint32_t index);
    Cycle now() const { return services_.clock().now(); }
    void wait_until(Cycle cycle) const { services_.clock().wait_until(cycle); }
    void charge(Cause cause) { account_.charge(cause, now()); }
    /// Loosely timed: cycles, rounded up, until a booking that was made now ends.
    Cycle cycles_until(const sc_core::sc_time& end) const {
        return services_.clock().at_or_after(end - sc_core::sc_time_stamp());
    }

    ChipServices& services_;
    CycleAccount account_;

  private:
    /// A fence that waits for a piece of work before it.
    struct Fence {
        uint64_t piece;
        Dispatched instruction;
        Cycle start;
    };
    void run_thread();
    void pass_fence(const Dispatched& fence, Cycle start);
    void show_idle();
    void set_probe(std::string_view state, const Dispatched* instruction);

    const isa::Unit unit_;
    std::deque<Dispatched> queue_;
    std::deque<Fence> fences_;
    bool executing_ = false;
    sc_core::sc_event enqueued_;
    sc_core::sc_event dequeued_;
    sc_core::sc_process_handle process_;
    UnitProbe probe_;
};

/// Mnemonic of an opcode, or an empty text for an unknown one.
std::string_view mnemonic(uint32_t opcode);

}  // namespace tandem::sim
