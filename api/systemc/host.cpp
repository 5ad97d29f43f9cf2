// SPDX-License-Identifier: Apache-2.0
#include "tandem/host.h"

#include <fmt/format.h>

#include <optional>

#include "api/systemc/parameter_scope.h"
#include "arch/program.h"
#include "base/error.h"
#include "base/quantity.h"
#include "run/job_failure.h"
#include "run/paths.h"
#include "systemc/host/host_cpu_factory.h"
#include "systemc/host/placed_job.h"
#include "systemc/host/platform_device.h"

namespace tandem::api {

static_assert(kRamBase == platform::kRamBase && kChipBase == platform::kTpuBase &&
              kChipBytes == platform::kTpuBytes && kDeviceBase == platform::kDeviceBase &&
              kDeviceBytes == platform::kDeviceBytes);

namespace {

using modules::ParameterScope;

constexpr uint64_t kPageBytes = 4096;

std::span<uint8_t> checked(const Ram& ram) {
    if (ram.bytes == nullptr || ram.count % kPageBytes != 0 ||
        ram.count < 2 * platform::kFirmwareBytes || ram.count > platform::kRamMaxBytes)
        throw UserError(
            fmt::format("host RAM: expected a multiple of {} bytes from {} to {}, found {}{}",
                        kPageBytes, 2 * platform::kFirmwareBytes, platform::kRamMaxBytes, ram.count,
                        ram.bytes == nullptr ? " at no address" : ""));
    return {ram.bytes, ram.count};
}

uint64_t quantity(ParameterScope& scope, const std::string& path, uint64_t default_value,
                  base::Dimension dimension, const std::string& description) {
    const std::string text = scope.take(path, base::format_quantity(default_value, dimension),
                                        base::unit_names(dimension), description);
    return base::quantity_between(text, dimension, 1, uint64_t{1} << 62,
                                  [&](const std::string& expected, const std::string& found) {
                                      throw UserError("parameter " + scope.full_name(path) +
                                                      ": expected " + expected + ", found " +
                                                      found);
                                  });
}

host::HostConfig config_of(ParameterScope& scope, const HostOptions& options) {
    host::HostConfig config;
    config.kind = scope.take("cpu", options.cpu, "", "riscv, or native: takes no time of its own");
    const bool riscv = config.kind == "riscv";
    const std::string driver =
        options.firmware.empty() && riscv ? run::firmware_elf().string() : options.firmware;
    config.firmware_elf = scope.take("firmware", driver, "", "ELF file of the riscv CPU");
    config.cpu_clock_hz = quantity(scope, "clock", config.cpu_clock_hz, base::Dimension::kHertz,
                                   "of the riscv CPU, one instruction per cycle");
    config.firmware_budget =
        quantity(scope, "firmware_budget", config.firmware_budget, base::Dimension::kPlain,
                 "instructions after which firmware is taken to loop for ever");
    return config;
}

}  // namespace

struct Host::Impl {
    Impl(const char* module, const Ram& bytes, const HostOptions& options)
        : scope(module),
          config(config_of(scope, options)),
          ram(platform::kRamBase, checked(bytes)),
          device("device"),
          irq("irq"),
          cpu(host::make_host_cpu("cpu", config, ram)) {
        scope.refuse_unknown();
        device.irq_cpu_out.bind(irq);
        cpu->irq_in.bind(irq);
        if (options.console)
            device.on_console(
                [console = options.console](std::string_view line) { console(std::string(line)); });
        device.on_exit([this](uint32_t code) { cpu->request_exit(code); });
    }

    modules::ParameterScope scope;
    const host::HostConfig config;
    host::HostRam ram;
    host::PlatformDevice device;
    sc_core::sc_signal<bool> irq;
    std::unique_ptr<host::HostCpu> cpu;
    std::optional<host::PlacedJob> job;
};

Host::Host(sc_core::sc_module_name name, const Ram& ram, const HostOptions& options)
    : sc_module(name),
      bus_out("bus_out"),
      device_in("device_in"),
      irq_in("irq_in"),
      impl_(std::make_unique<Impl>(this->name(), ram, options)) {
    impl_->cpu->bus_out.bind(bus_out);
    device_in.bind(impl_->device.in);
    impl_->device.irq_tpu_in.bind(irq_in);
}

Host::~Host() = default;

void Host::load(const Job& job) {
    const arch::Program program = arch::deserialise(job.program, "job");
    const uint64_t bytes = arch::bytes_of(program.inputs);
    if (job.runs == 0 || job.inputs.size() / job.runs != bytes || job.inputs.size() % job.runs != 0)
        throw UserError(
            fmt::format("job: expected inputs of {} bytes for each of {} runs, found {} bytes",
                        bytes, job.runs, job.inputs.size()));
    impl_->job.emplace(impl_->ram, host::JobRequest{.image = job.program,
                                                    .inputs = job.inputs,
                                                    .runs = job.runs,
                                                    .output_bytes = arch::bytes_of(program.outputs),
                                                    .timeout_us = job.timeout_us});
    impl_->device.set_job(impl_->job->address());
}

const sc_core::sc_event& Host::finished_event() const { return impl_->cpu->finished_event(); }

bool Host::finished() const { return impl_->cpu->finished(); }

std::string Host::failure() const {
    if (!finished()) return {};
    if (!impl_->job) return "host: the firmware ended without a job: call load() before sc_start";
    return run::failure_of(impl_->job->job(), impl_->cpu->fault(), impl_->job->job().runs);
}

std::vector<uint8_t> Host::outputs() const {
    if (!impl_->job) return {};
    return {impl_->job->outputs().begin(), impl_->job->outputs().end()};
}

uint64_t Host::instructions() const { return impl_->cpu->instructions(); }

}  // namespace tandem::api
