// SPDX-License-Identifier: Apache-2.0
// The chip's signals for a waveform.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "cosim/array_abi.h"
#include "systemc/chip/tpu_chip.h"

namespace tandem::run {

class ChipProbes {
  public:
    explicit ChipProbes(sim::TpuChip& chip) : chip_(chip) {}

    /// Scopes of the units of a core, below "model": "mxu", of further cores "core1.mxu".
    std::vector<std::string> scopes(uint32_t core) {
        std::vector<std::string> scopes;
        for (const sim::Unit* unit : chip_.core(core).units())
            scopes.push_back((core == 0 ? "" : "core" + std::to_string(core) + ".") +
                             unit->basename());
        return scopes;
    }
    /// Valid as long as this object and the chip live.
    std::vector<TandemProbe> list(uint32_t core) {
        std::vector<TandemProbe> probes;
        const auto names = scopes(core);
        for (size_t i = 0; i < names.size(); ++i) {
            const sim::UnitProbe& probe = chip_.core(core).units()[i]->probe();
            const char* scope = scopes_.emplace_back("model." + names[i]).c_str();
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

}  // namespace tandem::run
