// SPDX-License-Identifier: Apache-2.0
// A transparent module between an initiator and a target that checks both against the TLM-2.0 base
// protocol (IEEE 1666, clauses 11 and 14 to 16): attributes, responses, time, phases, direct
// access, debug transport. Stricter than the standard in one point: an address that was changed on
// the way has to be given back as it was.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "systemc/kernel/connect.h"

namespace tandem::testbench {

/// What the checkers of a test have seen.
struct ProtocolLog {
    std::vector<std::string> violations;  ///< "module: rule"; the first hundred
    /// Calls by socket ("initiator -> target"): a checker that saw nothing has proven nothing.
    std::map<std::string, uint64_t> calls;
    uint64_t debug_calls = 0, dmi_calls = 0;

    void add(const std::string& where, const std::string& rule) {
        if (violations.size() < 100) violations.push_back(where + ": " + rule);
    }
    std::string text() const {
        std::string all;
        for (const auto& violation : violations) all += violation + "\n";
        return all;
    }
};

class TlmChecker : public sc_core::sc_module,
                   public tlm::tlm_fw_transport_if<>,
                   public tlm::tlm_bw_transport_if<> {
  public:
    tlm::tlm_target_socket<> in{"in"};
    tlm::tlm_initiator_socket<> out{"out"};

    /// `path` names the pair of sockets in the log.
    TlmChecker(sc_core::sc_module_name name, ProtocolLog& log, std::string path);

  private:
    /// The attributes of a payload that nobody may change, and its data.
    struct Snapshot {
        explicit Snapshot(const tlm::tlm_generic_payload& payload);
        tlm::tlm_command command;
        sc_dt::uint64 address;
        unsigned char* data;
        unsigned length, streaming_width, byte_enable_length;
        unsigned char* byte_enables;
        std::vector<unsigned char> bytes;  ///< of a write or TLM_IGNORE: the first 64 KiB
    };
    /// A transaction of nb_transport.
    struct Flight {
        Snapshot snapshot;
        tlm::tlm_phase phase;
    };

    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    unsigned transport_dbg(tlm::tlm_generic_payload& payload) override;
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override;
    void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) override;

    void expect(bool holds, const char* rule) const;
    void check_request(const tlm::tlm_generic_payload& payload) const;
    void check_attributes(const tlm::tlm_generic_payload& payload) const;
    void check_unchanged(const Snapshot& before, const tlm::tlm_generic_payload& payload) const;
    void check_response(const Snapshot& before, const tlm::tlm_generic_payload& payload) const;
    void check_granted(const tlm::tlm_generic_payload& payload, const tlm::tlm_dmi& dmi) const;

    void begin_flight(tlm::tlm_generic_payload& payload);
    /// A phase that came from the target: by a call, or as TLM_UPDATED.
    void take_target_phase(tlm::tlm_generic_payload& payload, const tlm::tlm_phase& phase);
    void end_flight(tlm::tlm_generic_payload& payload);

    ProtocolLog& log_;
    const std::string path_;
    std::map<tlm::tlm_generic_payload*, Flight> flights_;
};

/// Puts a checker between any two sockets; keeps the checkers.
class Checkers {
  public:
    sim::Connect connect();
    ProtocolLog log;

  private:
    std::vector<std::unique_ptr<TlmChecker>> checkers_;
};

}  // namespace tandem::testbench
