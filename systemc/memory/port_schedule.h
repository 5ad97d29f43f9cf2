// SPDX-License-Identifier: Apache-2.0
// A port of the unified buffer as a resource in cycles: so many bytes in a
// cycle, one user at a time. A user takes it for the whole of a block; who
// comes later begins when it is free.
//
// Within one cycle the order is fixed: arrays whose first row has entered take
// the port first, then arrays and vector unit look when it is free, and what
// the vector unit and DMA take is seen from the next cycle on. So it does not
// matter whose process runs first.
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
    bool limited() const { return bytes_per_cycle_ != 0; }
    /// Seen in cycle `now`, the first cycle from `wanted` on at which nobody uses
    /// the port.
    Cycle free_from(Cycle now, Cycle wanted) {
        settle(now);
        return std::max(wanted, busy_until_);
    }
    /// What `beats` beats of `bytes` take of it: a beat that is wider than the
    /// port takes whole cycles, narrower ones share a cycle with others.
    uint64_t beat_bytes(uint64_t beats, uint64_t bytes) const {
        const uint64_t whole = uint64_t{beat_cycles(bytes)} * bytes_per_cycle_;
        return beats * (beat_cycles(bytes) > 1 ? whole : bytes);
    }
    /// In cycle `now`: in use from `start`, which may be past, for as long as
    /// `bytes` take.
    void take(Cycle now, Cycle start, uint64_t bytes) {
        settle(now);
        const Cycle cycles = done(start, bytes) - start;
        busy_until_ = std::max(busy_until_, start) + cycles;
        busy_cycles_ += cycles;
    }
    /// In use from `now` on, seen by others from the next cycle on.
    void take_later(Cycle now, uint64_t bytes) {
        settle(now);
        const Cycle cycles = done(now, bytes) - now;
        taken_in_ = now;
        taken_ += cycles;
        busy_cycles_ += cycles;
    }
    /// When `bytes` that went in from `start` on are through.
    Cycle done(Cycle start, uint64_t bytes) const {
        return bytes_per_cycle_ == 0 ? start
                                     : start + (bytes + bytes_per_cycle_ - 1) / bytes_per_cycle_;
    }
    Cycle busy_cycles() const { return busy_cycles_; }

  private:
    void settle(Cycle now) {
        if (taken_ == 0 || now <= taken_in_) return;
        busy_until_ = std::max(busy_until_, taken_in_) + taken_;
        taken_ = 0;
    }

    uint32_t bytes_per_cycle_;
    Cycle busy_until_ = 0;
    Cycle busy_cycles_ = 0;
    Cycle taken_in_ = 0;  ///< the cycle of takes that are not seen yet
    Cycle taken_ = 0;     ///< their cycles
};

}  // namespace tandem::sim
