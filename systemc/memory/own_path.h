// SPDX-License-Identifier: Apache-2.0
// Loosely timed: the way of one unit to a memory or the host. Its own transfers follow each other,
// those of others do not get in their way; latencies overlap.
#pragma once

#include <algorithm>

#include "systemc/kernel/clock.h"

namespace tandem::sim {

class OwnPath {
  public:
    /// When a transfer arrives that is asked for in cycle `asked` and takes `cycles` alone, with
    /// the latency in them.
    Cycle take(Cycle asked, Cycle cycles, Cycle latency) {
        const Cycle start = std::max(asked, free_);
        free_ = start + cycles - std::min(cycles, latency);
        return start + cycles;
    }

  private:
    Cycle free_ = 0;
};

}  // namespace tandem::sim
