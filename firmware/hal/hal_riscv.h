// SPDX-License-Identifier: Apache-2.0
// The HAL of the RISC-V host CPU: loads, stores, wfi and the machine external interrupt.
#pragma once

#include "firmware/hal/mmio_hal.h"

namespace tandem::firmware {

class HalRiscv final : public MmioHal {
  public:
    void* pointer(uint64_t bus_address, uint64_t bytes) override;
    void memory_barrier() override;

  protected:
    uint32_t bus_read32(uint64_t address) override;
    void bus_write32(uint64_t address, uint32_t value) override;
    void idle() override;
};

}  // namespace tandem::firmware
