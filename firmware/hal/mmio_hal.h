// SPDX-License-Identifier: Apache-2.0
// The HAL of a machine with the address map of platform.h, for whoever can reach its bus: the
// RISC-V firmware by loads and stores, the native host by TLM transactions.
#pragma once

#include "firmware/hal/hal.h"

namespace tandem::firmware {

class MmioHal : public Hal {
  public:
    uint32_t read32(uint32_t offset) override;
    void write32(uint32_t offset, uint32_t value) override;
    bool wait_for_interrupt(uint64_t timeout_us) override;
    uint64_t now_us() override;
    void log(const char* text) override;

    /// Ends the CPU; on some machines it returns.
    void exit(uint32_t code);
    /// Bus address of the job block, 0: none.
    uint64_t job_address();

  protected:
    ~MmioHal() = default;

    virtual uint32_t bus_read32(uint64_t address) = 0;
    virtual void bus_write32(uint64_t address, uint32_t value) = 0;
    /// Sleeps until the CPU's interrupt line is high; may return early.
    virtual void idle() = 0;

  private:
    uint32_t read_device(uint32_t offset);
    void write_device(uint32_t offset, uint32_t value);
    void set_compare(uint64_t time_us);
};

}  // namespace tandem::firmware
