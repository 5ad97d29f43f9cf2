// SPDX-License-Identifier: Apache-2.0
// All that driver and applications know about the machine they run on. Implementations: MmioHal
// (RISC-V, and natively over the simulated bus) and the mock of the driver tests.
#pragma once

#include <stdint.h>

namespace tandem::firmware {

class Hal {
  public:
    /// Registers of the TPU; `offset` from arch/generated/registers.h.
    virtual uint32_t read32(uint32_t offset) = 0;
    virtual void write32(uint32_t offset, uint32_t value) = 0;

    /// Sleeps until the TPU's interrupt line is high (true) or the time is over (false). Returns at
    /// once when the line is high already, so that no interrupt can be missed between look and
    /// sleep.
    virtual bool wait_for_interrupt(uint64_t timeout_us) = 0;

    /// Microseconds since the start; never goes back.
    virtual uint64_t now_us() = 0;

    /// `bytes` bytes of host memory that the TPU sees at `bus_address`, as a pointer of this CPU;
    /// null when they are not host memory.
    virtual void* pointer(uint64_t bus_address, uint64_t bytes) = 0;

    /// Memory accesses before it are visible to the TPU before those (and register writes) after
    /// it.
    virtual void memory_barrier() = 0;

    /// One line for people, without line end.
    virtual void log(const char* text) = 0;

  protected:
    // Never deleted through the base: a virtual destructor would pull operator delete into
    // firmware.
    ~Hal() = default;
};

}  // namespace tandem::firmware
