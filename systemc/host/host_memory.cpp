// SPDX-License-Identifier: Apache-2.0
#include "systemc/host/host_memory.h"

#include <sys/mman.h>

#include <string>

#include "base/error.h"
#include "base/memory.h"
#include "systemc/kernel/plain_access.h"

namespace tandem::host {

namespace {

constexpr uint64_t kPageBytes = 4096;

std::span<uint8_t> map_pages(uint64_t bytes) {
    if (bytes == 0 || bytes % kPageBytes != 0) {
        throw UserError("host memory: expected a multiple of 4096 bytes, found " +
                        std::to_string(bytes));
    }
    void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) base::refuse_memory(bytes, "the host memory");
    return {static_cast<uint8_t*>(pages), bytes};
}

}  // namespace

HostMemory::HostMemory(sc_core::sc_module_name name, uint64_t base, uint64_t bytes)
    : sc_module(name), HostRam(base, map_pages(bytes)), in("in") {
    in.register_b_transport(this, &HostMemory::b_transport);
    in.register_transport_dbg(this, &HostMemory::transport_dbg);
    in.register_get_direct_mem_ptr(this, &HostMemory::get_direct_mem_ptr);
}

HostMemory::~HostMemory() { munmap(bytes().data(), bytes().size()); }

bool HostMemory::transfer(tlm::tlm_generic_payload& payload) {
    if (!contains(payload.get_address(), payload.get_data_length())) {
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return false;
    }
    if (!sim::is_plain(payload)) return false;
    sim::move_data(payload, bytes().data() + payload.get_address());
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return true;
}

void HostMemory::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    payload.set_dmi_allowed(transfer(payload));
}

unsigned HostMemory::transport_dbg(tlm::tlm_generic_payload& payload) {
    return transfer(payload) ? payload.get_data_length() : 0;
}

bool HostMemory::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
    dmi.set_start_address(0);
    dmi.set_end_address(bytes().size() - 1);
    if (payload.get_address() >= bytes().size()) {
        dmi.set_start_address(bytes().size());
        dmi.set_end_address(~sc_dt::uint64{0});
        return false;
    }
    dmi.set_dmi_ptr(bytes().data());
    dmi.allow_read_write();
    return true;
}

}  // namespace tandem::host
