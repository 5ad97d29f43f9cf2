// SPDX-License-Identifier: Apache-2.0
#include "run/system.h"

#include <algorithm>

#if defined(__SANITIZE_ADDRESS__)
#include <pthread.h>
#include <sanitizer/common_interface_defs.h>
#endif

#include "engine/tlm_mxu_engine.h"
#include "run/paths.h"
#include "systemc/kernel/resolution.h"

// The library's main() is not used, but it refers to this; tests that let the library's main() run
// have one of their own.
__attribute__((weak)) int sc_main(int, char*[]) { return 0; }

namespace tandem::run {
namespace {

host::HostConfig host_config(const arch::ChipConfig& config, const SystemOptions& options) {
    host::HostConfig host;
    host.kind = options.cpu;
    host.firmware_budget = options.firmware_budget;
    host.cpu_clock_hz = config.host.cpu_clock_hz;
    host.firmware_elf = firmware_elf();
    host.memory_bytes = options.host_bytes;
    host.console = options.console;
    host.gdb = options.gdb;
    if (options.level == sim::Level::kLt)
        host.quantum_instructions = std::max<uint64_t>(
            1, static_cast<uint64_t>(static_cast<double>(options.quantum_ns) * 1e-9 *
                                     static_cast<double>(config.host.cpu_clock_hz)));
    host.connect = options.connect;
    return host;
}

}  // namespace

void prepare_simulation() {
    static const bool done = [] {
        sim::require_femtoseconds();
        // That sc_stop() was called is no news to the user.
        sc_core::sc_report_handler::set_actions(sc_core::SC_ID_SIMULATION_STOP_CALLED_TWICE_,
                                                sc_core::SC_DO_NOTHING);
        sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
        return true;
    }();
    (void)done;
}

void simulate() {
    sc_core::sc_start();
#if defined(__SANITIZE_ADDRESS__)
    // SystemC 2.3.4 tells the sanitizer of the stacks of its processes, but not that it is back on
    // the thread's own: an exception from here on would look like a fault.
    pthread_attr_t attributes;
    pthread_getattr_np(pthread_self(), &attributes);
    void* stack = nullptr;
    size_t bytes = 0;
    pthread_attr_getstack(&attributes, &stack, &bytes);
    pthread_attr_destroy(&attributes);
    __sanitizer_start_switch_fiber(nullptr, stack, bytes);
    __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
}

System::System(const arch::ChipConfig& config, const SystemOptions& options) : config_(config) {
    prepare_simulation();
    if (options.level == sim::Level::kLt)
        tlm::tlm_global_quantum::instance().set(
            sc_core::sc_time(static_cast<double>(options.quantum_ns), sc_core::SC_NS));
    EngineFactory make_engine = options.make_engine;
    if (!make_engine)
        make_engine = [this](uint32_t, uint32_t) {
            return std::make_unique<engine::TlmMxuEngine>(engine::shape_of(config_.mxu));
        };
    const auto named = [&](const char* name) { return options.name + name; };
    chip_ = std::make_unique<sim::TpuChip>(
        named("chip").c_str(), config_,
        sim::ChipOptions{options.functional, options.cores, options.arrays, options.connect,
                         options.level, options.make_requantiser},
        make_engine);
    irq_ = std::make_unique<sc_core::sc_signal<bool>>(named("irq").c_str());
    chip_->irq_out().bind(*irq_);
    if (options.host == HostKind::kFirmware) {
        firmware_host_ = std::make_unique<host::HostSystem>(named("host").c_str(),
                                                            host_config(config_, options));
        sim::bind_sockets(options.connect, firmware_host_->registers_out, chip_->registers_in());
        firmware_host_->irq_in.bind(*irq_);
        sim::bind_sockets(options.connect, chip_->host_out(), firmware_host_->dma_in);
    } else {
        direct_host_ = std::make_unique<DirectHost>(named("host").c_str(), options.host_base,
                                                    options.host_bytes);
        sim::bind_sockets(options.connect, direct_host_->registers, chip_->registers_in());
        sim::bind_sockets(options.connect, chip_->host_out(), direct_host_->in);
    }
}

}  // namespace tandem::run
