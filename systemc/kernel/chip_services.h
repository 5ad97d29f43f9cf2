// SPDX-License-Identifier: Apache-2.0
// What every unit of a chip shares: clock, flags, the error register, and the ears of tools.
#pragma once

#include <cstdint>
#include <optional>
#include <systemc>

#include "arch/chip_config.h"
#include "arch/generated/isa.h"
#include "arch/generated/register_table.h"
#include "systemc/kernel/clock.h"
#include "systemc/kernel/flags.h"

namespace tandem::sim {

/// Listens to a chip; all calls come in simulated time order. Used by reports, traces, layer
/// checks.
class ChipObserver {
  public:
    virtual ~ChipObserver() = default;
    /// Instruction `index` has its flags and begins in `unit` at cycle `start`.
    virtual void on_start(isa::Unit, uint32_t /*index*/, Cycle /*start*/) {}
    /// Instruction `index` ran in `unit` from cycle `start` to `end` (exclusive). For matmul
    /// `start` is the cycle of the first row.
    virtual void on_retire(isa::Unit unit, uint32_t index, Cycle start, Cycle end) = 0;
};

struct ProgramError {
    arch::DeviceError code;
    uint32_t instruction;
};

class ChipServices {
  public:
    ChipServices(const arch::ChipConfig& config, bool functional)
        : config_(config), functional_(functional), clock_(config.clock_hz) {}

    const arch::ChipConfig& config() const { return config_; }
    /// False: only time is modelled, no data moves.
    bool functional() const { return functional_; }
    const Clock& clock() const { return clock_; }
    Flags& flags() { return flags_; }

    void set_observer(ChipObserver* observer) { observer_ = observer; }
    void started(isa::Unit unit, uint32_t index, Cycle start) {
        if (observer_ != nullptr) observer_->on_start(unit, index, start);
    }
    void retired(isa::Unit unit, uint32_t index, Cycle start, Cycle end) {
        ++instructions_retired_;
        if (observer_ != nullptr) observer_->on_retire(unit, index, start, end);
        progress_.notify(sc_core::SC_ZERO_TIME);
    }
    /// Something moved that whoever waits for idle units should look at.
    void note_progress() { progress_.notify(sc_core::SC_ZERO_TIME); }
    uint64_t instructions_retired() const { return instructions_retired_; }
    /// Notified when an instruction retires or an error is raised.
    const sc_core::sc_event& progress() const { return progress_; }

    /// A mistake of the program: remembers the first one and wakes the sequencer, which ends the
    /// program.
    void raise_error(arch::DeviceError code, uint32_t instruction) {
        if (!error_) error_ = ProgramError{code, instruction};
        progress_.notify(sc_core::SC_ZERO_TIME);
    }
    /// The same, for a unit's process that cannot go on: it sleeps until it is reset.
    [[noreturn]] void fail(arch::DeviceError code, uint32_t instruction) {
        raise_error(code, instruction);
        for (;;) sc_core::wait(never_);
    }
    const std::optional<ProgramError>& error() const { return error_; }
    void clear_error() { error_.reset(); }

  private:
    const arch::ChipConfig config_;
    const bool functional_;
    Clock clock_;
    Flags flags_;
    ChipObserver* observer_ = nullptr;
    uint64_t instructions_retired_ = 0;
    std::optional<ProgramError> error_;
    sc_core::sc_event progress_;
    sc_core::sc_event never_;
};

}  // namespace tandem::sim
