// SPDX-License-Identifier: Apache-2.0
#include "testbench/support/tlm_checker.h"

#include <algorithm>

namespace tandem::testbench {
namespace {

constexpr unsigned kMostBytes = 64 * 1024;

bool is_ignore(const tlm::tlm_generic_payload& payload) {
    return payload.get_command() == tlm::TLM_IGNORE_COMMAND;
}

bool is_byte_enable(unsigned char byte) { return byte == 0 || byte == 0xff; }

}  // namespace

TlmChecker::Snapshot::Snapshot(const tlm::tlm_generic_payload& payload)
    : command(payload.get_command()),
      address(payload.get_address()),
      data(payload.get_data_ptr()),
      length(payload.get_data_length()),
      streaming_width(payload.get_streaming_width()),
      byte_enable_length(payload.get_byte_enable_length()),
      byte_enables(payload.get_byte_enable_ptr()) {
    // Whoever ignores need not have the bytes that the length says.
    if (payload.is_write() && data != nullptr)
        bytes.assign(data, data + std::min(length, kMostBytes));
}

TlmChecker::TlmChecker(sc_core::sc_module_name name, ProtocolLog& log, std::string path)
    : sc_module(name), log_(log), path_(std::move(path)) {
    in.bind(*this);
    out.bind(*this);
    log_.calls[path_];
}

void TlmChecker::expect(bool holds, const char* rule) const {
    if (!holds) log_.add(path_, rule);
}

void TlmChecker::check_attributes(const tlm::tlm_generic_payload& payload) const {
    const bool moves = payload.is_read() || payload.is_write();
    expect(moves || is_ignore(payload), "the command is none of the three");
    expect(payload.get_data_ptr() != nullptr, "the data pointer is null");
    expect(payload.get_data_length() != 0 || !moves, "the data length of a read or write is 0");
    expect(payload.get_streaming_width() != 0 || !moves, "the streaming width is 0");
    const unsigned char* enables = payload.get_byte_enable_ptr();
    if (enables == nullptr) return;
    expect(payload.get_byte_enable_length() != 0, "byte enables of length 0");
    expect(std::all_of(enables, enables + payload.get_byte_enable_length(), is_byte_enable),
           "a byte enable is neither 0 nor 0xff");
}

void TlmChecker::check_request(const tlm::tlm_generic_payload& payload) const {
    check_attributes(payload);
    expect(payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE,
           "the response status is set before the request");
    expect(!payload.is_dmi_allowed(), "the DMI hint is set before the request");
}

void TlmChecker::check_unchanged(const Snapshot& before,
                                 const tlm::tlm_generic_payload& payload) const {
    expect(payload.get_command() == before.command, "the command was changed");
    expect(payload.get_address() == before.address, "the address was changed");
    expect(payload.get_data_ptr() == before.data, "the data pointer was changed");
    expect(payload.get_data_length() == before.length, "the data length was changed");
    expect(payload.get_streaming_width() == before.streaming_width,
           "the streaming width was changed");
    expect(payload.get_byte_enable_ptr() == before.byte_enables &&
               payload.get_byte_enable_length() == before.byte_enable_length,
           "the byte enables were changed");
    expect(std::equal(before.bytes.begin(), before.bytes.end(), before.data),
           "the target wrote into the data of a write");
}

void TlmChecker::check_response(const Snapshot& before,
                                const tlm::tlm_generic_payload& payload) const {
    check_unchanged(before, payload);
    const auto status = payload.get_response_status();
    expect(status != tlm::TLM_INCOMPLETE_RESPONSE, "the target has set no response status");
    expect(status >= tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE && status <= tlm::TLM_OK_RESPONSE,
           "the response status is none of the standard");
    expect(status == tlm::TLM_OK_RESPONSE || !payload.is_dmi_allowed(),
           "a DMI hint with an error response");
}

void TlmChecker::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    ++log_.calls[path_];
    check_request(payload);
    const Snapshot before(payload);
    const sc_core::sc_time begin = sc_core::sc_time_stamp() + delay;
    out->b_transport(payload, delay);
    expect(sc_core::sc_time_stamp() + delay >= begin, "the target has turned time back");
    check_response(before, payload);
}

unsigned TlmChecker::transport_dbg(tlm::tlm_generic_payload& payload) {
    ++log_.debug_calls;
    check_attributes(payload);
    const Snapshot before(payload);
    const sc_core::sc_time begin = sc_core::sc_time_stamp();
    const auto delta = sc_core::sc_delta_count();
    const unsigned count = out->transport_dbg(payload);
    expect(sc_core::sc_time_stamp() == begin && sc_core::sc_delta_count() == delta,
           "a debug access took time");
    expect(count <= payload.get_data_length(), "a debug access of more bytes than asked for");
    check_unchanged(before, payload);
    return count;
}

