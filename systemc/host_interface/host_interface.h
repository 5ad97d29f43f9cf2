// SPDX-License-Identifier: Apache-2.0
// The chip as the host sees it: registers, a ring of commands in host memory, a doorbell, an
// interrupt. Registers and ring are defined in arch/registers.yaml.
//
// Timing: a register access takes the bus latency; a command is read from, and its status written
// to, host memory over the bus. The interrupt rises after the status has arrived.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <systemc>
#include <tlm>
#include <vector>

#include "arch/generated/register_table.h"
#include "arch/generated/registers.h"
#include "systemc/host_interface/device_readings.h"
#include "systemc/host_interface/host_link.h"
#include "systemc/host_interface/program_runner.h"
#include "systemc/memory/initiator.h"

namespace tandem::sim {

class HostInterface : public sc_core::sc_module {
  public:
    tlm_utils::simple_target_socket<HostInterface> registers_in;
    sc_core::sc_out<bool> irq_out;
    MemoryInitiator memory;  ///< to device memory, for LOAD and core tables

    HostInterface(sc_core::sc_module_name name, const arch::ChipConfig& config, HostLink& link,
                  ProgramRunner& runner);

  private:
    struct Command;

    void b_transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay);
    unsigned transport_dbg(tlm::tlm_generic_payload& transaction);
    bool access(tlm::tlm_generic_payload& transaction);
    uint32_t read_register(uint32_t offset) const;
    void write_register(uint32_t offset, uint32_t value);
    void write_control(uint32_t value);
    void reset_device();

    void command_thread();
    bool ring_valid() const;
    void run_next_command();
    std::optional<CoreError> execute(const Command& command);
    std::optional<CoreError> load(const Command& command);
    std::optional<CoreError> run(const Command& command);
    void finish(uint64_t entry, const std::optional<CoreError>& error, uint64_t cycles);
    /// An error of a command, which is no core's.
    CoreError failed(arch::DeviceError code, uint32_t info) const {
        return {0, {code, info, sc_core::sc_time_stamp()}};
    }
    void update_irq() { irq_changed_.notify(sc_core::SC_ZERO_TIME); }
    void irq_method() { irq_out.write((registers_[kIrqStatus] & registers_[kIrqEnable]) != 0); }

    // Indices into registers_: offset / 4.
    static constexpr uint32_t kRegisterWords = 48;
    static constexpr uint32_t kIrqStatus = TANDEM_REG_IRQ_STATUS / 4;
    static constexpr uint32_t kIrqEnable = TANDEM_REG_IRQ_ENABLE / 4;

    const arch::ChipConfig& config_;
    HostLink& link_;
    ProgramRunner& runner_;
    DeviceReadings readings_;
    std::array<uint32_t, kRegisterWords> registers_{};
    /// That run. Not on the stack of a process, which is not unwound where a simulation is stopped.
    std::vector<CoreProgramRequest> programs_;
    uint32_t head_ = 0;
    bool busy_ = false;
    bool abort_ = false;
    sc_core::sc_event doorbell_;
    /// Host and chip may both change the registers in one delta cycle.
    sc_core::sc_event irq_changed_;
};

}  // namespace tandem::sim
