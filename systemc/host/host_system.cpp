// SPDX-License-Identifier: Apache-2.0
#include "systemc/host/host_system.h"

#include <algorithm>
#include <new>

#include "arch/generated/registers.h"
#include "base/error.h"
#include "systemc/host/host_cpu_factory.h"

namespace tandem::host {

namespace {

constexpr uint64_t kMinMemoryBytes = 2 * platform::kFirmwareBytes;
constexpr uint32_t kRingEntries = 16;
// Everything starts on a page: nothing that the TPU transfers shares one with something else.
constexpr uint64_t kPlacementBytes = 4096;

uint64_t checked_memory_bytes(const HostConfig& config) {
    if (config.memory_bytes < kMinMemoryBytes || config.memory_bytes > platform::kRamMaxBytes) {
        throw UserError("host memory: expected " + std::to_string(kMinMemoryBytes) + " to " +
                        std::to_string(platform::kRamMaxBytes) + " bytes, found " +
                        std::to_string(config.memory_bytes));
    }
    return config.memory_bytes;
}

/// Hands out memory above the firmware, front to back.
class Placement {
  public:
    explicit Placement(HostMemory& memory) : memory_(memory) {}

    /// Bus address of `bytes` fresh bytes.
    uint64_t take(uint64_t bytes, const char* what) {
        const uint64_t address = next_;
        const uint64_t left = memory_.base() + memory_.bytes().size() - next_;
        if (bytes > left) {
            throw UserError("host memory: " + std::string(what) + " needs " +
                            std::to_string(bytes) + " bytes, " + std::to_string(left) +
                            " are left; use a larger memory or fewer samples");
        }
        const uint64_t rounded = (bytes + kPlacementBytes - 1) / kPlacementBytes * kPlacementBytes;
        next_ += std::min(rounded, left);
        return address;
    }

    uint64_t put(std::span<const uint8_t> bytes, const char* what) {
        const uint64_t address = take(bytes.size(), what);
        std::copy(bytes.begin(), bytes.end(), memory_.at(address, bytes.size()).begin());
        return address;
    }

  private:
    HostMemory& memory_;
    uint64_t next_ = platform::kRamBase + platform::kFirmwareBytes;
};

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
    cpu_->bus_out.bind(bus_.cpu_in);
    bus_.memory_out.bind(memory_.in);
    bus_.device_out.bind(device_.in);
    bus_.registers_out.bind(registers_out);
    dma_in.bind(bus_.dma_in);
    device_.irq_tpu_in.bind(irq_in);
    device_.irq_cpu_out.bind(irq_cpu_);
    cpu_->irq_in.bind(irq_cpu_);
    if (config.console) device_.on_console(config.console);
    device_.on_exit([this](uint32_t code) { cpu_->request_exit(code); });
}

void HostSystem::load(const JobRequest& request) {
    if (request.runs == 0 || request.inputs.size() % request.runs != 0) {
        throw UserError("job: expected inputs of equal size for " + std::to_string(request.runs) +
                        " runs, found " + std::to_string(request.inputs.size()) + " bytes");
    }
    if (request.output_bytes > platform::kRamMaxBytes / request.runs) {
        throw UserError("job: outputs of " + std::to_string(request.runs) + " runs of " +
                        std::to_string(request.output_bytes) + " bytes exceed any host memory");
    }
    const uint64_t output_bytes = request.output_bytes * request.runs;
    Placement placement(memory_);
    const uint64_t job_address = placement.take(sizeof(firmware::Job), "job block");
    job_ = new (memory_.at(job_address, sizeof(firmware::Job)).data()) firmware::Job;
    job_->ring_address = placement.take(kRingEntries * TANDEM_COMMAND_BYTES, "command ring");
    job_->ring_entries = kRingEntries;
    job_->image_address = placement.put(request.image, "program image");
    job_->image_bytes = request.image.size();
    job_->runs = request.runs;
    job_->input_address = placement.put(request.inputs, "inputs");
    job_->input_bytes = request.inputs.size() / request.runs;
    job_->output_address = placement.take(output_bytes, "outputs");
    job_->output_bytes = request.output_bytes;
    job_->timeout_us = request.timeout_us;
    outputs_ = memory_.at(job_->output_address, output_bytes);
    device_.set_job(static_cast<uint32_t>(job_address));
}

}  // namespace tandem::host
