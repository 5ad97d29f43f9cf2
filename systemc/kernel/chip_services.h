// SPDX-License-Identifier: Apache-2.0
// What every unit of a chip shares: clock, flags, the error register, and the ears of tools.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <systemc>
#include <utility>
#include <vector>

#include "arch/chip_config.h"
#include "arch/generated/isa.h"
#include "arch/generated/register_table.h"
#include "systemc/kernel/clock.h"
#include "systemc/kernel/flags.h"
#include "systemc/kernel/level.h"

namespace tandem::sim {

/// Listens to a chip; all calls come in simulated time order. Used by reports, traces, layer
/// checks.
class ChipObserver {
  public:
    virtual ~ChipObserver() = default;
    /// The core begins with a program; `start` is its first cycle.
    virtual void on_program(Cycle /*start*/) {}
    /// Instruction `index` has its flags and begins in `unit` at cycle `start`.
    virtual void on_start(isa::Unit, uint32_t /*index*/, Cycle /*start*/) {}
    /// Instruction `index` ran in `unit` from cycle `start` to `end` (exclusive). For matmul
    /// `start` is the cycle of the first row.
    virtual void on_retire(isa::Unit unit, uint32_t index, Cycle start, Cycle end) = 0;
};

struct ProgramError {
    arch::DeviceError code;
    uint32_t instruction;
    sc_core::sc_time when{};
};

/// Loosely timed: leaves an instruction that cannot go on; the error has been raised.
struct InstructionFailed {};

class ChipServices {
  public:
    ChipServices(const arch::ChipConfig& config, bool functional, uint32_t core = 0,
                 Level level = Level::kAt)
        : config_(config),
          functional_(functional),
          level_(level),
          core_(core),
          clock_(config.clock_hz),
          cross_core_cycles_(config.cycles_in(config.sequencer.cross_core_latency_ps)) {}

    const arch::ChipConfig& config() const { return config_; }
    /// False: only time is modelled, no data moves.
    bool functional() const { return functional_; }
    const Clock& clock() const { return clock_; }
    /// The place of a unit of this core among those that ask for a path in the same
    /// instant.
    uint32_t turn(isa::Unit unit, uint32_t array = 0) const {
        return core_ << 16 | static_cast<uint32_t>(unit) << 8 | array;
    }
    Flags& flags() { return flags_; }
    /// The cores of the chip, in order, this one among them. A core that was not
    /// told is alone.
    void set_cores(std::vector<ChipServices*> cores) { cores_ = std::move(cores); }
    size_t cores() const { return std::max<size_t>(cores_.size(), 1); }
    /// The effects of an instruction are visible; a flag of another core is on its way. The
    /// header's core exists: dispatch has looked.
    void raise_signals(const isa::Header& header) {
        flags_.raise(header.signal_a);
        if (header.core == 0 || header.core == core_ + 1 || cores_.empty())
            return flags_.raise(header.signal_b);
        const Cycle visible = clock_.now() + cross_core_cycles_;
        cores_[header.core - 1u]->flags_.raise_at(header.signal_b, clock_.time_of(visible));
    }
    /// Loosely timed: the effects are visible in cycle `when`.
    void raise_signals_ahead(const isa::Header& header, Cycle when) {
        flags_.raise_ahead(header.signal_a, when);
        if (header.core == 0 || header.core == core_ + 1 || cores_.empty())
            return flags_.raise_ahead(header.signal_b, when);
        cores_[header.core - 1u]->flags_.raise_ahead(header.signal_b, when + cross_core_cycles_);
    }

    void set_observer(ChipObserver* observer) { observer_ = observer; }
    void program_started(Cycle start) {
        if (observer_ != nullptr) observer_->on_program(start);
    }
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
    /// Counted over all cores: who waits for another core is not stuck while that one
    /// works.
    uint64_t chip_instructions_retired() const {
        uint64_t retired = cores_.empty() ? instructions_retired_ : 0;
        for (const ChipServices* core : cores_) retired += core->instructions_retired_;
        return retired;
    }
    /// Notified when an instruction retires or an error is raised.
    const sc_core::sc_event& progress() const { return progress_; }

    /// A mistake of the program: remembers the first one and wakes the sequencer, which ends the
    /// program.
    void raise_error(arch::DeviceError code, uint32_t instruction) {
        if (!error_) error_ = ProgramError{code, instruction, sc_core::sc_time_stamp()};
        progress_.notify(sc_core::SC_ZERO_TIME);
    }
    /// The same, for a unit's process that cannot go on: it sleeps until it is reset. Loosely
    /// timed, units have no process: throws InstructionFailed.
    [[noreturn]] void fail(arch::DeviceError code, uint32_t instruction) {
        raise_error(code, instruction);
        if (level_ == Level::kLt) throw InstructionFailed{};
        for (;;) sc_core::wait(never_);
    }
    /// From outside of the core. Of what comes in the same instant this counts, whatever the kernel
    /// runs first.
    void abort(uint32_t instruction) {
        if (error_ && error_->when == sc_core::sc_time_stamp()) error_.reset();
        raise_error(arch::DeviceError::kAborted, instruction);
    }
    const std::optional<ProgramError>& error() const { return error_; }
    uint32_t core() const { return core_; }
    void clear_error() { error_.reset(); }

  private:
    const arch::ChipConfig config_;
    const bool functional_;
    const Level level_;
    const uint32_t core_;
    Clock clock_;
    const Cycle cross_core_cycles_;
    Flags flags_;
    std::vector<ChipServices*> cores_;
    ChipObserver* observer_ = nullptr;
    uint64_t instructions_retired_ = 0;
    std::optional<ProgramError> error_;
    sc_core::sc_event progress_;
    sc_core::sc_event never_;
};

}  // namespace tandem::sim
