// SPDX-License-Identifier: Apache-2.0
#include "systemc/host/host_cpu_factory.h"

#include "base/error.h"
#include "systemc/host/native_host.h"

#ifdef TANDEM_HAS_RISCV_HOST
#include "systemc/host/riscv_host.h"
#endif

namespace tandem::host {

namespace {

#ifdef TANDEM_HAS_RISCV_HOST
std::unique_ptr<HostCpu> make_riscv(const char* name, const HostConfig& config, HostRam& memory) {
    RiscvHostConfig riscv;
    riscv.clock_hz = config.cpu_clock_hz;
    riscv.firmware_elf = config.firmware_elf;
    riscv.budget_instructions = config.firmware_budget;
    riscv.gdb = config.gdb;
    riscv.quantum_instructions = config.quantum_instructions;
    return std::make_unique<RiscvHost>(name, riscv, memory);
}
#else
std::unique_ptr<HostCpu> make_riscv(const char*, const HostConfig&, HostRam&) {
    throw UserError(
        "host \"riscv\" is not in this build: install libunicorn-dev and configure with "
        "-DTANDEM_RISCV_HOST=ON, or use host \"native\"");
}
#endif

}  // namespace

std::unique_ptr<HostCpu> make_host_cpu(const char* name, const HostConfig& config,
                                       HostRam& memory) {
    if (config.kind == "native" && config.gdb)
        throw UserError(
            "host \"native\" is part of the simulator and has no CPU for gdb: use host \"riscv\"");
    if (config.kind == "native") return std::make_unique<NativeHost>(name, memory);
    if (config.kind == "riscv") return make_riscv(name, config, memory);
    throw UserError("host: expected \"riscv\" or \"native\", found \"" + config.kind + "\"");
}

}  // namespace tandem::host
