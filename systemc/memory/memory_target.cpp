// SPDX-License-Identifier: Apache-2.0
#include "systemc/memory/memory_target.h"

#include <cstring>

namespace tandem::sim {

MemoryTarget::MemoryTarget(sc_core::sc_module_name name, uint64_t bytes)
    : sc_module(name), memory_in("memory_in"), store_(bytes) {
    memory_in.register_b_transport(this, &MemoryTarget::b_transport);
    memory_in.register_transport_dbg(this, &MemoryTarget::transport_dbg);
    memory_in.register_get_direct_mem_ptr(this, &MemoryTarget::get_direct_mem_ptr);
}

bool MemoryTarget::in_range(const tlm::tlm_generic_payload& transaction) const {
    const uint64_t address = transaction.get_address();
    const Booked* booked = transaction.get_extension<Booked>();
    const uint64_t extent =
        booked != nullptr ? booked->extent : uint64_t{transaction.get_data_length()};
    return address <= store_.size() && extent <= store_.size() - address;
}

void MemoryTarget::copy(tlm::tlm_generic_payload& transaction) {
    uint8_t* at = store_.bytes().data() + transaction.get_address();
    if (transaction.is_write())
        std::memcpy(at, transaction.get_data_ptr(), transaction.get_data_length());
    else if (transaction.is_read())
        std::memcpy(transaction.get_data_ptr(), at, transaction.get_data_length());
}

void MemoryTarget::b_transport(int, tlm::tlm_generic_payload& transaction,
                               sc_core::sc_time& delay) {
    if (!in_range(transaction)) {
        transaction.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return;
    }
    if (transaction.get_byte_enable_ptr() != nullptr) {
        transaction.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
        return;
    }
    const unsigned bytes = transaction.get_data_length();
    // A transaction without data only takes its time (timing mode).
    if (transaction.get_data_ptr() != nullptr) copy(transaction);
    (transaction.is_write() ? bytes_written_ : bytes_read_) += bytes;
    if (Booked* booked = transaction.get_extension<Booked>())
        booked->booking = book({transaction.get_address(), bytes, booked->urgent}, booked->turn);
    else
        delay += access_time({transaction.get_address(), bytes});
    transaction.set_dmi_allowed(true);
    transaction.set_response_status(tlm::TLM_OK_RESPONSE);
}

unsigned MemoryTarget::transport_dbg(int, tlm::tlm_generic_payload& transaction) {
    if (!in_range(transaction)) return 0;
    copy(transaction);
    return transaction.get_data_length();
}

bool MemoryTarget::get_direct_mem_ptr(int, tlm::tlm_generic_payload&, tlm::tlm_dmi& dmi) {
    dmi.set_dmi_ptr(store_.bytes().data());
    dmi.set_start_address(0);
    dmi.set_end_address(store_.size() - 1);
    dmi.allow_read_write();
    return true;
}

}  // namespace tandem::sim
