// SPDX-License-Identifier: Apache-2.0
// What each TLM target answers to accesses good and bad, as the base protocol wants it. Every test
// goes through a checker, too. One simulation per process.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "testbench/unit/systemc/protocol/targets.h"

namespace tandem::testbench {
namespace {

using Bytes = std::array<unsigned char, 64>;

/// Payloads of nb_transport are counted; here one lives on the stack until its test is over.
struct Manager : tlm::tlm_mm_interface {
    void free(tlm::tlm_generic_payload*) override {}
};

class EveryTarget : public testing::TestWithParam<std::string> {
  protected:
    EveryTarget() {
        sim::require_femtoseconds();
        all_targets().at(GetParam())(target_, checkers_);
    }
    ~EveryTarget() override { EXPECT_EQ(checkers_.log.text(), ""); }

    /// Runs `probe` in simulated time.
    void run(const std::function<void()>& probe) {
        sc_core::sc_spawn([this, probe] {
            probe();
            done_ = true;
            sc_core::sc_stop();
        });
        sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS));
        EXPECT_TRUE(done_) << "the access did not come back";
    }

    void fill(tlm::tlm_generic_payload& payload, tlm::tlm_command command, uint64_t address,
              unsigned length) {
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(data_.data());
        payload.set_data_length(length);
        payload.set_streaming_width(length);
        payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        payload.set_dmi_allowed(false);
    }
    tlm::tlm_response_status send(tlm::tlm_generic_payload& payload) {
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        (*target_.initiator)->b_transport(payload, delay);
        return payload.get_response_status();
    }
    tlm::tlm_response_status access(tlm::tlm_command command, uint64_t address,
                                    unsigned length = 4) {
        tlm::tlm_generic_payload payload;
        fill(payload, command, address, length);
        return send(payload);
    }
    uint32_t read() {
        EXPECT_EQ(access(tlm::TLM_READ_COMMAND, target_.address), tlm::TLM_OK_RESPONSE);
        uint32_t value;
        std::memcpy(&value, data_.data(), sizeof value);
        return value;
    }
    void write(uint32_t value) {
        std::memcpy(data_.data(), &value, sizeof value);
        EXPECT_EQ(access(tlm::TLM_WRITE_COMMAND, target_.address), tlm::TLM_OK_RESPONSE);
    }

    Checkers checkers_;
    Target target_;
    Bytes data_{};

  private:
    bool done_ = false;
};

std::vector<std::string> names() {
    std::vector<std::string> names;
    for (const auto& [name, make] : all_targets()) names.push_back(name);
    return names;
}
INSTANTIATE_TEST_SUITE_P(Tlm, EveryTarget, testing::ValuesIn(names()),
                         [](const auto& info) { return info.param; });

TEST_P(EveryTarget, ReadsWhatWasWritten) {
    run([this] {
        for (const uint32_t value : {0x12345600u, 0u, 0xffffff00u}) {
            write(value);
            data_.fill(0x5a);
            EXPECT_EQ(read(), value);
        }
    });
}

