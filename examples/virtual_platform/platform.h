// SPDX-License-Identifier: Apache-2.0
// What a platform has anyway: a memory and a bus, plain TLM-2.0.
#pragma once

#include <tlm_utils/multi_passthrough_initiator_socket.h>
#include <tlm_utils/multi_passthrough_target_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <cstring>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

struct Memory : sc_core::sc_module {
    tlm_utils::simple_target_socket<Memory> in{"in"};
    std::vector<std::uint8_t> bytes;

    Memory(sc_core::sc_module_name name, std::size_t size) : sc_module(name), bytes(size) {
        in.register_b_transport(this, &Memory::b_transport);
    }
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        std::uint8_t* at = bytes.data() + payload.get_address();  // the bus lets nothing else pass
        if (payload.is_read()) std::memcpy(payload.get_data_ptr(), at, payload.get_data_length());
        if (payload.is_write()) std::memcpy(at, payload.get_data_ptr(), payload.get_data_length());
        delay += sc_core::sc_time(50, sc_core::SC_NS);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
};

/// Any number of initiators; the n-th range belongs to the n-th target that is bound.
struct Bus : sc_core::sc_module {
    using Range = std::pair<std::uint64_t, std::uint64_t>;  // base, bytes
    tlm_utils::multi_passthrough_target_socket<Bus> in{"in"};
    tlm_utils::multi_passthrough_initiator_socket<Bus> out{"out"};
    std::vector<Range> map;

    Bus(sc_core::sc_module_name name, std::vector<Range> ranges)
        : sc_module(name), map(std::move(ranges)) {
        in.register_b_transport(this, &Bus::b_transport);
    }
    void b_transport(int, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        const std::uint64_t address = payload.get_address();
        for (std::size_t i = 0; i < map.size(); ++i) {
            const auto [base, bytes] = map[i];
            if (address < base || address - base + payload.get_data_length() > bytes) continue;
            payload.set_address(address - base);
            out[static_cast<int>(i)]->b_transport(payload, delay);
            payload.set_address(address);
            return;
        }
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    }
};
