// SPDX-License-Identifier: Apache-2.0
// Console, exit, timer and interrupts of the platform device. One simulation per process.
#include "systemc/host/platform_device.h"

#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstring>
#include <string>
#include <vector>

#include "firmware/include/tandem/platform.h"

namespace tandem::host {
namespace {

struct Initiator : sc_core::sc_module {
    tlm_utils::simple_initiator_socket<Initiator> out{"out"};
    explicit Initiator(sc_core::sc_module_name name) : sc_module(name) {}
};

class Device : public testing::Test {
  protected:
    Device() {
        cpu_.out.bind(device_.in);
        device_.irq_tpu_in.bind(irq_tpu_);
        device_.irq_cpu_out.bind(irq_cpu_);
        device_.on_console([this](std::string_view line) { lines_.emplace_back(line); });
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }

    tlm::tlm_response_status access(tlm::tlm_command command, uint64_t offset, uint32_t& value,
                                    unsigned bytes = 4) {
        tlm::tlm_generic_payload payload;
        payload.set_command(command);
        payload.set_address(offset);
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
        payload.set_data_length(bytes);
        payload.set_streaming_width(bytes);
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        cpu_.out->b_transport(payload, delay);
        return payload.get_response_status();
    }

    uint32_t read(uint64_t offset) {
        uint32_t value = 0;
        EXPECT_EQ(access(tlm::TLM_READ_COMMAND, offset, value), tlm::TLM_OK_RESPONSE);
        return value;
    }

    void write(uint64_t offset, uint32_t value) {
        EXPECT_EQ(access(tlm::TLM_WRITE_COMMAND, offset, value), tlm::TLM_OK_RESPONSE);
    }

    static void run(double us) { sc_core::sc_start(sc_core::sc_time(us, sc_core::SC_US)); }

    Initiator cpu_{"cpu"};
    PlatformDevice device_{"device"};
    sc_core::sc_signal<bool> irq_tpu_{"irq_tpu"}, irq_cpu_{"irq_cpu"};
    std::vector<std::string> lines_;
};

TEST_F(Device, DeliversWholeLines) {
    for (const char character : std::string("one\ntwo"))
        write(platform::kConsole, static_cast<uint8_t>(character));
    EXPECT_EQ(lines_, std::vector<std::string>{"one"});
    device_.flush_console();
    EXPECT_EQ(lines_, (std::vector<std::string>{"one", "two"}));
}

TEST_F(Device, TellsWhoeverAsksForTheExit) {
    uint32_t code = 0;
    device_.on_exit([&](uint32_t value) { code = value; });
    write(platform::kExit, 42);
    EXPECT_EQ(code, 42u);
}

TEST_F(Device, CountsMicroseconds) {
    run(2.999);
    EXPECT_EQ(read(platform::kTimeUsLo), 2u);
    EXPECT_EQ(read(platform::kTimeUsHi), 0u);
    run(0.001);
    EXPECT_EQ(read(platform::kTimeUsLo), 3u);
}

TEST_F(Device, RaisesTheTimerInterruptAtCompareAndNotBefore) {
    write(platform::kCompareHi, 0);
    write(platform::kCompareLo, 10);
    run(9.999);
    EXPECT_FALSE(irq_cpu_.read());
    EXPECT_EQ(read(platform::kIrqPending), 0u);
    run(0.002);
    EXPECT_TRUE(irq_cpu_.read());
    EXPECT_EQ(read(platform::kIrqPending), platform::kIrqTimer);
    write(platform::kCompareLo, 100);
    run(1);
    EXPECT_FALSE(irq_cpu_.read());
    run(90);
    EXPECT_TRUE(irq_cpu_.read());
}

TEST_F(Device, NeverFiresWhenOffOrBeyondTheEndOfTime) {
    EXPECT_EQ(read(platform::kCompareLo), 0xffffffffu);
    EXPECT_EQ(read(platform::kCompareHi), 0xffffffffu);
    write(platform::kCompareLo, 0);
    run(10);
    EXPECT_FALSE(irq_cpu_.read());
}

TEST_F(Device, PassesTheChipsLineOn) {
    irq_tpu_.write(true);
    run(1);
    EXPECT_TRUE(irq_cpu_.read());
    EXPECT_EQ(read(platform::kIrqPending), platform::kIrqTpu);
    irq_tpu_.write(false);
    run(1);
    EXPECT_FALSE(irq_cpu_.read());
}

TEST_F(Device, RefusesOtherWidthsAndDirectionsAndAddresses) {
    uint32_t value = 0;
    EXPECT_EQ(access(tlm::TLM_READ_COMMAND, platform::kTimeUsLo, value, 2),
              tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(access(tlm::TLM_READ_COMMAND, platform::kTimeUsLo + 2, value),
              tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(access(tlm::TLM_READ_COMMAND, platform::kExit, value),
              tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(access(tlm::TLM_WRITE_COMMAND, platform::kJob, value),
              tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(access(tlm::TLM_READ_COMMAND, 0x20, value), tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST_F(Device, NamesTheJob) {
    EXPECT_EQ(read(platform::kJob), 0u);
    device_.set_job(0x80100000);
    EXPECT_EQ(read(platform::kJob), 0x80100000u);
}

}  // namespace
}  // namespace tandem::host
