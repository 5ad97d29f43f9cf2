// SPDX-License-Identifier: Apache-2.0
// Moves bytes between the unified buffer and host or device memory, one instruction at a time. A
// chip has one engine for each direction. Time: bandwidth and latency of the far side.
#pragma once

#include <span>

#include "systemc/host_interface/host_link.h"
#include "systemc/kernel/unit.h"
#include "systemc/memory/initiator.h"
#include "systemc/memory/unified_buffer.h"

namespace tandem::sim {

class DmaEngine final : public Unit {
  public:
    MemoryInitiator buffer;  ///< to the unified buffer
    MemoryInitiator memory;  ///< to device memory

    /// `unit` is isa::Unit::kDmaIn or kDmaOut.
    DmaEngine(sc_core::sc_module_name name, isa::Unit unit, ChipServices& services, HostLink& host,
              UnifiedBuffer& ports);

  private:
    void execute(const Dispatched& instruction) override;

    HostLink& host_;
    UnifiedBuffer& ports_;
    std::span<uint8_t> bytes_;
};

}  // namespace tandem::sim
