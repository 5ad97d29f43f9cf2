// SPDX-License-Identifier: Apache-2.0
// The protocol checker itself: each breach of a rule, by an initiator or a target, is seen, and
// nothing else is. One simulation per process.
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include "testbench/support/tlm_checker.h"

namespace tandem::testbench {
namespace {

using tlm::tlm_generic_payload;

/// Does what a test says.
struct Puppet : sc_core::sc_module {
    tlm_utils::simple_initiator_socket<Puppet> out{"out"};
    tlm_utils::simple_target_socket<Puppet> in{"in"};
    std::function<void(tlm_generic_payload&, sc_core::sc_time&)> serve;
    std::function<unsigned(tlm_generic_payload&)> debug;
    std::function<bool(tlm_generic_payload&, tlm::tlm_dmi&)> direct;
    std::function<tlm::tlm_sync_enum(tlm_generic_payload&, tlm::tlm_phase&)> forward;

    explicit Puppet(sc_core::sc_module_name name) : sc_module(name) {
        in.register_b_transport(this, &Puppet::b_transport);
        in.register_transport_dbg(this, &Puppet::transport_dbg);
        in.register_get_direct_mem_ptr(this, &Puppet::get_direct_mem_ptr);
        in.register_nb_transport_fw(this, &Puppet::nb_transport_fw);
        out.register_nb_transport_bw(this, &Puppet::nb_transport_bw);
    }
    void b_transport(tlm_generic_payload& payload, sc_core::sc_time& delay) {
        serve(payload, delay);
    }
    unsigned transport_dbg(tlm_generic_payload& payload) { return debug(payload); }
    bool get_direct_mem_ptr(tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
        return direct(payload, dmi);
    }
    tlm::tlm_sync_enum nb_transport_fw(tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time&) {
        return forward(payload, phase);
    }
    tlm::tlm_sync_enum nb_transport_bw(tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&) {
        return tlm::TLM_ACCEPTED;
    }
};

class Checking : public testing::Test {
  protected:
    Checking() {
        checkers_.connect()(puppet_.out, puppet_.in);
        puppet_.serve = [](tlm_generic_payload& payload, sc_core::sc_time&) {
            payload.set_response_status(tlm::TLM_OK_RESPONSE);
        };
        payload_.set_command(tlm::TLM_WRITE_COMMAND);
        payload_.set_address(16);
        payload_.set_data_ptr(data_);
        payload_.set_data_length(4);
        payload_.set_streaming_width(4);
    }
    /// Runs `act` in simulated time; what the checker has to say.
    std::string seen(const std::function<void()>& act) {
        sc_core::sc_spawn(act);
        sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US));
        return checkers_.log.text();
    }
    std::string transport() {
        return seen([this] {
            sc_core::sc_time delay(5, sc_core::SC_NS);
            puppet_.out->b_transport(payload_, delay);
        });
    }
    static void expect_one(const std::string& log, const std::string& rule) {
        EXPECT_EQ(log, "puppet.out -> puppet.in: " + rule + "\n");
    }

    Puppet puppet_{"puppet"};
    Checkers checkers_;
    tlm_generic_payload payload_;
    unsigned char data_[8] = {};
};

TEST_F(Checking, IsContentWithAGoodTransaction) { EXPECT_EQ(transport(), ""); }

