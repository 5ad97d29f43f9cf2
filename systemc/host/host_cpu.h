// SPDX-License-Identifier: Apache-2.0
// What the rest of the host needs to know about its CPU. Implementations: NativeHost runs the
// firmware's sources as part of the simulator, RiscvHost runs the RISC-V image.
#pragma once

#include <tlm.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <string>
#include <systemc>

#include "systemc/kernel/resolution.h"

namespace tandem::host {

class HostCpu : public sc_core::sc_module {
  public:
    tlm_utils::simple_initiator_socket<HostCpu> bus_out;
    sc_core::sc_in<bool> irq_in;  ///< level-sensitive, active high

    explicit HostCpu(sc_core::sc_module_name name)
        : sc_module(name), bus_out("bus_out"), irq_in("irq_in") {
        sim::require_femtoseconds();
    }

    /// Instructions executed so far; 0 for a CPU that does not count.
    virtual uint64_t instructions() const = 0;

    /// Asks the CPU to end; called from within one of its own bus accesses. The first call counts.
    void request_exit(uint32_t code) {
        if (exit_requested_) return;
        exit_requested_ = true;
        exit_code_ = code;
    }

    /// Notified once, when the program has ended or a fault stopped it.
    const sc_core::sc_event& finished_event() const { return finished_event_; }
    bool finished() const { return finished_; }
    uint32_t exit_code() const { return exit_code_; }
    /// Why the CPU was stopped, several lines; empty when the program ended by itself.
    const std::string& fault() const { return fault_; }
    /// A debugger has ended the program; there is a fault, too.
    bool killed() const { return killed_; }

  protected:
    bool exit_requested() const { return exit_requested_; }

    void finish() {
        finished_ = true;
        finished_event_.notify(sc_core::SC_ZERO_TIME);
    }

    void fail(std::string text) {
        fault_ = std::move(text);
        exit_code_ = kFaultExitCode;
        finish();
    }

    void kill(std::string text) {
        killed_ = true;
        fail(std::move(text));
    }

    /// One access on the bus, with its delay waited for. `data` holds `bytes` bytes.
    tlm::tlm_response_status access(tlm::tlm_command command, uint64_t address, uint8_t* data,
                                    unsigned bytes);

  private:
    static constexpr uint32_t kFaultExitCode = 128;

    /// The access under way. What stood on the stack of a thread would be lost when the
    /// simulation ends before it.
    tlm::tlm_generic_payload payload_;

    bool exit_requested_ = false;
    bool finished_ = false;
    bool killed_ = false;
    uint32_t exit_code_ = 0;
    std::string fault_;
    sc_core::sc_event finished_event_;
};

}  // namespace tandem::host
