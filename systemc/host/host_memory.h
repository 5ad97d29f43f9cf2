// SPDX-License-Identifier: Apache-2.0
// The host's RAM. Untimed: what a transfer costs is the business of the link that carries it.
#pragma once

#include <tlm.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <systemc>

#include "systemc/host/host_ram.h"

namespace tandem::host {

class HostMemory : public sc_core::sc_module, public HostRam {
  public:
    /// Takes addresses relative to the start of the RAM. Beyond it: TLM_ADDRESS_ERROR_RESPONSE.
    tlm_utils::simple_target_socket<HostMemory> in;

    /// `base` is the bus address of the first byte. Pages cost nothing until they are written.
    /// Throws UserError when `bytes` is not a multiple of 4096, is zero, or cannot be had.
    HostMemory(sc_core::sc_module_name name, uint64_t base, uint64_t bytes);
    ~HostMemory() override;
    HostMemory(const HostMemory&) = delete;
    HostMemory& operator=(const HostMemory&) = delete;

  private:
    bool transfer(tlm::tlm_generic_payload& payload);
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned transport_dbg(tlm::tlm_generic_payload& payload);
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
};

}  // namespace tandem::host
