// SPDX-License-Identifier: Apache-2.0
// Every kind of TLM target of the model, each behind a checker and an initiator of its own.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <systemc>

#include "arch/generated/registers.h"
#include "engine/tlm_mxu_engine.h"
#include "firmware/include/tandem/platform.h"
#include "systemc/chip/tpu_chip.h"
#include "systemc/host/host_bus.h"
#include "systemc/host/host_memory.h"
#include "systemc/host/platform_device.h"
#include "testbench/support/chip_bench.h"
#include "testbench/support/tlm_checker.h"

namespace tandem::testbench {

/// An initiator with the one callback that matters here.
struct Prober : sc_core::sc_module {
    tlm_utils::simple_initiator_socket<Prober> out{"out"};
    sc_core::sc_event responded;
    explicit Prober(sc_core::sc_module_name name) : sc_module(name) {
        out.register_nb_transport_bw(this, &Prober::nb_transport_bw);
    }
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) {
        if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
        responded.notify(delay);
        return tlm::TLM_COMPLETED;
    }
};

/// One target. `address` may be read and written; `end` is the first address behind it.
struct Target {
    uint64_t address = 0, end = 0;
    bool words_only = false;   ///< registers: aligned 32 bits
    bool direct = true;        ///< grants direct access
    bool debug_reads = true;   ///< answers debug reads
    bool debug_writes = true;  ///< answers debug writes
    tlm::tlm_initiator_socket<>* initiator = nullptr;
    std::vector<std::shared_ptr<void>> parts;  ///< modules; the last one goes first

    ~Target() {
        while (!parts.empty()) parts.pop_back();
    }
    template <typename T, typename... Arguments>
    T& make(Arguments&&... arguments) {
        auto part = std::make_shared<T>(std::forward<Arguments>(arguments)...);
        parts.push_back(part);
        return *part;
    }
    /// Something that starts transactions, bound by way of a checker.
    Prober& probe(Checkers& checkers, tlm::tlm_base_target_socket_b<>& socket) {
        Prober& prober = make<Prober>("prober");
        sim::bind_sockets(checkers.connect(), prober.out, socket);
        initiator = &prober.out;
        return prober;
    }
};

inline void words(Target& target) {
    target.words_only = true;
    target.direct = target.debug_writes = false;
}

inline void make_bus(Target& target, Checkers& checkers, bool from_cpu) {
    auto& bus = target.make<host::HostBus>("bus", 1 << 20);
    auto& memory = target.make<host::HostMemory>("memory", platform::kRamBase, 1 << 20);
    auto& device = target.make<host::PlatformDevice>("device");
    auto& tpu_irq = target.make<sc_core::sc_signal<bool>>("tpu_irq");
    auto& cpu_irq = target.make<sc_core::sc_signal<bool>>("cpu_irq");
    auto& registers = target.make<host::HostMemory>("registers", 0, platform::kTpuBytes);
    device.irq_tpu_in.bind(tpu_irq);
    device.irq_cpu_out.bind(cpu_irq);
    sim::bind_sockets(checkers.connect(), bus.memory_out, memory.in);
    sim::bind_sockets(checkers.connect(), bus.device_out, device.in);
    sim::bind_sockets(checkers.connect(), bus.registers_out, registers.in);
    auto& other = target.make<Prober>("other");
    other.out.bind(from_cpu ? bus.dma_in : bus.cpu_in);
    target.probe(checkers, from_cpu ? bus.cpu_in : bus.dma_in);
    target.address = platform::kRamBase + 0x2000;
    target.end = platform::kRamBase + (1 << 20);
}

using MakeTarget = std::function<void(Target&, Checkers&)>;

inline const std::map<std::string, MakeTarget>& all_targets() {
    static const std::map<std::string, MakeTarget> targets = {
        {"HostMemory",
         [](Target& target, Checkers& checkers) {
             auto& memory = target.make<host::HostMemory>("memory", platform::kRamBase, 1 << 20);
             target.probe(checkers, memory.in);
             target.address = 0x2000;
             target.end = 1 << 20;
         }},
        {"HostBusFromCpu",
         [](Target& target, Checkers& checkers) { make_bus(target, checkers, true); }},
        {"HostBusFromChip",
         [](Target& target, Checkers& checkers) { make_bus(target, checkers, false); }},
        {"PlatformDevice",
         [](Target& target, Checkers& checkers) {
             auto& device = target.make<host::PlatformDevice>("device");
             device.irq_tpu_in.bind(target.make<sc_core::sc_signal<bool>>("tpu_irq"));
             device.irq_cpu_out.bind(target.make<sc_core::sc_signal<bool>>("cpu_irq"));
             target.probe(checkers, device.in);
             target.address = platform::kCompareLo;
             target.end = platform::kDeviceBytes;
             words(target);
             target.debug_reads = false;
         }},
        {"DirectHost",
         [](Target& target, Checkers& checkers) {
             auto& host = target.make<run::DirectHost>("host", 0, 1 << 20);
             host.registers.bind(target.make<host::HostMemory>("unused", 0, 4096).in);
             target.probe(checkers, host.in);
             target.address = 0x2000;
             target.end = 1 << 20;
             target.direct = target.debug_reads = target.debug_writes = false;
         }},
        {"DeviceMemory",
         [](Target& target, Checkers& checkers) {
             auto& memory = target.make<sim::DeviceMemory>("memory", small_chip());
             target.probe(checkers, memory.memory_in);
             target.address = 0x2000;
             target.end = 1 << 20;
         }},
        {"UnifiedBuffer",
         [](Target& target, Checkers& checkers) {
             auto& buffer = target.make<sim::UnifiedBuffer>("buffer", small_chip());
             target.probe(checkers, buffer.memory_in);
             target.address = 0x200;
             target.end = 4096;
         }},
        {"ChipRegisters",
         [](Target& target, Checkers& checkers) {
             const arch::ChipConfig config = small_chip();
             const auto tlm = [&](uint32_t, uint32_t) {
                 return std::make_unique<engine::TlmMxuEngine>(engine::shape_of(config.mxu));
             };
             auto& chip = target.make<sim::TpuChip>("chip", config, sim::ChipOptions{}, tlm);
             auto& memory = target.make<host::HostMemory>("memory", 0, 1 << 20);
             chip.host_out().bind(memory.in);
             chip.irq_out().bind(target.make<sc_core::sc_signal<bool>>("irq"));
             target.probe(checkers, chip.registers_in());
             target.address = TANDEM_REG_RING_BASE_LO;
             target.end = 0x1000;
             words(target);
         }},
    };
    return targets;
}

}  // namespace tandem::testbench
