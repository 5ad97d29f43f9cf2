// SPDX-License-Identifier: Apache-2.0
// The chip's clock as a grid on simulated time. No clock signal is toggled: units wait for absolute
// cycles, and cycle n stands at floor(n * 10^15 / clock_hz) femtoseconds, so that a clock whose
// period is no whole number of picoseconds does not drift.
#pragma once

#include <cstdint>
#include <systemc>

#include "systemc/kernel/resolution.h"

namespace tandem::sim {

using Cycle = uint64_t;

class Clock {
  public:
    /// Throws UserError where SystemC's resolution is not 1 fs and cannot be set any more.
    explicit Clock(uint64_t hz)
        : hz_(hz), period_(kFemtosecondsPerSecond % hz == 0 ? kFemtosecondsPerSecond / hz : 0) {
        require_femtoseconds();
    }

    uint64_t hz() const { return hz_; }
    /// Start of the cycle.
    sc_core::sc_time time_of(Cycle cycle) const {
        if (period_ != 0) return sc_core::sc_time::from_value(cycle * period_);
        return sc_core::sc_time::from_value(static_cast<uint64_t>(
            static_cast<unsigned __int128>(cycle) * kFemtosecondsPerSecond / hz_));
    }
    /// First cycle that starts at `time` or later.
    Cycle at_or_after(const sc_core::sc_time& time) const {
        if (period_ != 0) return (time.value() + period_ - 1) / period_;
        const auto product = static_cast<unsigned __int128>(time.value()) * hz_;
        auto cycle = static_cast<Cycle>(product / kFemtosecondsPerSecond);
        while (time_of(cycle) < time) ++cycle;
        return cycle;
    }
    Cycle now() const { return at_or_after(sc_core::sc_time_stamp()); }
    /// Waits until the start of `cycle`; returns at once when that is past.
    void wait_until(Cycle cycle) const {
        const sc_core::sc_time target = time_of(cycle);
        if (target > sc_core::sc_time_stamp()) sc_core::wait(target - sc_core::sc_time_stamp());
    }
    uint64_t femtoseconds(Cycle cycles) const { return time_of(cycles).value(); }

  private:
    static constexpr uint64_t kFemtosecondsPerSecond = 1000000000000000ull;
    uint64_t hz_;
    uint64_t period_;  ///< fs, if it is a whole number; else 0
};

}  // namespace tandem::sim
