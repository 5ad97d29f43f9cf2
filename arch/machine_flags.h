// SPDX-License-Identifier: Apache-2.0
// The counting flags of all cores of a ProgramMachine, and what they tell of what has retired. Part
// of check_program.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "arch/generated/isa.h"

namespace tandem::arch {

/// What an instruction knows to have retired, core by core: matmuls of each array, and instructions
/// of the vector unit.
using MachineClock = std::vector<uint32_t>;

inline void join(MachineClock& clock, const MachineClock& other) {
    for (size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

class MachineFlags {
  public:
    explicit MachineFlags(size_t cores) : cores_(cores) {}

    /// False: another unit takes this flag.
    bool claim(uint32_t core, uint32_t number, uint32_t taker) {
        if (number == 0) return true;
        Flag& flag = cores_[core][number];
        if (flag.taker == kNobody) flag.taker = taker;
        return flag.taker == taker;
    }

    /// Both or none: a unit that has one of them and waits for the other waits all the same.
    bool take(uint32_t core, const isa::Header& header, MachineClock& known) {
        auto& flags = cores_[core];
        for (const uint32_t number : {header.wait_a, header.wait_b})
            if (number != 0 &&
                flags[number].raised.size() < (header.wait_a == header.wait_b ? 2 : 1))
                return false;
        for (const uint32_t number : {header.wait_a, header.wait_b}) {
            if (number == 0) continue;
            join(known, flags[number].raised.front());
            flags[number].raised.pop_front();
        }
        return true;
    }

    /// Which of several raisers was first is not known; then a flag tells nothing about what has
    /// retired.
    void raise(uint32_t core, const isa::Header& header, uint32_t raiser,
               const MachineClock& known) {
        raise_one(core, header.signal_a, raiser, known);
        raise_one(header.core == 0 ? core : header.core - 1u, header.signal_b, raiser, known);
    }

    size_t raised(uint32_t core, uint32_t number) const {
        return cores_[core][number].raised.size();
    }

  private:
    static constexpr uint32_t kNobody = ~0u;
    struct Flag {
        uint32_t taker = kNobody, raiser = kNobody;
        std::deque<MachineClock> raised;  ///< not taken yet, with what their raisers knew
    };

    void raise_one(uint32_t core, uint32_t number, uint32_t raiser, const MachineClock& known) {
        if (number == 0) return;
        Flag& flag = cores_[core][number];
        if (flag.raiser == kNobody) flag.raiser = raiser;
        if (flag.raiser != raiser) {
            flag.raiser = kNobody - 1;
            for (MachineClock& clock : flag.raised) clock.assign(known.size(), 0);
        }
        flag.raised.push_back(flag.raiser == raiser ? known : MachineClock(known.size()));
    }

    std::vector<std::array<Flag, isa::kFlagCount>> cores_;
};

}  // namespace tandem::arch
