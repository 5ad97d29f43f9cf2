// SPDX-License-Identifier: Apache-2.0
// A machine, built and bound: chip, host, and an engine behind every array. The one place where
// that is done; runs, benchmarks and tests use it alike.
//
// SystemC elaborates once per process: build all systems before the simulation starts.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "arch/chip_config.h"
#include "engine/mxu_engine.h"
#include "run/direct_host.h"
#include "systemc/chip/tpu_chip.h"
#include "systemc/host/host_system.h"

namespace tandem::run {

using EngineFactory =
    std::function<std::unique_ptr<engine::MxuEngine>(uint32_t core, uint32_t array)>;

enum class HostKind {
    kFirmware,  ///< a CPU with firmware drives the chip through its registers
    kDirect,    ///< no CPU: whoever built the system gives programs to the sequencers
};

struct SystemOptions {
    std::string name;        ///< prefix of the modules' names, where a process has several systems
    bool functional = true;  ///< false: time only
    uint32_t cores = 0;      ///< the first so many; 0: all
    uint32_t arrays = 0;     ///< of each core, the first so many; 0: all
    sim::Level level = sim::Level::kAt;
    uint64_t quantum_ns = 0;    ///< kLt: how far initiators run ahead of simulated time
    EngineFactory make_engine;  ///< empty: a transaction-level engine for each array
    sim::RequantiserFactory make_requantiser;  ///< empty: the model behind every array
    HostKind host = HostKind::kDirect;
    std::string cpu = "riscv";                         ///< kFirmware: riscv, native
    uint64_t firmware_budget = host::kFirmwareBudget;  ///< kFirmware: instructions of riscv
    uint64_t host_base = 0;                            ///< kDirect: bus address of the first byte
    /// Bytes of host memory. kDirect, 0: a memory without bytes, every access is fine.
    uint64_t host_bytes = 0;
    std::function<void(std::string_view)> console;  ///< kFirmware: what the firmware prints
    std::optional<host::GdbOptions> gdb;            ///< kFirmware: of riscv
    sim::Connect connect;                           ///< of all sockets; empty: directly
};

class System {
  public:
    System(const arch::ChipConfig& config, const SystemOptions& options);
    System(const System&) = delete;
    System& operator=(const System&) = delete;

    const arch::ChipConfig& config() const { return config_; }
    sim::TpuChip& chip() { return *chip_; }
    /// Null unless the host is of that kind.
    host::HostSystem* firmware_host() { return firmware_host_.get(); }
    DirectHost* direct_host() { return direct_host_.get(); }
    /// The chip's interrupt line.
    const sc_core::sc_signal<bool>& irq() const { return *irq_; }

  private:
    const arch::ChipConfig config_;
    std::unique_ptr<sim::TpuChip> chip_;
    std::unique_ptr<host::HostSystem> firmware_host_;
    std::unique_ptr<DirectHost> direct_host_;
    std::unique_ptr<sc_core::sc_signal<bool>> irq_;
};

/// Sets what the simulation as a whole has: resolution and SystemC's own messages. System's
/// constructor does it; for whoever makes modules before.
void prepare_simulation();

/// Runs the simulation until somebody stops it.
void simulate();

}  // namespace tandem::run
