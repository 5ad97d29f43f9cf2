// SPDX-License-Identifier: Apache-2.0
// Where a unit's cycles went: every cycle has exactly one cause, and the causes add up to the
// program's cycles, by construction: time is a cursor that only moves forward.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "systemc/kernel/clock.h"

namespace tandem::sim {

enum class Cause : uint8_t {
    kBusy,         ///< does its work
    kWaitWeights,  ///< the array waits for a weight tile that has not arrived
    kWaitShift,    ///< the array waits for a tile that is being shifted in
    kWaitFlag,     ///< an instruction waits for a flag
    kWaitMemory,   ///< waits for device memory or the host bus
    kWaitSpace,    ///< waits for room: FIFO or queue full
    kWaitPort,     ///< waits for a port of the unified buffer
    kLaunch,       ///< the sequencer starts a program or a kernel
    kIdle,         ///< nothing to do
};
inline constexpr size_t kCauses = 9;
inline constexpr std::array<std::string_view, kCauses> kCauseNames = {
    "busy",       "wait_weights", "wait_shift", "wait_flag", "wait_memory",
    "wait_space", "wait_port",    "launch",     "idle"};

class CycleAccount {
  public:
    /// A program starts: later charges count from here.
    void begin(Cycle cycle) { cursor_ = cycle; }
    /// Charges everything from the last charge up to `until` (exclusive) to `cause`; `until` may
    /// lie in the future. Earlier cycles are charged already and stay as they are.
    void charge(Cause cause, Cycle until) {
        if (until <= cursor_) return;
        cycles_[static_cast<size_t>(cause)] += until - cursor_;
        cursor_ = until;
        last_ = cause;
    }
    /// A program ends: what was charged beyond `cycle` did not happen any more.
    void end(Cycle cycle) {
        charge(Cause::kIdle, cycle);
        uint64_t& last = cycles_[static_cast<size_t>(last_)];
        last -= std::min<uint64_t>(last, cursor_ - cycle);
        cursor_ = cycle;
    }
    const std::array<uint64_t, kCauses>& cycles() const { return cycles_; }
    uint64_t busy() const { return cycles_[static_cast<size_t>(Cause::kBusy)]; }
    Cycle cursor() const { return cursor_; }

  private:
    std::array<uint64_t, kCauses> cycles_{};
    Cycle cursor_ = 0;
    Cause last_ = Cause::kIdle;
};

}  // namespace tandem::sim
