// SPDX-License-Identifier: Apache-2.0
#include "arch/program_machine.h"

#include <algorithm>
#include <stdexcept>

namespace tandem::arch {

ProgramMachine::ProgramMachine(ProgramCheck& check) : flags_(check.image.cores.size()) {
    for (uint32_t core = 0; core < check.image.cores.size(); ++core)
        cores_.emplace_back(check, flags_, core);
}

void ProgramMachine::run() {
    for (const CoreMachine& core : cores_) core.check_encodings();
    while (!std::ranges::all_of(cores_, &CoreMachine::halted)) {
        bool moved = false;
        for (CoreMachine& core : cores_)
            if (core.step()) moved = true;
        if (!moved) stuck();
    }
    for (const CoreMachine& core : cores_) core.check_end();
}

/// Nobody can move: names a flag that is waited for, or else whatever waits.
void ProgramMachine::stuck() const {
    const CoreMachine* first = nullptr;
    for (const CoreMachine& core : cores_) {
        if (core.halted()) continue;
        if (first == nullptr) first = &core;
        if (const auto waiting = core.waiting(); waiting.flag != 0) core.fail_stuck(waiting);
    }
    first->fail_stuck(first->waiting());
}

}  // namespace tandem::arch
