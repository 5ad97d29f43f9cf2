// SPDX-License-Identifier: Apache-2.0
// The counting flags through which units meet.
#pragma once

#include <array>
#include <cstdint>
#include <systemc>

#include "arch/generated/isa.h"

namespace tandem::sim {

class Flags {
  public:
    /// Flag 0 is none: raising and taking it does nothing.
    void raise(uint32_t flag) {
        if (flag == 0) return;
        ++counts_[flag];
        raised_.notify(sc_core::SC_ZERO_TIME);
    }
    bool try_take(uint32_t flag) {
        if (flag == 0) return true;
        if (counts_[flag] == 0) return false;
        --counts_[flag];
        return true;
    }
    /// Blocks the calling process until the flag can be taken.
    void take(uint32_t flag) {
        while (!try_take(flag)) sc_core::wait(raised_);
    }
    void clear() { counts_.fill(0); }
    const std::array<uint32_t, isa::kFlagCount>& counts() const { return counts_; }

  private:
    std::array<uint32_t, isa::kFlagCount> counts_{};
    sc_core::sc_event raised_;
};

}  // namespace tandem::sim
