// SPDX-License-Identifier: Apache-2.0
// On-chip activation memory. Array, vector unit and DMA each have a port as wide as they need, so
// an access costs no time of its own; conflicts between ports are not modelled.
#pragma once

#include "systemc/memory/memory_target.h"

namespace tandem::sim {

class UnifiedBuffer final : public MemoryTarget {
  public:
    UnifiedBuffer(sc_core::sc_module_name name, uint64_t bytes) : MemoryTarget(name, bytes) {}
};

}  // namespace tandem::sim
