// SPDX-License-Identifier: Apache-2.0
// What all targets of the model have in common: no byte enables, no streaming, and TLM_IGNORE moves
// nothing.
#pragma once

#include <cstdint>
#include <cstring>
#include <tlm>

namespace tandem::sim {

/// False, with the response set: the transaction asks for byte enables, or streams.
inline bool is_plain(tlm::tlm_generic_payload& payload) {
    if (payload.get_byte_enable_ptr() != nullptr)
        payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    else if (payload.get_streaming_width() < payload.get_data_length())
        payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    else
        return true;
    return false;
}

/// The same for a target of 32-bit registers: anything but one aligned word is refused.
inline bool is_plain_word(tlm::tlm_generic_payload& payload) {
    if (!is_plain(payload)) return false;
    if (payload.get_data_length() == 4 && payload.get_address() % 4 == 0) return true;
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return false;
}

/// Moves the payload's data from or to `bytes`, as its command says.
inline void move_data(tlm::tlm_generic_payload& payload, uint8_t* bytes) {
    if (payload.is_read()) std::memcpy(payload.get_data_ptr(), bytes, payload.get_data_length());
    if (payload.is_write()) std::memcpy(bytes, payload.get_data_ptr(), payload.get_data_length());
}

}  // namespace tandem::sim