TEST_F(Checking, SeesANullDataPointer) {
    payload_.set_data_ptr(nullptr);
    expect_one(transport(), "the data pointer is null");
}
TEST_F(Checking, SeesADataLengthOfZero) {
    payload_.set_data_length(0);
    expect_one(transport(), "the data length of a read or write is 0");
}
TEST_F(Checking, SeesAStreamingWidthOfZero) {
    payload_.set_streaming_width(0);
    expect_one(transport(), "the streaming width is 0");
}
TEST_F(Checking, SeesAStaleResponse) {
    payload_.set_response_status(tlm::TLM_OK_RESPONSE);
    expect_one(transport(), "the response status is set before the request");
}
TEST_F(Checking, SeesAStaleHint) {
    payload_.set_dmi_allowed(true);
    expect_one(transport(), "the DMI hint is set before the request");
}
TEST_F(Checking, SeesByteEnablesThatAreNone) {
    unsigned char enables[] = {0xff, 1};
    payload_.set_byte_enable_ptr(enables);
    payload_.set_byte_enable_length(2);
    expect_one(transport(), "a byte enable is neither 0 nor 0xff");
}
TEST_F(Checking, SeesAMissingResponse) {
    puppet_.serve = [](tlm_generic_payload&, sc_core::sc_time&) {};
    expect_one(transport(), "the target has set no response status");
}
TEST_F(Checking, SeesAChangedAddress) {
    puppet_.serve = [](tlm_generic_payload& payload, sc_core::sc_time&) {
        payload.set_address(0);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    };
    expect_one(transport(), "the address was changed");
}
TEST_F(Checking, SeesAChangedLength) {
    puppet_.serve = [](tlm_generic_payload& payload, sc_core::sc_time&) {
        payload.set_data_length(2);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    };
    expect_one(transport(), "the data length was changed");
}
TEST_F(Checking, SeesATargetThatWritesIntoAWrite) {
    puppet_.serve = [](tlm_generic_payload& payload, sc_core::sc_time&) {
        payload.get_data_ptr()[3] = 1;
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    };
    expect_one(transport(), "the target wrote into the data of a write");
}
TEST_F(Checking, SeesAHintWithAnError) {
    puppet_.serve = [](tlm_generic_payload& payload, sc_core::sc_time&) {
        payload.set_dmi_allowed(true);
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    };
    expect_one(transport(), "a DMI hint with an error response");
}
TEST_F(Checking, SeesTimeTurnedBack) {
    puppet_.serve = [](tlm_generic_payload& payload, sc_core::sc_time& delay) {
        delay = sc_core::sc_time(4, sc_core::SC_NS);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    };
    expect_one(transport(), "the target has turned time back");
}
TEST_F(Checking, LetsATargetWaitInsteadOfDelaying) {
    puppet_.serve = [](tlm_generic_payload& payload, sc_core::sc_time& delay) {
        sc_core::wait(delay);
        delay = sc_core::SC_ZERO_TIME;
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    };
    EXPECT_EQ(transport(), "");
}
TEST_F(Checking, SeesADebugAccessThatTakesTime) {
    puppet_.debug = [](tlm_generic_payload&) {
        sc_core::wait(1, sc_core::SC_NS);
        return 4u;
    };
    expect_one(seen([this] { puppet_.out->transport_dbg(payload_); }), "a debug access took time");
}
TEST_F(Checking, SeesADebugAccessOfTooMuch) {
    puppet_.debug = [](tlm_generic_payload&) { return 5u; };
    expect_one(seen([this] { puppet_.out->transport_dbg(payload_); }),
               "a debug access of more bytes than asked for");
}
TEST_F(Checking, SeesDirectAccessBesideTheAddress) {
    puppet_.direct = [this](tlm_generic_payload&, tlm::tlm_dmi& dmi) {
        dmi.set_dmi_ptr(data_);
        dmi.set_start_address(0);
        dmi.set_end_address(7);
        dmi.allow_read_write();
        return true;
    };
    tlm::tlm_dmi dmi;
    expect_one(seen([&] { puppet_.out->get_direct_mem_ptr(payload_, dmi); }),
               "the range of direct access does not hold the address asked for");
}
TEST_F(Checking, SeesDirectAccessThatMayNotWrite) {
    puppet_.direct = [this](tlm_generic_payload&, tlm::tlm_dmi& dmi) {
        dmi.set_dmi_ptr(data_);
        dmi.allow_read();
        return true;
    };
    tlm::tlm_dmi dmi;
    expect_one(seen([&] { puppet_.out->get_direct_mem_ptr(payload_, dmi); }),
               "direct access that may not write");
}

struct NoManager : tlm::tlm_mm_interface {
    void free(tlm_generic_payload*) override {}
};

class CheckingPhases : public Checking {
  protected:
    CheckingPhases() { payload_.set_mm(&manager_); }
    void send(tlm::tlm_phase phase) {
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        puppet_.out->nb_transport_fw(payload_, phase, delay);
    }
    void answer(tlm::tlm_phase phase) {
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        payload_.set_response_status(tlm::TLM_OK_RESPONSE);
        puppet_.in->nb_transport_bw(payload_, phase, delay);
    }
    void accept() {
        puppet_.forward = [](tlm_generic_payload&, tlm::tlm_phase&) { return tlm::TLM_ACCEPTED; };
    }
    NoManager manager_;
};

TEST_F(CheckingPhases, IsContentWithFourPhases) {
    accept();
    EXPECT_EQ(seen([this] {
                  send(tlm::BEGIN_REQ);
                  answer(tlm::END_REQ);
                  answer(tlm::BEGIN_RESP);
                  send(tlm::END_RESP);
              }),
              "");
}
TEST_F(CheckingPhases, SeesAResponseWithoutRequest) {
    accept();
    expect_one(seen([this] { answer(tlm::BEGIN_RESP); }), "a phase of no transaction");
}
TEST_F(CheckingPhases, SeesARequestThatEndsTwice) {
    accept();
    expect_one(seen([this] {
                   send(tlm::BEGIN_REQ);
                   answer(tlm::END_REQ);
                   answer(tlm::END_REQ);
               }),
               "END_REQ without BEGIN_REQ");
}
TEST_F(CheckingPhases, SeesAPhaseThatIsTheOthers) {
    accept();
    expect_one(seen([this] {
                   send(tlm::BEGIN_REQ);
                   answer(tlm::END_RESP);
               }),
               "a phase that is not the target's to send");
}
TEST_F(CheckingPhases, SeesACompletionWithoutResponse) {
    puppet_.forward = [](tlm_generic_payload&, tlm::tlm_phase&) { return tlm::TLM_COMPLETED; };
    expect_one(seen([this] { send(tlm::BEGIN_REQ); }), "the target has set no response status");
}
TEST_F(CheckingPhases, SeesASecondRequestBeforeTheFirstIsAccepted) {
    accept();
    tlm_generic_payload second(&manager_);
    second.set_data_ptr(data_);
    second.set_command(tlm::TLM_READ_COMMAND);
    second.set_data_length(4);
    second.set_streaming_width(4);
    expect_one(seen([&] {
                   send(tlm::BEGIN_REQ);
                   tlm::tlm_phase phase = tlm::BEGIN_REQ;
                   sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
                   puppet_.out->nb_transport_fw(second, phase, delay);
               }),
               "a request before the last one was accepted");
}

}  // namespace
}  // namespace tandem::testbench
