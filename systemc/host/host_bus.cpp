// SPDX-License-Identifier: Apache-2.0
#include "systemc/host/host_bus.h"

#include <algorithm>

#include "firmware/include/tandem/platform.h"

namespace tandem::host {

HostBus::HostBus(sc_core::sc_module_name name, uint64_t memory_bytes)
    : sc_module(name),
      cpu_in("cpu_in"),
      dma_in("dma_in"),
      memory_out("memory_out"),
      registers_out("registers_out"),
      device_out("device_out"),
      memory_{platform::kRamBase, memory_bytes, &memory_out},
      registers_{platform::kTpuBase, platform::kTpuBytes, &registers_out},
      device_{platform::kDeviceBase, platform::kDeviceBytes, &device_out} {
    cpu_in.register_b_transport(this, &HostBus::cpu_transport);
    cpu_in.register_transport_dbg(this, &HostBus::cpu_transport_dbg);
    cpu_in.register_get_direct_mem_ptr(this, &HostBus::cpu_direct_mem_ptr);
    dma_in.register_b_transport(this, &HostBus::dma_transport);
    dma_in.register_transport_dbg(this, &HostBus::dma_transport_dbg);
    dma_in.register_get_direct_mem_ptr(this, &HostBus::dma_direct_mem_ptr);
    memory_out.register_invalidate_direct_mem_ptr(this, &HostBus::invalidate);
}

const HostBus::Region* HostBus::find(uint64_t address, uint64_t length, bool from_cpu) const {
    for (const Region* region : {&memory_, &registers_, &device_}) {
        if (!from_cpu && region != &memory_) continue;
        if (address < region->base || address - region->base >= region->bytes) continue;
        return length <= region->bytes - (address - region->base) ? region : nullptr;
    }
    return nullptr;
}

const HostBus::Region* HostBus::route(tlm::tlm_generic_payload& payload, bool from_cpu) const {
    const Region* region = find(payload.get_address(), payload.get_data_length(), from_cpu);
    if (region == nullptr) payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return region;
}

void HostBus::transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay, bool from_cpu) {
    const Region* region = route(payload, from_cpu);
    if (region == nullptr) return;
    // The initiator may look at its payload afterwards: the address is given back as it was.
    const uint64_t address = payload.get_address();
    payload.set_address(address - region->base);
    (*region->socket)->b_transport(payload, delay);
    payload.set_address(address);
}

unsigned HostBus::transport_dbg(tlm::tlm_generic_payload& payload, bool from_cpu) {
    const Region* region = route(payload, from_cpu);
    if (region == nullptr) return 0;
    const uint64_t address = payload.get_address();
    payload.set_address(address - region->base);
    const unsigned count = (*region->socket)->transport_dbg(payload);
    payload.set_address(address);
    return count;
}

bool HostBus::direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi, bool from_cpu) {
    const uint64_t address = payload.get_address();
    const Region* region = find(address, 1, from_cpu);
    if (region != &memory_) {
        dmi.set_start_address(address);
        dmi.set_end_address(address);
        return false;
    }
    payload.set_address(address - region->base);
    const bool granted = memory_out->get_direct_mem_ptr(payload, dmi);
    payload.set_address(address);
    dmi.set_start_address(dmi.get_start_address() + region->base);
    dmi.set_end_address(dmi.get_end_address() + region->base);
    return granted;
}

void HostBus::invalidate(sc_dt::uint64 start, sc_dt::uint64 end) {
    const uint64_t last = std::min<uint64_t>(end, memory_.bytes - 1);
    cpu_in->invalidate_direct_mem_ptr(start + memory_.base, last + memory_.base);
    dma_in->invalidate_direct_mem_ptr(start + memory_.base, last + memory_.base);
}

void HostBus::cpu_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    transport(payload, delay, true);
}

void HostBus::dma_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    transport(payload, delay, false);
}

unsigned HostBus::cpu_transport_dbg(tlm::tlm_generic_payload& payload) {
    return transport_dbg(payload, true);
}

unsigned HostBus::dma_transport_dbg(tlm::tlm_generic_payload& payload) {
    return transport_dbg(payload, false);
}

bool HostBus::cpu_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
    return direct_mem_ptr(payload, dmi, true);
}

bool HostBus::dma_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
    return direct_mem_ptr(payload, dmi, false);
}

}  // namespace tandem::host
