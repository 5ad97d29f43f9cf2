// SPDX-License-Identifier: Apache-2.0
#include "firmware/driver/driver.h"

#include <gtest/gtest.h>

#include "arch/generated/registers.h"
#include "testbench/firmware/mock_hal.h"

namespace tandem::firmware {
namespace {

using testbench::MockHal;

constexpr uint32_t kId = 0x4d444e54;
constexpr uint32_t kGoodVersion = TANDEM_REGISTERS_VERSION << 16 | 2;
constexpr uint64_t kIsaHash = 0x99aabbccddeeff00;
constexpr uint64_t kHash = 0x1122334455667788;
constexpr uint64_t kRing = MockHal::kMemoryBase + 0x1000;
constexpr uint32_t kBothInterrupts = 3;

void expect_identification(MockHal& hal, uint64_t isa_hash, uint64_t hash) {
    hal.expect_read(TANDEM_REG_ID, kId);
    hal.expect_read(TANDEM_REG_VERSION, kGoodVersion);
    hal.expect_read(TANDEM_REG_ISA_HASH_LO, static_cast<uint32_t>(isa_hash));
    hal.expect_read(TANDEM_REG_ISA_HASH_HI, static_cast<uint32_t>(isa_hash >> 32));
    hal.expect_read(TANDEM_REG_HASH_LO, static_cast<uint32_t>(hash));
    hal.expect_read(TANDEM_REG_HASH_HI, static_cast<uint32_t>(hash >> 32));
    hal.expect_read(TANDEM_REG_MXU_SHAPE, 16u << 16 | 8u);
    hal.expect_read(TANDEM_REG_UB_BYTES, 65536);
    hal.expect_read(TANDEM_REG_MEMORY_MIB, 16);
    hal.expect_read(TANDEM_REG_CLOCK_KHZ, 700000);
    hal.expect_read(TANDEM_REG_CORES, 2 | 4 << 16);
    hal.expect_read(TANDEM_REG_WATCHDOG_LO, 5);
    hal.expect_read(TANDEM_REG_WATCHDOG_HI, 1);
}

void expect_start(MockHal& hal, uint32_t entries) {
    hal.expect_write(TANDEM_REG_RING_BASE_LO, static_cast<uint32_t>(kRing));
    hal.expect_write(TANDEM_REG_RING_BASE_HI, 0);
    hal.expect_write(TANDEM_REG_RING_ENTRIES, entries);
    hal.expect_write(TANDEM_REG_IRQ_ENABLE, kBothInterrupts);
    hal.expect_write(TANDEM_REG_CONTROL, TANDEM_CONTROL_ENABLE);
}

void expect_submit(MockHal& hal, uint32_t doorbell) {
    hal.expect_barrier();
    hal.expect_write(TANDEM_REG_DOORBELL, doorbell);
}

Command load_command() {
    Command command;
    command.opcode = TANDEM_COMMAND_LOAD;
    command.source = 0x80001234;
    command.destination = 0x123456789;
    command.bytes = 100;
    return command;
}

/// A driver with a started ring.
class RunningDriver : public testing::Test {
  protected:
    void start(uint32_t entries = 4) {
        expect_start(hal_, entries);
        ASSERT_EQ(driver_.start({kRing, entries}), Status::kOk);
    }

    uint32_t submit(uint32_t doorbell) {
        expect_submit(hal_, doorbell);
        uint32_t ticket = 99;
        EXPECT_EQ(driver_.submit(load_command(), &ticket), Status::kOk);
        return ticket;
    }

    /// The TPU's side of a completion.
    void complete(uint32_t index, uint32_t error, uint32_t cycles) {
        hal_.poke<uint32_t>(kRing + index * 64 + TANDEM_COMMAND_STATUS_OFFSET, 1 + error);
        hal_.poke<uint32_t>(kRing + index * 64 + TANDEM_COMMAND_CYCLES_OFFSET, cycles);
    }

