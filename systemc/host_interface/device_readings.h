// SPDX-License-Identifier: Apache-2.0
// The registers that tell of the chip: its figures, its counters, the state of its cores.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "arch/chip_config.h"
#include "systemc/host_interface/program_runner.h"

namespace tandem::sim {

class DeviceReadings {
  public:
    /// Keeps references.
    DeviceReadings(const arch::ChipConfig& config, const ProgramRunner& runner);

    /// Nothing: a register that holds what was written to it. `selected` is that of CORE_SELECT.
    std::optional<uint32_t> read(uint32_t offset, uint32_t selected) const;
    /// Counters count from here on.
    void reset();

  private:
    /// Since the simulation began.
    struct Counters {
        uint64_t cycles = 0, macs = 0, instructions = 0, mxu_busy = 0;
    };
    static Counters counters_of(const CoreUnits& core);
    std::vector<Counters> all_counters() const;
    /// Counters of a core since its reset; `core` one behind the last core: those of the chip.
    Counters since_reset(size_t core) const;
    std::optional<uint32_t> read_figure(uint32_t offset) const;
    std::optional<uint32_t> read_counter(uint32_t offset) const;
    std::optional<uint32_t> read_core(uint32_t offset, uint32_t core) const;
    uint32_t status_of(uint32_t core) const;

    const arch::ChipConfig& config_;
    const ProgramRunner& runner_;
    const uint64_t hash_;
    std::vector<Counters> at_reset_;
};

}  // namespace tandem::sim
