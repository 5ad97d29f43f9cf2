// SPDX-License-Identifier: Apache-2.0
// Console, exit, timer and interrupt gathering of the host; registers in platform.h. Takes aligned
// 32-bit accesses only; others, and accesses against a register's direction, get a TLM error.
#pragma once

#include <tlm.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <systemc>

namespace tandem::host {

class PlatformDevice : public sc_core::sc_module {
  public:
    tlm_utils::simple_target_socket<PlatformDevice> in;
    sc_core::sc_in<bool> irq_tpu_in;
    sc_core::sc_out<bool> irq_cpu_out;  ///< high while a bit of IRQ_PENDING is set

    explicit PlatformDevice(sc_core::sc_module_name name);

    /// Called with each complete line of the console, without its end.
    void on_console(std::function<void(std::string_view)> callback);
    /// Called when the CPU writes EXIT.
    void on_exit(std::function<void(uint32_t)> callback);
    /// Bus address of the job block, read by the firmware; below 4 GiB.
    void set_job(uint32_t bus_address) { job_ = bus_address; }
    /// Delivers an unfinished line.
    void flush_console();

  private:
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    bool read_register(uint64_t offset, uint32_t& value);
    bool write_register(uint64_t offset, uint32_t value);
    void write_console(char character);
    void write_compare(uint32_t value, unsigned shift);
    uint64_t time_us() const;
    bool timer_pending() const;
    uint32_t pending() const;
    void drive_irq_method();

    std::function<void(std::string_view)> console_;
    std::function<void(uint32_t)> exit_;
    std::string line_;
    uint32_t job_ = 0;
    uint32_t time_high_ = 0;
    uint64_t compare_us_ = ~uint64_t{0};
    sc_core::sc_event timer_event_;
};

}  // namespace tandem::host
