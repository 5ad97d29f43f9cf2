// SPDX-License-Identifier: Apache-2.0
// The bus between chip and host (PCIe-like): one path each way with bandwidth and latency, shared
// by all users of the chip. Packet overhead and reordering are not modelled.
#pragma once

#include "arch/chip_config.h"
#include "systemc/memory/bandwidth.h"
#include "systemc/memory/initiator.h"

namespace tandem::sim {

class HostLink : public sc_core::sc_module {
  public:
    MemoryInitiator host;  ///< to host memory, absolute host addresses

    HostLink(sc_core::sc_module_name name, const arch::ChipConfig::Host& config)
        : sc_module(name),
          host("host"),
          to_chip_(config.bytes_per_second),
          to_host_(config.bytes_per_second),
          latency_(sc_core::sc_time::from_value(config.latency_ps * 1000)) {}

    /// Host memory to `data`. Adds the time it takes to `delay`; false when the host refused.
    bool read(uint64_t address, uint8_t* data, uint64_t bytes, sc_core::sc_time& delay) {
        delay += to_chip_.reserve(bytes) + latency_;
        return host.read(address, data, bytes, delay);
    }
    bool write(uint64_t address, uint8_t* data, uint64_t bytes, sc_core::sc_time& delay) {
        delay += to_host_.reserve(bytes) + latency_;
        return host.write(address, data, bytes, delay);
    }
    const sc_core::sc_time& latency() const { return latency_; }
    uint64_t bytes_from_host() const { return to_chip_.total_bytes(); }
    uint64_t bytes_to_host() const { return to_host_.total_bytes(); }

  private:
    Bandwidth to_chip_;
    Bandwidth to_host_;
    sc_core::sc_time latency_;
};

}  // namespace tandem::sim
