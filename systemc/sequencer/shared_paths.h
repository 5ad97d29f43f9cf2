// SPDX-License-Identifier: Apache-2.0
// Loosely timed: what the cores of a chip cannot do faster together, though each transfer is timed
// as if it were alone. A program does not end before all bytes that were moved since its start have
// passed their path at its full bandwidth.
#pragma once

#include <algorithm>
#include <array>
#include <functional>

#include "systemc/kernel/clock.h"

namespace tandem::sim {

class SharedPaths {
  public:
    /// Of each path, the cycles that all bytes so far take of it.
    using Cycles = std::array<Cycle, 3>;

    explicit SharedPaths(std::function<Cycles()> read) : read_(std::move(read)) {}

    /// A core begins; cores that begin in the same cycle share the paths from then on.
    void begin(Cycle start) {
        if (start == start_ && begun_) return;
        begun_ = true;
        start_ = start;
        before_ = read_();
    }
    Cycle least_end() const {
        const Cycles now = read_();
        Cycle longest = 0;
        for (size_t i = 0; i < now.size(); ++i) longest = std::max(longest, now[i] - before_[i]);
        return start_ + longest;
    }

  private:
    std::function<Cycles()> read_;
    bool begun_ = false;
    Cycle start_ = 0;
    Cycles before_{};
};

}  // namespace tandem::sim
