// SPDX-License-Identifier: Apache-2.0
// Host memory and bus routing. One simulation per process.
#include "systemc/host/host_memory.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "firmware/include/tandem/platform.h"
#include "systemc/host/host_bus.h"

namespace tandem::host {
namespace {

constexpr uint64_t kBytes = 1 << 20;

/// Remembers the last address that arrived.
struct Recorder : sc_core::sc_module {
    tlm_utils::simple_target_socket<Recorder> in{"in"};
    uint64_t address = ~uint64_t{0};

    explicit Recorder(sc_core::sc_module_name name) : sc_module(name) {
        in.register_b_transport(this, &Recorder::b_transport);
        in.register_transport_dbg(this, &Recorder::transport_dbg);
    }
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
        address = payload.get_address();
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    unsigned transport_dbg(tlm::tlm_generic_payload&) { return 4; }
};

struct Initiator : sc_core::sc_module {
    tlm_utils::simple_initiator_socket<Initiator> out{"out"};
    explicit Initiator(sc_core::sc_module_name name) : sc_module(name) {}
};

class Bus : public testing::Test {
  protected:
    Bus() {
        cpu_.out.bind(bus_.cpu_in);
        dma_.out.bind(bus_.dma_in);
        bus_.memory_out.bind(memory_.in);
        bus_.registers_out.bind(registers_.in);
        bus_.device_out.bind(device_.in);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }

    // Payloads cannot be copied or moved.
    void fill(tlm::tlm_generic_payload& payload, tlm::tlm_command command, uint64_t address,
              unsigned bytes) {
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(data_);
        payload.set_data_length(bytes);
        payload.set_streaming_width(bytes);
    }

    tlm::tlm_response_status transfer(Initiator& from, tlm::tlm_command command, uint64_t address,
                                      unsigned bytes) {
        tlm::tlm_generic_payload transaction;
        fill(transaction, command, address, bytes);
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        from.out->b_transport(transaction, delay);
        EXPECT_EQ(transaction.get_address(), address) << "not given back as it was";
        EXPECT_EQ(delay, sc_core::SC_ZERO_TIME);
        return transaction.get_response_status();
    }

    Initiator cpu_{"cpu"}, dma_{"dma"};
    HostBus bus_{"bus", kBytes};
    HostMemory memory_{"memory", platform::kRamBase, kBytes};
    Recorder registers_{"registers"}, device_{"device"};
    uint8_t data_[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
};

TEST_F(Bus, MakesAddressesRelativeToTheirTarget) {
    EXPECT_EQ(transfer(cpu_, tlm::TLM_READ_COMMAND, platform::kTpuBase + 0x24, 4),
              tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(registers_.address, 0x24u);
    EXPECT_EQ(transfer(cpu_, tlm::TLM_READ_COMMAND, platform::kDeviceBase + 0x18, 4),
              tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(device_.address, 0x18u);
}

TEST_F(Bus, BringsBytesToMemoryAndBack) {
    EXPECT_EQ(transfer(dma_, tlm::TLM_WRITE_COMMAND, platform::kRamBase + 5, 16),
              tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(memory_.bytes()[5], 1);
    EXPECT_EQ(memory_.bytes()[20], 16);
    memory_.bytes()[5] = 99;
    EXPECT_EQ(transfer(cpu_, tlm::TLM_READ_COMMAND, platform::kRamBase + 5, 16),
              tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(data_[0], 99);
}

TEST_F(Bus, RefusesWhatIsNotWhollyInsideARegion) {
    const auto refused = tlm::TLM_ADDRESS_ERROR_RESPONSE;
    const uint64_t end = platform::kRamBase + kBytes;
    EXPECT_EQ(transfer(cpu_, tlm::TLM_READ_COMMAND, end - 16, 16), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(transfer(cpu_, tlm::TLM_READ_COMMAND, end - 15, 16), refused);
    EXPECT_EQ(transfer(cpu_, tlm::TLM_READ_COMMAND, end, 1), refused);
    EXPECT_EQ(transfer(cpu_, tlm::TLM_READ_COMMAND, platform::kTpuBase - 1, 4), refused);
    EXPECT_EQ(transfer(cpu_, tlm::TLM_READ_COMMAND, ~uint64_t{0}, 4), refused);
    EXPECT_EQ(transfer(cpu_, tlm::TLM_READ_COMMAND, 0, 4), refused);
}

TEST_F(Bus, KeepsTheChipAwayFromRegisters) {
    EXPECT_EQ(transfer(dma_, tlm::TLM_WRITE_COMMAND, platform::kDeviceBase + 4, 4),
              tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(transfer(dma_, tlm::TLM_WRITE_COMMAND, platform::kTpuBase, 4),
              tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(device_.address, ~uint64_t{0});
}

TEST_F(Bus, GrantsDirectAccessToMemoryOnly) {
    tlm::tlm_generic_payload transaction;
    fill(transaction, tlm::TLM_READ_COMMAND, platform::kRamBase + 100, 4);
    tlm::tlm_dmi dmi;
    ASSERT_TRUE(dma_.out->get_direct_mem_ptr(transaction, dmi));
    EXPECT_EQ(dmi.get_dmi_ptr(), memory_.bytes().data());
    EXPECT_EQ(dmi.get_start_address(), platform::kRamBase);
    EXPECT_EQ(dmi.get_end_address(), platform::kRamBase + kBytes - 1);
    transaction.set_address(platform::kTpuBase);
    EXPECT_FALSE(cpu_.out->get_direct_mem_ptr(transaction, dmi));
}

TEST_F(Bus, PassesDebugAccessesOn) {
    tlm::tlm_generic_payload transaction;
    fill(transaction, tlm::TLM_READ_COMMAND, platform::kTpuBase, 4);
    EXPECT_EQ(cpu_.out->transport_dbg(transaction), 4u);
    EXPECT_EQ(dma_.out->transport_dbg(transaction), 0u);
    transaction.set_address(platform::kRamBase + kBytes);
    EXPECT_EQ(cpu_.out->transport_dbg(transaction), 0u);
}

TEST_F(Bus, RefusesByteEnablesAndStreaming) {
    tlm::tlm_generic_payload transaction;
    fill(transaction, tlm::TLM_WRITE_COMMAND, platform::kRamBase, 8);
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    transaction.set_streaming_width(4);
    dma_.out->b_transport(transaction, delay);
    EXPECT_EQ(transaction.get_response_status(), tlm::TLM_BURST_ERROR_RESPONSE);
    transaction.set_streaming_width(8);
    transaction.set_byte_enable_ptr(data_);
    dma_.out->b_transport(transaction, delay);
    EXPECT_EQ(transaction.get_response_status(), tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
}

TEST(HostMemory, RejectsSizesThatAreNotPages) {
    EXPECT_THROW(HostMemory("a", 0, 0), UserError);
    EXPECT_THROW(HostMemory("b", 0, 4097), UserError);
}

TEST(HostMemory, GivesBytesByBusAddress) {
    HostMemory memory("memory", platform::kRamBase, 8192);
    EXPECT_EQ(memory.at(platform::kRamBase + 8, 8).data(), memory.bytes().data() + 8);
    EXPECT_TRUE(memory.at(platform::kRamBase + 8191, 2).empty());
    EXPECT_TRUE(memory.at(platform::kRamBase - 1, 1).empty());
    EXPECT_TRUE(memory.at(platform::kRamBase + 1, ~uint64_t{0}).empty());
}

}  // namespace
}  // namespace tandem::host