TEST_P(EveryTarget, RefusesWhatLiesOutside) {
    run([this] {
        for (const auto command :
             {tlm::TLM_READ_COMMAND, tlm::TLM_WRITE_COMMAND, tlm::TLM_IGNORE_COMMAND}) {
            for (const uint64_t address : {target_.end, target_.end + 0x100, ~uint64_t{3}}) {
                // Of registers that are none nothing is asked.
                if (target_.words_only && command == tlm::TLM_IGNORE_COMMAND) continue;
                EXPECT_EQ(access(command, address), tlm::TLM_ADDRESS_ERROR_RESPONSE)
                    << "command " << command << ", address " << address;
            }
        }
        if (target_.words_only) return;
        EXPECT_EQ(access(tlm::TLM_READ_COMMAND, target_.end - 4), tlm::TLM_OK_RESPONSE);
        EXPECT_EQ(access(tlm::TLM_READ_COMMAND, target_.end - 3), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    });
}

TEST_P(EveryTarget, WantsAlignedWordsOfRegistersAndOfMemoryNothing) {
    run([this] {
        if (!target_.words_only) {
            for (const unsigned length : {1u, 3u, 8u, 64u})
                EXPECT_EQ(access(tlm::TLM_READ_COMMAND, target_.address + 1, length),
                          tlm::TLM_OK_RESPONSE);
            return;
        }
        write(0x11223300);
        for (const auto command : {tlm::TLM_READ_COMMAND, tlm::TLM_WRITE_COMMAND}) {
            for (const uint64_t offset : {1, 2, 3})
                EXPECT_EQ(access(command, target_.address + offset), tlm::TLM_BURST_ERROR_RESPONSE);
            for (const unsigned length : {1u, 2u, 3u, 5u, 8u, 64u})
                EXPECT_EQ(access(command, target_.address, length), tlm::TLM_BURST_ERROR_RESPONSE);
        }
        EXPECT_EQ(read(), 0x11223300u);
    });
}

TEST_P(EveryTarget, RefusesToStream) {
    run([this] {
        write(0x11223300);
        data_.fill(0);
        for (const unsigned width : {1u, 2u, 3u}) {
            tlm::tlm_generic_payload payload;
            fill(payload, tlm::TLM_WRITE_COMMAND, target_.address, 4);
            payload.set_streaming_width(width);
            EXPECT_EQ(send(payload), tlm::TLM_BURST_ERROR_RESPONSE) << "width " << width;
        }
        EXPECT_EQ(read(), 0x11223300u);
        tlm::tlm_generic_payload wider;
        fill(wider, tlm::TLM_READ_COMMAND, target_.address, 4);
        wider.set_streaming_width(8);
        EXPECT_EQ(send(wider), tlm::TLM_OK_RESPONSE) << "wider than the data: no streaming";
    });
}

TEST_P(EveryTarget, RefusesByteEnables) {
    run([this] {
        write(0x11223300);
        data_.fill(0);
        unsigned char enables[4] = {0xff, 0, 0xff, 0};
        for (const auto command : {tlm::TLM_READ_COMMAND, tlm::TLM_WRITE_COMMAND}) {
            tlm::tlm_generic_payload payload;
            fill(payload, command, target_.address, 4);
            payload.set_byte_enable_ptr(enables);
            payload.set_byte_enable_length(4);
            EXPECT_EQ(send(payload), tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
        }
        EXPECT_EQ(read(), 0x11223300u);
    });
}

TEST_P(EveryTarget, MovesNothingForIgnore) {
    run([this] {
        write(0x11223300);
        data_.fill(0x5a);
        EXPECT_EQ(access(tlm::TLM_IGNORE_COMMAND, target_.address), tlm::TLM_OK_RESPONSE);
        for (const unsigned char byte : data_) EXPECT_EQ(byte, 0x5a);
        EXPECT_EQ(read(), 0x11223300u);
        if (target_.words_only) return;
        EXPECT_EQ(access(tlm::TLM_IGNORE_COMMAND, target_.address, 0), tlm::TLM_OK_RESPONSE);
    });
}

TEST_P(EveryTarget, AnswersDebugAccessesWithoutEffects) {
    run([this] {
        write(0x11223300);
        const auto debug = [this](tlm::tlm_command command, uint64_t address) {
            tlm::tlm_generic_payload payload;
            fill(payload, command, address, 4);
            return (*target_.initiator)->transport_dbg(payload);
        };
        data_.fill(0x5a);
        EXPECT_EQ(debug(tlm::TLM_READ_COMMAND, target_.address), target_.debug_reads ? 4u : 0u);
        EXPECT_EQ(data_[2], target_.debug_reads ? 0x22 : 0x5a);
        data_.fill(0x77);
        EXPECT_EQ(debug(tlm::TLM_WRITE_COMMAND, target_.address), target_.debug_writes ? 4u : 0u);
        EXPECT_EQ(debug(tlm::TLM_READ_COMMAND, target_.end), 0u);
        EXPECT_EQ(debug(tlm::TLM_WRITE_COMMAND, target_.end), 0u);
        EXPECT_EQ(read(), target_.debug_writes ? 0x77777777u : 0x11223300u);
    });
}

TEST_P(EveryTarget, GrantsDirectAccessToMemoryOnly) {
    run([this] {
        write(0x11223300);
        for (const auto command : {tlm::TLM_READ_COMMAND, tlm::TLM_WRITE_COMMAND}) {
            tlm::tlm_generic_payload payload;
            tlm::tlm_dmi dmi;
            fill(payload, command, target_.address, 4);
            const bool granted = (*target_.initiator)->get_direct_mem_ptr(payload, dmi);
            EXPECT_EQ(granted, target_.direct);
            if (granted) {
                EXPECT_EQ(dmi.get_dmi_ptr()[target_.address - dmi.get_start_address() + 2], 0x22);
                EXPECT_GE(dmi.get_end_address(), target_.end - 1);
            }
            payload.set_address(target_.end);
            dmi.init();
            EXPECT_FALSE((*target_.initiator)->get_direct_mem_ptr(payload, dmi)) << "outside";
        }
    });
}

TEST_P(EveryTarget, HintsAtDirectAccessWhereItGrantsIt) {
    run([this] {
        tlm::tlm_generic_payload payload;
        fill(payload, tlm::TLM_READ_COMMAND, target_.address, 4);
        EXPECT_EQ(send(payload), tlm::TLM_OK_RESPONSE);
        EXPECT_EQ(payload.is_dmi_allowed(), target_.direct);
    });
}

TEST_P(EveryTarget, TakesNonBlockingTransactions) {
    run([this] {
        write(0x11223300);
        Manager manager;
        tlm::tlm_generic_payload payload(&manager);
        payload.acquire();
        fill(payload, tlm::TLM_READ_COMMAND, target_.address, 4);
        data_.fill(0);
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        auto& prober = dynamic_cast<Prober&>(*target_.initiator->get_parent_object());
        const auto result = (*target_.initiator)->nb_transport_fw(payload, phase, delay);
        if (result != tlm::TLM_COMPLETED) sc_core::wait(prober.responded);
        EXPECT_EQ(payload.get_response_status(), tlm::TLM_OK_RESPONSE);
        EXPECT_EQ(data_[2], 0x22);
        payload.release();
    });
}

}  // namespace
}  // namespace tandem::testbench
