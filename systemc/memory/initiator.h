// SPDX-License-Identifier: Apache-2.0
// Initiator side of a memory access, with less ceremony than the generic payload asks for.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <systemc>
#include <tlm>

#include "systemc/memory/booked.h"

namespace tandem::sim {

class MemoryInitiator : public sc_core::sc_module {
  public:
    tlm_utils::simple_initiator_socket<MemoryInitiator> memory_out;

    explicit MemoryInitiator(sc_core::sc_module_name name)
        : sc_module(name), memory_out("memory_out") {}

    /// Reads into `data` (null: time only, a TLM_IGNORE). Adds the time it takes to `delay`; false
    /// when the target refused. Does not wait.
    bool read(uint64_t address, uint8_t* data, uint64_t bytes, sc_core::sc_time& delay) {
        return transport(tlm::TLM_READ_COMMAND, address, data, bytes, delay);
    }
    /// The same, but the time is booked in `booked`, with `booked.turn` among the
    /// requests of this instant.
    bool book_read(uint64_t address, uint8_t* data, uint64_t bytes, Booked& booked) {
        sc_core::sc_time none;
        return transport(tlm::TLM_READ_COMMAND, address, data, bytes, none, &booked);
    }
    bool book_write(uint64_t address, uint8_t* data, uint64_t bytes, Booked& booked) {
        sc_core::sc_time none;
        return transport(tlm::TLM_WRITE_COMMAND, address, data, bytes, none, &booked);
    }
    bool write(uint64_t address, uint8_t* data, uint64_t bytes, sc_core::sc_time& delay) {
        return transport(tlm::TLM_WRITE_COMMAND, address, data, bytes, delay);
    }
    /// The target's bytes, by its direct memory interface. Empty when it offers none.
    std::span<uint8_t> direct() {
        tlm::tlm_generic_payload transaction;
        transaction.set_command(tlm::TLM_READ_COMMAND);
        tlm::tlm_dmi dmi;
        if (!memory_out->get_direct_mem_ptr(transaction, dmi)) return {};
        return {dmi.get_dmi_ptr(), dmi.get_end_address() - dmi.get_start_address() + 1};
    }

  private:
    bool transport(tlm::tlm_command command, uint64_t address, uint8_t* data, uint64_t bytes,
                   sc_core::sc_time& delay, Booked* booked = nullptr) {
        tlm::tlm_generic_payload transaction;
        // The base protocol knows no transfer without data, nor one of nothing.
        const bool moves = data != nullptr && bytes != 0;
        uint8_t nothing = 0;
        const auto length =
            static_cast<unsigned>(std::min<uint64_t>(bytes, std::numeric_limits<unsigned>::max()));
        if (booked != nullptr) {
            booked->bytes = bytes;
            booked->write = command == tlm::TLM_WRITE_COMMAND;
            transaction.set_extension(booked);
        }
        transaction.set_command(moves ? command : tlm::TLM_IGNORE_COMMAND);
        transaction.set_address(address);
        transaction.set_data_ptr(moves ? data : &nothing);
        transaction.set_data_length(length);
        transaction.set_streaming_width(length);
        memory_out->b_transport(transaction, delay);
        if (booked != nullptr) transaction.clear_extension(booked);  // it is not the payload's own
        return transaction.is_response_ok();
    }
};

}  // namespace tandem::sim
