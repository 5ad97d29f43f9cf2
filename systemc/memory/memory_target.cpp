// SPDX-License-Identifier: Apache-2.0
#include "systemc/memory/memory_target.h"

#include "systemc/kernel/plain_access.h"

namespace tandem::sim {

MemoryTarget::MemoryTarget(sc_core::sc_module_name name, uint64_t bytes)
    : sc_module(name), memory_in("memory_in"), store_(bytes) {
    memory_in.register_b_transport(this, &MemoryTarget::b_transport);
    memory_in.register_nb_transport_fw(this, &MemoryTarget::nb_transport);
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

void MemoryTarget::count(const tlm::tlm_generic_payload& transaction) {
    const Booked* booked = transaction.get_extension<Booked>();
    if (booked != nullptr)
        (booked->write ? bytes_written_ : bytes_read_) += booked->bytes;
    else if (transaction.is_write())
        bytes_written_ += transaction.get_data_length();
    else if (transaction.is_read())
        bytes_read_ += transaction.get_data_length();
}

void MemoryTarget::b_transport(int, tlm::tlm_generic_payload& transaction,
                               sc_core::sc_time& delay) {
    if (!in_range(transaction)) {
        transaction.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return;
    }
    if (!is_plain(transaction)) return;
    move_data(transaction, store_.bytes().data() + transaction.get_address());
    count(transaction);
    if (Booked* booked = transaction.get_extension<Booked>())
        booked->booking =
            book({transaction.get_address(), booked->bytes, booked->urgent}, booked->turn);
    else
        delay += access_time({transaction.get_address(), transaction.get_data_length()});
    transaction.set_dmi_allowed(true);
    transaction.set_response_status(tlm::TLM_OK_RESPONSE);
}

/// Nothing here waits: a request is complete when it has come.
tlm::tlm_sync_enum MemoryTarget::nb_transport(int id, tlm::tlm_generic_payload& transaction,
                                              tlm::tlm_phase&, sc_core::sc_time& delay) {
    b_transport(id, transaction, delay);
    return tlm::TLM_COMPLETED;
}

unsigned MemoryTarget::transport_dbg(int, tlm::tlm_generic_payload& transaction) {
    if (!in_range(transaction) || !is_plain(transaction)) return 0;
    move_data(transaction, store_.bytes().data() + transaction.get_address());
    return transaction.get_data_length();
}

bool MemoryTarget::get_direct_mem_ptr(int, tlm::tlm_generic_payload& transaction,
                                      tlm::tlm_dmi& dmi) {
    const bool inside = transaction.get_address() < store_.size();
    dmi.set_start_address(inside ? 0 : store_.size());
    dmi.set_end_address(inside ? store_.size() - 1 : ~sc_dt::uint64{0});
    dmi.allow_read_write();
    if (inside) dmi.set_dmi_ptr(store_.bytes().data());
    return inside;
}

}  // namespace tandem::sim
