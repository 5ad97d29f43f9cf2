// SPDX-License-Identifier: Apache-2.0
// The chip's signals for a waveform.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "cosim/array_abi.h"
#include "systemc/chip/tpu_chip.h"

namespace tandem::tools {

class ChipProbes {
  public:
    explicit ChipProbes(sim::TpuChip& chip) : chip_(chip) {}

    /// Valid as long as this object and the chip live.
    std::vector<TandemProbe> list() {
        std::vector<TandemProbe> probes;
        for (const sim::Unit* unit : chip_.units()) {
            const sim::UnitProbe& probe = unit->probe();
            const char* scope =
                scopes_
                    .emplace_back("model." +
                                  std::string(isa::kUnitNames[static_cast<size_t>(unit->unit())]))
                    .c_str();
            probes.push_back({scope, "instruction", probe.text, sizeof probe.text * 8});
            probes.push_back({scope, "index", &probe.instruction, 32});
            probes.push_back({scope, "state", probe.state, sizeof probe.state * 8});
            probes.push_back({scope, "queue_depth", &probe.queue_depth, 16});
        }
        return probes;
    }

  private:
    sim::TpuChip& chip_;
    std::deque<std::string> scopes_;
};

}  // namespace tandem::tools
