// SPDX-License-Identifier: Apache-2.0
// A CPU with Tandem's driver as firmware, for a platform with a bus and memory of its own.
#ifndef TANDEM_HOST_H
#define TANDEM_HOST_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

namespace tandem::api {

/// Where the driver expects things on the bus. The chip has to reach RAM at the same addresses.
constexpr std::uint64_t kRamBase = 0x80000000;
constexpr std::uint64_t kChipBase = 0x10000000, kChipBytes = 0x1000;
constexpr std::uint64_t kDeviceBase = 0x10010000, kDeviceBytes = 0x1000;

/// The bytes behind kRamBase. The CPU works in them directly, as by DMI; only what lies elsewhere
/// goes over its bus. They have to outlive the host.
struct Ram {
    std::uint8_t* bytes = nullptr;
    std::uint64_t count = 0;  ///< a multiple of 4096, 2 MiB to 2 GiB
};

struct HostOptions {
    std::string cpu = "riscv";  ///< or "native": the driver compiled into the simulator
    std::string firmware{};     ///< riscv: another ELF file; empty: the driver
    std::function<void(const std::string& line)> console{};  ///< what the firmware prints
};

struct Job {
    std::vector<std::uint8_t> program{};  ///< the bytes of a .tpu file, compiled for the chip
    std::vector<std::uint8_t> inputs{};   ///< of all runs, one after another
    std::uint32_t runs = 1;
    std::uint64_t timeout_us = 60'000'000;  ///< simulated, for one run
};

class Host : public sc_core::sc_module {
  public:
    tlm::tlm_initiator_socket<> bus_out;  ///< of the CPU: aligned words at kChipBase, kDeviceBase
    tlm::tlm_target_socket<> device_in;   ///< console, timer, exit; addresses from 0
    sc_core::sc_in<bool> irq_in;          ///< of the chip, level-sensitive, active high

    /// Throws std::runtime_error for impossible RAM, options or firmware. Presets of parameters
    /// (tandem/parameters.h) go before the options.
    Host(sc_core::sc_module_name name, const Ram& ram, const HostOptions& options = {});
    ~Host() override;
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    /// Puts the job into RAM, above the firmware's first MiB; before the simulation starts. Throws
    /// std::runtime_error for a damaged program, inputs that are not those of `runs` runs, or a job
    /// that does not fit.
    void load(const Job& job);

    /// Notified once: the firmware has ended, or a fault has stopped it.
    const sc_core::sc_event& finished_event() const;
    bool finished() const;
    /// Why the job was not done, for people; empty: it was, or the firmware still runs.
    std::string failure() const;
    /// Of all runs, one after another; after load().
    std::vector<std::uint8_t> outputs() const;
    /// Of the firmware; 0 with the native CPU.
    std::uint64_t instructions() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace tandem::api

#endif
