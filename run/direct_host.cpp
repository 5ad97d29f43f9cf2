// SPDX-License-Identifier: Apache-2.0
#include "run/direct_host.h"

#include "systemc/kernel/plain_access.h"

namespace tandem::run {

DirectHost::DirectHost(sc_core::sc_module_name name, uint64_t base, uint64_t bytes)
    : sc_module(name), base_(base) {
    if (bytes != 0) store_ = std::make_unique<sim::ByteStore>(bytes);
    in.register_b_transport(this, &DirectHost::b_transport);
}

void DirectHost::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    const uint64_t at = payload.get_address() - base_, length = payload.get_data_length();
    const bool inside =
        store_ == nullptr ||
        (payload.get_address() >= base_ && at <= store_->size() && length <= store_->size() - at);
    payload.set_response_status(inside ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    if (!inside || !sim::is_plain(payload) || store_ == nullptr) return;
    sim::move_data(payload, store_->bytes().data() + at);
}

}  // namespace tandem::run
