// SPDX-License-Identifier: Apache-2.0
// A host CPU that takes no time: the firmware's sources, compiled into the simulator, drive the
// same bus as the RISC-V CPU. Time passes only in bus accesses and while waiting for interrupts.
#pragma once

#include "systemc/host/host_cpu.h"
#include "systemc/host/host_ram.h"

namespace tandem::host {

class NativeHost final : public HostCpu {
  public:
    NativeHost(sc_core::sc_module_name name, HostRam& memory);

    uint64_t instructions() const override { return 0; }

  private:
    class Hal;
    friend class Hal;

    void run_thread();

    HostRam& memory_;
};

}  // namespace tandem::host
