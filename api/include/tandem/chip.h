// SPDX-License-Identifier: Apache-2.0
// A TPU chip for a SystemC platform. Ports and timing: docs/recipes/virtual_platform.md; registers:
// docs/registers.md.
#ifndef TANDEM_CHIP_H
#define TANDEM_CHIP_H

#include <cstdint>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>

namespace tandem::api {

struct ChipOptions {
    std::string chip = "test_16x16";  ///< a shipped chip by name, or a chip file
    /// "functional"; "timing" moves no data: transactions of host_out are TLM_IGNORE.
    std::string mode = "functional";
    /// Of the programs that run: "int8" or "bf16"; empty: the type of the chip's arrays.
    std::string dtype{};
    std::string backend = "tlm";  ///< of the MAC arrays: "tlm", "rtl", "tandem" (both, compared)
};

/// SystemC's time resolution must be 1 fs: the first module sets it, and throws where an sc_time
/// has fixed another one before (set_time_resolution() in tandem/systemc.h).
class Chip : public sc_core::sc_module {
  public:
    tlm::tlm_target_socket<> registers_in;  ///< aligned 32-bit accesses, addresses from 0
    tlm::tlm_initiator_socket<> host_out;   ///< host memory, at the bus addresses the driver gave
    sc_core::sc_out<bool> irq_out;          ///< level-sensitive, active high

    /// Throws std::runtime_error for what does not exist or does not go together. Presets of
    /// parameters (tandem/parameters.h) go before the options.
    explicit Chip(sc_core::sc_module_name name, const ChipOptions& options = {});
    ~Chip() override;
    Chip(const Chip&) = delete;
    Chip& operator=(const Chip&) = delete;

    /// Of all programs so far, in cycles of the chip's clock.
    std::uint64_t program_cycles() const;
    /// What RTL and model differ in, or which assertion of the RTL failed; then the simulation has
    /// been stopped. Empty: nothing.
    std::string failure() const;
    /// Accumulator rows compared; 0 for a backend other than "tandem".
    std::uint64_t rows_compared() const;

  private:
    void end_of_simulation() override;

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace tandem::api

#endif