void TlmChecker::check_granted(const tlm::tlm_generic_payload& payload,
                               const tlm::tlm_dmi& dmi) const {
    expect(dmi.get_dmi_ptr() != nullptr, "direct access at no pointer");
    expect(!payload.is_read() || dmi.is_read_allowed(), "direct access that may not read");
    expect(!payload.is_write() || dmi.is_write_allowed(), "direct access that may not write");
    expect(!dmi.is_none_allowed(), "direct access to nothing");
}

bool TlmChecker::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
    ++log_.dmi_calls;
    const sc_dt::uint64 address = payload.get_address();
    const auto command = payload.get_command();
    const sc_core::sc_time begin = sc_core::sc_time_stamp();
    const bool granted = out->get_direct_mem_ptr(payload, dmi);
    expect(sc_core::sc_time_stamp() == begin, "a request for direct access took time");
    expect(payload.get_address() == address && payload.get_command() == command,
           "a request for direct access changed the payload");
    expect(dmi.get_start_address() <= address && address <= dmi.get_end_address(),
           "the range of direct access does not hold the address asked for");
    if (granted) check_granted(payload, dmi);
    return granted;
}

void TlmChecker::invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) {
    expect(start <= end, "an empty range of direct access is taken back");
    in->invalidate_direct_mem_ptr(start, end);
}

void TlmChecker::begin_flight(tlm::tlm_generic_payload& payload) {
    check_request(payload);
    expect(payload.has_mm(), "nb_transport with a payload that nobody manages");
    for (const auto& [other, flight] : flights_)
        expect(flight.phase != tlm::BEGIN_REQ, "a request before the last one was accepted");
    flights_.insert_or_assign(&payload, Flight{Snapshot(payload), tlm::BEGIN_REQ});
}

void TlmChecker::take_target_phase(tlm::tlm_generic_payload& payload, const tlm::tlm_phase& phase) {
    const auto found = flights_.find(&payload);
    if (found == flights_.end()) return expect(false, "a phase of no transaction");
    Flight& flight = found->second;
    const bool in_request = flight.phase == tlm::BEGIN_REQ;
    if (phase == tlm::END_REQ)
        expect(in_request, "END_REQ without BEGIN_REQ");
    else if (phase == tlm::BEGIN_RESP)
        expect(in_request || flight.phase == tlm::END_REQ, "BEGIN_RESP without a request");
    else
        expect(false, "a phase that is not the target's to send");
    if (phase == tlm::BEGIN_RESP) check_response(flight.snapshot, payload);
    flight.phase = phase;
}

void TlmChecker::end_flight(tlm::tlm_generic_payload& payload) {
    const auto found = flights_.find(&payload);
    if (found == flights_.end()) return expect(false, "the end of no transaction");
    check_response(found->second.snapshot, payload);
    flights_.erase(found);
}

tlm::tlm_sync_enum TlmChecker::nb_transport_fw(tlm::tlm_generic_payload& payload,
                                               tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    ++log_.calls[path_];
    const bool ends = phase == tlm::END_RESP;
    if (phase == tlm::BEGIN_REQ) {
        begin_flight(payload);
    } else {
        expect(ends, "a phase that is not the initiator's to send");
        const auto found = flights_.find(&payload);
        expect(found != flights_.end() && found->second.phase == tlm::BEGIN_RESP,
               "END_RESP without BEGIN_RESP");
    }
    const sc_core::sc_time before = delay;
    const auto begin = sc_core::sc_time_stamp();
    const auto result = out->nb_transport_fw(payload, phase, delay);
    expect(sc_core::sc_time_stamp() == begin, "nb_transport_fw took time");
    expect(result == tlm::TLM_ACCEPTED || delay >= before, "the target has turned time back");
    if (result == tlm::TLM_COMPLETED || ends)
        end_flight(payload);
    else if (result == tlm::TLM_UPDATED)
        take_target_phase(payload, phase);
    return result;
}

tlm::tlm_sync_enum TlmChecker::nb_transport_bw(tlm::tlm_generic_payload& payload,
                                               tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    take_target_phase(payload, phase);
    const bool responds = phase == tlm::BEGIN_RESP;
    const auto result = in->nb_transport_bw(payload, phase, delay);
    expect(result != tlm::TLM_UPDATED || (responds && phase == tlm::END_RESP),
           "an initiator answers with a phase other than END_RESP");
    if (result == tlm::TLM_COMPLETED || result == tlm::TLM_UPDATED) end_flight(payload);
    return result;
}

sim::Connect Checkers::connect() {
    return [this](tlm::tlm_initiator_socket<>& initiator, tlm::tlm_base_target_socket_b<>& target) {
        const std::string path = std::string(initiator.name()) + " -> " +
                                 dynamic_cast<sc_core::sc_object&>(target).name();
        auto& checker = checkers_.emplace_back(
            std::make_unique<TlmChecker>(sc_core::sc_gen_unique_name("checker"), log, path));
        initiator.bind(checker->in);
        checker->out.bind(target);
    };
}

}  // namespace tandem::testbench
