// SPDX-License-Identifier: Apache-2.0
// The counting flags through which units meet.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <systemc>

#include "arch/generated/isa.h"
#include "systemc/kernel/clock.h"

namespace tandem::sim {

class Flags {
  public:
    /// Flag 0 is none: raising and taking it does nothing.
    void raise(uint32_t flag) {
        if (flag == 0) return;
        ++counts_[flag];
        raised_.notify(sc_core::SC_ZERO_TIME);
    }
    /// Visible from `when` on. Calls come in the order of their times.
    void raise_at(uint32_t flag, sc_core::sc_time when) {
        if (flag == 0) return;
        if (when <= sc_core::sc_time_stamp()) return raise(flag);
        under_way_.push_back({when, flag});
        raised_.notify(when - sc_core::sc_time_stamp());
    }
    /// Whoever does not get the flag is told by raised() when to try again.
    bool try_take(uint32_t flag) {
        if (flag == 0) return true;
        arrive();
        if (counts_[flag] == 0) return false;
        --counts_[flag];
        return true;
    }
    /// Blocks the calling process until the flag can be taken.
    void take(uint32_t flag) {
        while (!try_take(flag)) sc_core::wait(raised_);
    }
    const sc_core::sc_event& raised() const { return raised_; }

    /// Loosely timed: raised in cycle `when`, which may lie ahead of simulated time.
    void raise_ahead(uint32_t flag, Cycle when) {
        if (flag == 0) return;
        ahead_[flag].push_back(when);
        raised_.notify(sc_core::SC_ZERO_TIME);
    }
    /// Takes such a flag; returns since when it is there.
    std::optional<Cycle> take_ahead(uint32_t flag) {
        if (flag == 0) return 0;
        if (ahead_[flag].empty()) return std::nullopt;
        const Cycle when = ahead_[flag].front();
        ahead_[flag].pop_front();
        return when;
    }

    void clear() {
        counts_.fill(0);
        under_way_.clear();
        for (auto& times : ahead_) times.clear();
    }
    const std::array<uint32_t, isa::kFlagCount>& counts() const { return counts_; }

  private:
    struct UnderWay {
        sc_core::sc_time when;
        uint32_t flag;
    };

    /// Counts what is there by now, whatever the kernel has run first in this instant; the event
    /// has one time only, so that it is set again for what comes next.
    void arrive() {
        while (!under_way_.empty() && under_way_.front().when <= sc_core::sc_time_stamp()) {
            ++counts_[under_way_.front().flag];
            under_way_.pop_front();
        }
        if (!under_way_.empty()) raised_.notify(under_way_.front().when - sc_core::sc_time_stamp());
    }

    std::array<uint32_t, isa::kFlagCount> counts_{};
    std::deque<UnderWay> under_way_;  ///< from other cores, the earliest first
    std::array<std::deque<Cycle>, isa::kFlagCount> ahead_{};
    sc_core::sc_event raised_;
};

}  // namespace tandem::sim
