// SPDX-License-Identifier: Apache-2.0
// Routes by the address map of platform.h and makes addresses relative to their target. Untimed, no
// arbitration. A transaction that is not wholly inside one region: TLM_ADDRESS_ERROR_RESPONSE.
#pragma once

#include <tlm.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <systemc>

namespace tandem::host {

class HostBus : public sc_core::sc_module {
  public:
    tlm_utils::simple_target_socket<HostBus> cpu_in;  ///< sees all regions
    tlm_utils::simple_target_socket<HostBus> dma_in;  ///< sees memory only

    tlm_utils::simple_initiator_socket<HostBus> memory_out;
    tlm_utils::simple_initiator_socket<HostBus> registers_out;  ///< of the TPU
    tlm_utils::simple_initiator_socket<HostBus> device_out;     ///< platform device

    HostBus(sc_core::sc_module_name name, uint64_t memory_bytes);

  private:
    using Socket = tlm_utils::simple_initiator_socket<HostBus>;
    struct Region {
        uint64_t base = 0;
        uint64_t bytes = 0;
        Socket* socket = nullptr;
    };

    const Region* find(uint64_t address, uint64_t length, bool from_cpu) const;
    const Region* route(tlm::tlm_generic_payload& payload, bool from_cpu) const;
    void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay, bool from_cpu);
    unsigned transport_dbg(tlm::tlm_generic_payload& payload, bool from_cpu);
    bool direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi, bool from_cpu);
    /// Direct access to memory that the memory takes back; addresses relative to it.
    void invalidate(sc_dt::uint64 start, sc_dt::uint64 end);

    void cpu_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    void dma_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned cpu_transport_dbg(tlm::tlm_generic_payload& payload);
    unsigned dma_transport_dbg(tlm::tlm_generic_payload& payload);
    bool cpu_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
    bool dma_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);

    Region memory_;
    Region registers_;
    Region device_;
};

}  // namespace tandem::host
