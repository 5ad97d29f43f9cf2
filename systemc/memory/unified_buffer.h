// SPDX-License-Identifier: Apache-2.0
// On-chip activation memory (unified buffer of v1, VMEM of later chips) with a read and a write
// port. An access itself costs no time; whoever streams through a port takes its schedule.
#pragma once

#include "arch/chip_config.h"
#include "systemc/memory/memory_target.h"
#include "systemc/memory/port_schedule.h"

namespace tandem::sim {

class UnifiedBuffer final : public MemoryTarget {
  public:
    UnifiedBuffer(sc_core::sc_module_name name, const arch::ChipConfig& config)
        : MemoryTarget(name, config.unified_buffer_bytes),
          read_port(config.buffer_ports.read_bytes_per_cycle),
          write_port(config.buffer_ports.write_bytes_per_cycle) {}

    PortSchedule read_port;
    PortSchedule write_port;
};

}  // namespace tandem::sim