    MockHal hal_;
    Driver driver_{hal_};
};

TEST(DriverDiscover, ReadsWhatTheChipIs) {
    MockHal hal;
    expect_identification(hal, kIsaHash, kHash);
    DeviceInfo info;
    ASSERT_EQ(Driver(hal).discover({kIsaHash, kHash}, &info), Status::kOk);
    EXPECT_EQ(info.hashes.isa, kIsaHash);
    EXPECT_EQ(info.hashes.chip, kHash);
    EXPECT_EQ(info.rows, 8u);
    EXPECT_EQ(info.cols, 16u);
    EXPECT_EQ(info.ub_bytes, 65536u);
    EXPECT_EQ(info.memory_bytes, 16u << 20);
    EXPECT_EQ(info.clock_khz, 700000u);
}

TEST(DriverDiscover, RejectsAnotherDeviceAfterOneRead) {
    MockHal hal;
    hal.expect_read(TANDEM_REG_ID, 0xffffffff);
    DeviceInfo info;
    EXPECT_EQ(Driver(hal).discover({kIsaHash, kHash}, &info), Status::kNoDevice);
}

TEST(DriverDiscover, RejectsUnknownRegisterVersion) {
    MockHal hal;
    hal.expect_read(TANDEM_REG_ID, kId);
    hal.expect_read(TANDEM_REG_VERSION, (TANDEM_REGISTERS_VERSION + 1) << 16 | 1);
    DeviceInfo info;
    EXPECT_EQ(Driver(hal).discover({kIsaHash, kHash}, &info), Status::kWrongVersion);
}

TEST(DriverDiscover, RejectsEachWrongHalfOfTheChipsHash) {
    for (const uint64_t hash : {kHash ^ 1, kHash ^ (uint64_t{1} << 63)}) {
        MockHal hal;
        expect_identification(hal, kIsaHash, hash);
        DeviceInfo info;
        EXPECT_EQ(Driver(hal).discover({kIsaHash, kHash}, &info), Status::kWrongChip);
        EXPECT_EQ(info.hashes.chip, hash);
    }
}

TEST(DriverDiscover, RejectsEachWrongHalfOfTheIsasHash) {
    for (const uint64_t hash : {kIsaHash ^ 1, kIsaHash ^ (uint64_t{1} << 63)}) {
        MockHal hal;
        expect_identification(hal, hash, kHash ^ 1);
        DeviceInfo info;
        EXPECT_EQ(Driver(hal).discover({kIsaHash, kHash}, &info), Status::kWrongIsa);
        EXPECT_EQ(info.hashes.isa, hash);
    }
}

TEST(DriverDiscover, RejectsNullWithoutTouchingHardware) {
    MockHal hal;
    EXPECT_EQ(Driver(hal).discover({kIsaHash, kHash}, nullptr), Status::kBadArgument);
}

TEST(DriverReset, PollsUntilIdleThenClearsInterrupts) {
    MockHal hal;
    hal.expect_write(TANDEM_REG_CONTROL, TANDEM_CONTROL_RESET);
    hal.expect_read(TANDEM_REG_STATUS, TANDEM_STATUS_BUSY);
    hal.expect_sleep(false);
    hal.expect_read(TANDEM_REG_STATUS, 0);
    hal.expect_write(TANDEM_REG_IRQ_ENABLE, 0);
    hal.expect_write(TANDEM_REG_IRQ_STATUS, kBothInterrupts);
    EXPECT_EQ(Driver(hal).reset(), Status::kOk);
}

TEST(DriverReset, GivesUpOnAStuckChip) {
    MockHal hal;
    hal.expect_write(TANDEM_REG_CONTROL, TANDEM_CONTROL_RESET);
    for (int i = 0; i < 1000; ++i) {
        hal.expect_read(TANDEM_REG_STATUS, TANDEM_STATUS_ERROR);
        hal.expect_sleep(false);
    }
    hal.expect_read(TANDEM_REG_STATUS, TANDEM_STATUS_ERROR);
    EXPECT_EQ(Driver(hal).reset(), Status::kResetFailed);
}

TEST(DriverStart, RejectsBadRingsWithoutTouchingHardware) {
    MockHal hal;
    Driver driver(hal);
    for (const uint32_t entries : {0u, 1u, 3u, 1000u, 2048u, 0x80000000u}) {
        EXPECT_EQ(driver.start({kRing, entries}), Status::kBadArgument) << entries;
    }
    EXPECT_EQ(driver.start({kRing + 32, 4}), Status::kBadArgument) << "not aligned";
    EXPECT_EQ(driver.start({0x1000, 4}), Status::kBadArgument) << "no memory";
    const uint64_t end = MockHal::kMemoryBase + MockHal::kMemoryBytes;
    EXPECT_EQ(driver.start({end - 64, 4}), Status::kBadArgument) << "beyond memory";
    EXPECT_EQ(driver.start({~uint64_t{63}, 4}), Status::kBadArgument) << "wraps";
}

TEST_F(RunningDriver, RefusesCommandsBeforeStart) {
    uint32_t ticket = 0;
    EXPECT_EQ(driver_.submit(load_command(), &ticket), Status::kNotReady);
    EXPECT_EQ(driver_.wait(0, 1, nullptr), Status::kNotReady);
}

TEST_F(RunningDriver, WritesTheEntryAsTheChipReadsIt) {
    start();
    Command command;
    command.opcode = TANDEM_COMMAND_RUN;
    command.source = 0x0102030405060708;
    command.destination = 0x1112131415161718;
    command.bytes = 64;
    command.args[0] = 0x2122232425262728;
    command.args[1] = 0x3132333435363738;
    command.args[2] = 0x4142434445464748;
    expect_submit(hal_, 1);
    uint32_t ticket = 99;
    ASSERT_EQ(driver_.submit(command, &ticket), Status::kOk);
    EXPECT_EQ(ticket, 0u);
    EXPECT_EQ(hal_.peek<uint32_t>(kRing), TANDEM_COMMAND_RUN);
    EXPECT_EQ(hal_.peek<uint64_t>(kRing + TANDEM_COMMAND_SOURCE_OFFSET), command.source);
    EXPECT_EQ(hal_.peek<uint64_t>(kRing + TANDEM_COMMAND_DESTINATION_OFFSET), command.destination);
    EXPECT_EQ(hal_.peek<uint64_t>(kRing + TANDEM_COMMAND_BYTES_OFFSET), command.bytes);
    EXPECT_EQ(hal_.peek<uint64_t>(kRing + TANDEM_COMMAND_ARG0_OFFSET), command.args[0]);
    EXPECT_EQ(hal_.peek<uint64_t>(kRing + TANDEM_COMMAND_ARG1_OFFSET), command.args[1]);
    EXPECT_EQ(hal_.peek<uint64_t>(kRing + TANDEM_COMMAND_ARG2_OFFSET), command.args[2]);
    EXPECT_EQ(hal_.peek<uint32_t>(kRing + TANDEM_COMMAND_STATUS_OFFSET), 0u);
}

TEST_F(RunningDriver, RejectsBadCommandsWithoutTouchingHardware) {
    start();
    uint32_t ticket = 0;
    Command command = load_command();
    EXPECT_EQ(driver_.submit(command, nullptr), Status::kBadArgument);
    command.opcode = 3;
    EXPECT_EQ(driver_.submit(command, &ticket), Status::kBadArgument);
    command = load_command();
    command.bytes = 0;
    EXPECT_EQ(driver_.submit(command, &ticket), Status::kBadArgument);
    command.opcode = TANDEM_COMMAND_RUN;
    command.bytes = 33;
    EXPECT_EQ(driver_.submit(command, &ticket), Status::kBadArgument) << "not whole instructions";
}

TEST_F(RunningDriver, ReportsAFullRingAndGoesOnWhenACommandCompletes) {
    start(2);
    submit(1);
    submit(2);
    uint32_t ticket = 99;
    hal_.expect_read(TANDEM_REG_RING_HEAD, 0);
    EXPECT_EQ(driver_.submit(load_command(), &ticket), Status::kRingFull);
    EXPECT_EQ(ticket, 99u);
    hal_.expect_read(TANDEM_REG_RING_HEAD, 1);
    EXPECT_EQ(submit(3), 2u);
}

TEST_F(RunningDriver, SleepsUntilTheCommandCompletes) {
    start();
    const uint32_t ticket = submit(1);
    hal_.expect_read(TANDEM_REG_RING_HEAD, 0);
    hal_.expect_read(TANDEM_REG_STATUS, TANDEM_STATUS_BUSY);
    hal_.expect_sleep(true);
    hal_.expect_write(TANDEM_REG_IRQ_STATUS, kBothInterrupts);
    hal_.expect_read(TANDEM_REG_RING_HEAD, 1);
    hal_.expect_barrier();
    complete(0, TANDEM_ERROR_NONE, 1234);
    Completion completion;
    EXPECT_EQ(driver_.wait(ticket, 100, &completion), Status::kOk);
    EXPECT_EQ(completion.cycles, 1234u);
}

TEST_F(RunningDriver, TimesOutAfterTheTimeGivenAndNotBefore) {
    start();
    const uint32_t ticket = submit(1);
    for (int look = 0; look < 2; ++look) {
        hal_.expect_read(TANDEM_REG_RING_HEAD, 0);
        hal_.expect_read(TANDEM_REG_STATUS, TANDEM_STATUS_BUSY);
        if (look == 0) hal_.expect_sleep(false);
    }
    EXPECT_EQ(driver_.wait(ticket, 100, nullptr), Status::kTimeout);
    EXPECT_EQ(hal_.now_us(), 100u);
}

TEST_F(RunningDriver, ReportsAnErrorThatStoppedTheRing) {
    start();
    const uint32_t ticket = submit(1);
    hal_.expect_read(TANDEM_REG_RING_HEAD, 0);
    hal_.expect_read(TANDEM_REG_STATUS, TANDEM_STATUS_ERROR);
    hal_.expect_read(TANDEM_REG_ERROR_CODE, TANDEM_ERROR_WATCHDOG);
    Completion completion;
    EXPECT_EQ(driver_.wait(ticket, 100, &completion), Status::kDeviceError);
    EXPECT_EQ(completion.error_code, TANDEM_ERROR_WATCHDOG);

    hal_.expect_read(TANDEM_REG_STATUS, TANDEM_STATUS_ERROR);
    hal_.expect_read(TANDEM_REG_ERROR_CODE, TANDEM_ERROR_WATCHDOG);
    hal_.expect_read(TANDEM_REG_ERROR_INFO, 17);
    hal_.expect_read(TANDEM_REG_ERROR_CORE, 1);
    const ErrorReport report = driver_.error();
    EXPECT_TRUE(report.failed);
    EXPECT_EQ(report.info, 17u);
}

TEST_F(RunningDriver, ReportsAnErrorInTheRingEntry) {
    start();
    const uint32_t ticket = submit(1);
    hal_.expect_read(TANDEM_REG_RING_HEAD, 1);
    hal_.expect_barrier();
    complete(0, TANDEM_ERROR_UB_ADDRESS, 5);
    Completion completion;
    EXPECT_EQ(driver_.wait(ticket, 100, &completion), Status::kDeviceError);
    EXPECT_EQ(completion.error_code, TANDEM_ERROR_UB_ADDRESS);
}

TEST_F(RunningDriver, NoticesACompletionWithoutStatus) {
    start();
    const uint32_t ticket = submit(1);
    hal_.expect_read(TANDEM_REG_RING_HEAD, 1);
    hal_.expect_barrier();
    EXPECT_EQ(driver_.wait(ticket, 100, nullptr), Status::kProtocol);
}

TEST_F(RunningDriver, RejectsUnknownTickets) {
    start();
    const uint32_t ticket = submit(1);
    EXPECT_EQ(driver_.wait(ticket + 1, 100, nullptr), Status::kBadArgument);
    EXPECT_EQ(driver_.wait(ticket - 1, 100, nullptr), Status::kBadArgument);
}

TEST(DriverCounters, ReadsAgainWhenACarryComesBetweenTheWords) {
    MockHal hal;
    hal.expect_read(TANDEM_REG_CYCLES_HI, 0);
    hal.expect_read(TANDEM_REG_CYCLES_LO, 3);
    hal.expect_read(TANDEM_REG_CYCLES_HI, 1);
    hal.expect_read(TANDEM_REG_CYCLES_LO, 5);
    hal.expect_read(TANDEM_REG_CYCLES_HI, 1);
    for (const uint32_t low : {TANDEM_REG_MACS_LO, TANDEM_REG_MXU_BUSY_LO}) {
        hal.expect_read(low + 4, 2);
        hal.expect_read(low, 7);
        hal.expect_read(low + 4, 2);
    }
    hal.expect_read(TANDEM_REG_INSTRUCTIONS, 11);
    const Counters counters = Driver(hal).counters();
    EXPECT_EQ(counters.cycles, 0x100000005u);
    EXPECT_EQ(counters.macs, 0x200000007u);
    EXPECT_EQ(counters.mxu_busy_cycles, 0x200000007u);
    EXPECT_EQ(counters.instructions, 11u);
}

TEST(DriverCores, ReadsTheCoreThatItSelects) {
    MockHal hal;
    hal.expect_write(TANDEM_REG_CORE_SELECT, 3);
    hal.expect_read(TANDEM_REG_CORE_STATUS, TANDEM_CORE_STATUS_ERROR | TANDEM_CORE_STATUS_WATCHDOG);
    hal.expect_read(TANDEM_REG_CORE_ERROR_CODE, TANDEM_ERROR_WATCHDOG);
    hal.expect_read(TANDEM_REG_CORE_ERROR_INFO, 12);
    for (const uint32_t low :
         {TANDEM_REG_CORE_CYCLES_LO, TANDEM_REG_CORE_MACS_LO, TANDEM_REG_CORE_MXU_BUSY_LO}) {
        hal.expect_read(low + 4, 2);
        hal.expect_read(low, low);
        hal.expect_read(low + 4, 2);
    }
    hal.expect_read(TANDEM_REG_CORE_INSTRUCTIONS, 11);
    const CoreReport report = Driver(hal).core(3);
    EXPECT_FALSE(report.busy);
    EXPECT_TRUE(report.watchdog);
    EXPECT_TRUE(report.error.failed);
    EXPECT_EQ(report.error.code, TANDEM_ERROR_WATCHDOG);
    EXPECT_EQ(report.error.info, 12u);
    EXPECT_EQ(report.error.core, 3u);
    EXPECT_EQ(report.counters.cycles, 0x200000000u + TANDEM_REG_CORE_CYCLES_LO);
    EXPECT_EQ(report.counters.macs, 0x200000000u + TANDEM_REG_CORE_MACS_LO);
    EXPECT_EQ(report.counters.mxu_busy_cycles, 0x200000000u + TANDEM_REG_CORE_MXU_BUSY_LO);
    EXPECT_EQ(report.counters.instructions, 11u);
}

TEST(DriverStop, SilencesTheChip) {
    MockHal hal;
    hal.expect_write(TANDEM_REG_CONTROL, 0);
    hal.expect_write(TANDEM_REG_IRQ_ENABLE, 0);
    Driver(hal).stop();
}

}  // namespace
}  // namespace tandem::firmware
