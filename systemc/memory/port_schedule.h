// SPDX-License-Identifier: Apache-2.0
// A port of the unified buffer as a resource in cycles: so many bytes in a cycle, one user at a
// time. A user takes it for the whole of a block; who comes later begins when it is free.
#pragma once

#include <algorithm>
#include <cstdint>

#include "systemc/kernel/clock.h"

namespace tandem::sim {

class PortSchedule {
  public:
    /// 0 bytes per cycle: unlimited, every user has a port of its own.
    explicit PortSchedule(uint32_t bytes_per_cycle) : bytes_per_cycle_(bytes_per_cycle) {}

    /// Cycles that one beat of `bytes` takes: 1 where the port is wide enough.
    uint32_t beat_cycles(uint64_t bytes) const {
        if (bytes_per_cycle_ == 0) return 1;
        const uint64_t cycles = (bytes + bytes_per_cycle_ - 1) / bytes_per_cycle_;
        return static_cast<uint32_t>(std::max<uint64_t>(cycles, 1));
    }
    /// The first cycle from `wanted` on at which nobody uses the port.
    Cycle free_from(Cycle wanted) const { return std::max(wanted, busy_until_); }
    /// In use from `start` for `beats` beats of `bytes`: a beat that is wider than the port takes
    /// whole cycles, narrower ones share a cycle with others.
    void take_beats(Cycle start, uint64_t beats, uint64_t bytes) {
        const uint64_t whole = uint64_t{beat_cycles(bytes)} * bytes_per_cycle_;
        take(start, beats * (beat_cycles(bytes) > 1 ? whole : bytes));
    }
    /// In use from `start` for as long as `bytes` take.
    void take(Cycle start, uint64_t bytes) {
        const Cycle cycles = done(start, bytes) - start;
        busy_until_ = std::max(busy_until_, start) + cycles;
        busy_cycles_ += cycles;
    }
    /// When `bytes` that went in from `start` on are through.
    Cycle done(Cycle start, uint64_t bytes) const {
        return bytes_per_cycle_ == 0 ? start
                                     : start + (bytes + bytes_per_cycle_ - 1) / bytes_per_cycle_;
    }
    Cycle busy_cycles() const { return busy_cycles_; }

  private:
    uint32_t bytes_per_cycle_;
    Cycle busy_until_ = 0;
    Cycle busy_cycles_ = 0;
};

}  // namespace tandem::sim
