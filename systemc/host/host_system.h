// SPDX-License-Identifier: Apache-2.0
// The whole host of a TPU: CPU, memory, bus, platform device. Put a job into memory with load(),
// bind the three ports to the chip, start the simulation, wait for finished_event().
#pragma once

#include <tlm.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <systemc>

#include "systemc/host/host_bus.h"
#include "systemc/host/host_config.h"
#include "systemc/host/host_cpu.h"
#include "systemc/host/host_memory.h"
#include "systemc/host/placed_job.h"
#include "systemc/host/platform_device.h"

namespace tandem::host {

class HostSystem : public sc_core::sc_module {
  public:
    /// To the chip's registers; addresses relative to the register block, 32-bit accesses.
    tlm::tlm_initiator_socket<> registers_out;
    /// The chip's accesses to host memory, at bus addresses (RAM starts at platform::kRamBase).
    tlm::tlm_target_socket<> dma_in;
    /// The chip's interrupt line, level-sensitive.
    sc_core::sc_in<bool> irq_in;

    /// Throws UserError for an impossible configuration or a bad firmware file.
    HostSystem(sc_core::sc_module_name name, const HostConfig& config);

    /// Places job block, ring, image and inputs in memory and tells the firmware where. Before the
    /// simulation starts. Throws UserError when they do not fit, or the inputs are not `runs` equal
    /// parts.
    void load(const JobRequest& request);

    /// The job block as the firmware left it; valid after load().
    const firmware::Job& job() const { return job_->job(); }
    /// Outputs of all runs, one after another; valid after load().
    std::span<const uint8_t> outputs() const { return job_->outputs(); }

    HostMemory& memory() { return memory_; }
    const sc_core::sc_event& finished_event() const { return cpu_->finished_event(); }
    bool finished() const { return cpu_->finished(); }
    /// 0: the job is done; else Job::status, or 127 and above: the CPU failed.
    uint32_t exit_code() const { return cpu_->exit_code(); }
    /// Why the CPU was stopped; empty when the firmware ended by itself.
    const std::string& fault() const { return cpu_->fault(); }
    /// A debugger has ended the firmware.
    bool killed() const { return cpu_->killed(); }
    /// Instructions of the firmware; 0 with the native CPU.
    uint64_t instructions() const { return cpu_->instructions(); }

  private:
    HostMemory memory_;
    HostBus bus_;
    PlatformDevice device_;
    sc_core::sc_signal<bool> irq_cpu_;
    std::unique_ptr<HostCpu> cpu_;
    std::optional<PlacedJob> job_;
};

}  // namespace tandem::host
