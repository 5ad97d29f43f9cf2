// SPDX-License-Identifier: Apache-2.0
#include "systemc/host/host_system.h"

#include "base/error.h"
#include "systemc/host/host_cpu_factory.h"

namespace tandem::host {

namespace {

constexpr uint64_t kMinMemoryBytes = 2 * platform::kFirmwareBytes;

uint64_t checked_memory_bytes(const HostConfig& config) {
    if (config.memory_bytes < kMinMemoryBytes || config.memory_bytes > platform::kRamMaxBytes) {
        throw UserError("host memory: expected " + std::to_string(kMinMemoryBytes) + " to " +
                        std::to_string(platform::kRamMaxBytes) + " bytes, found " +
                        std::to_string(config.memory_bytes));
    }
    return config.memory_bytes;
}

}  // namespace

HostSystem::HostSystem(sc_core::sc_module_name name, const HostConfig& config)
    : sc_module(name),
      registers_out("registers_out"),
      dma_in("dma_in"),
      irq_in("irq_in"),
      memory_("memory", platform::kRamBase, checked_memory_bytes(config)),
      bus_("bus", config.memory_bytes),
      device_("device"),
      irq_cpu_("irq_cpu"),
      cpu_(make_host_cpu("cpu", config, memory_)) {
    sim::bind_sockets(config.connect, cpu_->bus_out, bus_.cpu_in);
    sim::bind_sockets(config.connect, bus_.memory_out, memory_.in);
    sim::bind_sockets(config.connect, bus_.device_out, device_.in);
    bus_.registers_out.bind(registers_out);
    dma_in.bind(bus_.dma_in);
    device_.irq_tpu_in.bind(irq_in);
    device_.irq_cpu_out.bind(irq_cpu_);
    cpu_->irq_in.bind(irq_cpu_);
    if (config.console) device_.on_console(config.console);
    device_.on_exit([this](uint32_t code) { cpu_->request_exit(code); });
}

void HostSystem::load(const JobRequest& request) {
    job_.emplace(memory_, request);
    device_.set_job(job_->address());
}

}  // namespace tandem::host
