// SPDX-License-Identifier: Apache-2.0
// Weight memory of the chip (DDR or HBM): one channel of given bandwidth shared by all that ask,
// first come first served, plus a fixed latency that overlaps with other transfers. Banks, refresh
// and row misses are not modelled.
#pragma once

#include "arch/chip_config.h"
#include "systemc/memory/bandwidth.h"
#include "systemc/memory/memory_target.h"

namespace tandem::sim {

class DeviceMemory final : public MemoryTarget {
  public:
    DeviceMemory(sc_core::sc_module_name name, const arch::ChipConfig::Memory& config)
        : MemoryTarget(name, config.bytes),
          channel_(config.bytes_per_second),
          latency_(sc_core::sc_time::from_value(config.latency_ps * 1000)) {}

  private:
    sc_core::sc_time access_time(uint64_t bytes) override {
        return channel_.reserve(bytes) + latency_;
    }

    Bandwidth channel_;
    sc_core::sc_time latency_;
};

}  // namespace tandem::sim
