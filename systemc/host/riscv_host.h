// SPDX-License-Identifier: Apache-2.0
// The host's RISC-V CPU: RV32IM, machine mode only, on the Unicorn emulator. One instruction per
// clock; runs ahead of simulated time by at most a quantum, and is in step at every bus access.
// Not modelled: caches, traps for exceptions (they end the CPU with a fault text), cycle counters
// (they return host time: use the timer of the platform device).
#pragma once

#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "systemc/host/host_config.h"
#include "systemc/host/host_cpu.h"
#include "systemc/host/host_ram.h"
#include "systemc/host/riscv_debugger.h"

struct uc_struct;

namespace tandem::host {

struct RiscvHostConfig {
    uint64_t clock_hz = 1'000'000'000;
    uint64_t quantum_instructions = 100'000;
    /// A program that executes more ends with a fault: it may loop for ever, at a speed of
    /// simulated time at which nobody would see the end.
    uint64_t budget_instructions = kFirmwareBudget;
    std::filesystem::path firmware_elf;
    std::optional<GdbOptions> gdb{};
};

class RiscvHost final : public HostCpu {
  public:
    /// Loads the ELF into the first kFirmwareBytes of `memory`. Throws UserError for a bad one.
    RiscvHost(sc_core::sc_module_name name, const RiscvHostConfig& config, HostRam& memory);
    ~RiscvHost() override;

    /// Exact, but for at most one basic block while the CPU is inside one.
    uint64_t instructions() const override { return instructions_; }

  private:
    struct Callbacks;
    friend struct Callbacks;

    /// Why uc_emu_start came back, if it was asked to.
    enum class Stop { kNone, kQuantum, kInterrupt, kExit, kBusError, kException, kBudget, kDebug };

    void open(HostRam& memory);
    void open_debugger(HostRam& memory);
    /// False: gdb has ended the program.
    bool serve_debugger(const std::optional<gdb::Stop>& stop = std::nullopt);
    /// gdb sees the CPU before it ends.
    void fail_for(const std::string& reason, uint8_t signal);
    bool debug_transport(tlm::tlm_command command, uint64_t address, uint8_t* data, uint64_t bytes);
    void map_device(uint64_t address, uint64_t bytes, void* region);
    void run_thread();
    bool run_until_stop();
    bool after_stop(int error);
    bool wait_for_interrupt();
    bool wait_for_line();
    void stop(Stop reason);
    void stop_before(uint64_t address, Stop reason);
    void on_block(uint64_t address, uint32_t bytes);
    void on_instruction(uint64_t address);
    void on_memory(bool write, uint64_t address, unsigned bytes);
    uint64_t on_access(uint64_t address, unsigned bytes, uint64_t value, bool is_write);
    void synchronise();
    bool interrupt_deliverable() const;
    void enter_interrupt();
    uint64_t read_register(int id) const;
    void write_register(int id, uint64_t value);
    std::string describe(const std::string& reason) const;

    struct Region {
        RiscvHost* host;
        uint64_t base;
    };

    RiscvHostConfig config_;
    std::unique_ptr<uc_struct, void (*)(uc_struct*)> uc_;
    Region registers_region_;
    Region device_region_;
    std::unique_ptr<RiscvDebugger> debugger_;
    uint64_t block_end_ = 0;     ///< of the block that has been counted last
    bool inside_block_ = false;  ///< gdb has stopped the CPU in it
    uint64_t pc_ = 0;
    uint64_t instructions_ = 0;
    uint64_t synchronised_ = 0;  ///< instructions whose time has passed
    uint64_t quantum_end_ = 0;   ///< instruction count at which to let others run
    Stop stop_ = Stop::kNone;
    std::optional<uint64_t> stopped_before_;  ///< the instruction, if it is known
    std::string bad_access_;                  ///< what the bus or the emulator refused
    std::exception_ptr exception_;            ///< thrown inside a bus access, to be passed on
};

}  // namespace tandem::host
