// SPDX-License-Identifier: Apache-2.0
#include "systemc/host/host_memory.h"

#include <sys/mman.h>

#include <cstring>
#include <string>

#include "base/error.h"

namespace tandem::host {

namespace {

constexpr uint64_t kPageBytes = 4096;

uint8_t* map_pages(uint64_t bytes) {
    if (bytes == 0 || bytes % kPageBytes != 0) {
        throw UserError("host memory: expected a multiple of 4096 bytes, found " +
                        std::to_string(bytes));
    }
    void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) {
        throw UserError("host memory: the system refuses " + std::to_string(bytes) + " bytes");
    }
    return static_cast<uint8_t*>(pages);
}

}  // namespace

HostMemory::HostMemory(sc_core::sc_module_name name, uint64_t base, uint64_t bytes)
    : sc_module(name), in("in"), base_(base), size_(bytes), data_(map_pages(bytes)) {
    in.register_b_transport(this, &HostMemory::b_transport);
    in.register_transport_dbg(this, &HostMemory::transport_dbg);
    in.register_get_direct_mem_ptr(this, &HostMemory::get_direct_mem_ptr);
}

HostMemory::~HostMemory() { munmap(data_, size_); }

bool HostMemory::contains(uint64_t offset, uint64_t count) const {
    return offset <= size_ && count <= size_ - offset;
}

std::span<uint8_t> HostMemory::at(uint64_t bus_address, uint64_t count) {
    if (bus_address < base_ || !contains(bus_address - base_, count)) return {};
    return {data_ + (bus_address - base_), count};
}

bool HostMemory::transfer(tlm::tlm_generic_payload& payload) {
    const unsigned length = payload.get_data_length();
    if (!contains(payload.get_address(), length)) {
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return false;
    }
    if (payload.get_byte_enable_ptr() != nullptr) {
        payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
        return false;
    }
    if (payload.get_streaming_width() < length) {
        payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
        return false;
    }
    uint8_t* bytes = data_ + payload.get_address();
    uint8_t* data = payload.get_data_ptr();
    // A transaction without data only takes its time (timing mode).
    if (data != nullptr && payload.is_read()) std::memcpy(data, bytes, length);
    if (data != nullptr && payload.is_write()) std::memcpy(bytes, data, length);
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
    dmi.set_end_address(size_ - 1);
    if (payload.get_address() >= size_) {
        dmi.set_start_address(size_);
        dmi.set_end_address(~sc_dt::uint64{0});
        return false;
    }
    dmi.set_dmi_ptr(data_);
    dmi.allow_read_write();
    return true;
}

}  // namespace tandem::host
