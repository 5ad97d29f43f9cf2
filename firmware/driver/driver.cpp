// SPDX-License-Identifier: Apache-2.0
#include "firmware/driver/driver.h"

#include "arch/generated/registers.h"

namespace tandem::firmware {

namespace {

constexpr uint32_t kMinEntries = 2;
constexpr uint32_t kMaxEntries = 1024;
constexpr uint32_t kAllInterrupts = TANDEM_IRQ_STATUS_DONE | TANDEM_IRQ_STATUS_ERROR;
constexpr uint32_t kBusyOrError = TANDEM_STATUS_BUSY | TANDEM_STATUS_ERROR;
constexpr uint32_t kEntryWords = TANDEM_COMMAND_BYTES / 4;
// An abort may have to wait for transfers in flight.
constexpr int kResetPolls = 1000;
constexpr uint64_t kResetPollUs = 1;

bool is_power_of_two(uint32_t value) { return value != 0 && (value & (value - 1)) == 0; }

bool is_valid(const Command& command) {
    if (command.bytes == 0) return false;
    if (command.opcode == TANDEM_COMMAND_LOAD) return true;
    return command.opcode == TANDEM_COMMAND_RUN && command.bytes % TANDEM_CORE_ENTRY_BYTES == 0;
}

void put32(volatile uint32_t* entry, uint32_t offset, uint32_t value) { entry[offset / 4] = value; }

void put64(volatile uint32_t* entry, uint32_t offset, uint64_t value) {
    put32(entry, offset, static_cast<uint32_t>(value));
    put32(entry, offset + 4, static_cast<uint32_t>(value >> 32));
}

}  // namespace

Status Driver::discover(const BuildHashes& expected, DeviceInfo* info) {
    if (info == nullptr) return Status::kBadArgument;
    // Nothing else may be read before it is known to be a TPU.
    if (hal_.read32(TANDEM_REG_ID) != TANDEM_REG_ID_RESET) return Status::kNoDevice;
    info->version = hal_.read32(TANDEM_REG_VERSION);
    if (info->version >> 16 != TANDEM_REGISTERS_VERSION) return Status::kWrongVersion;
    const uint32_t isa_low = hal_.read32(TANDEM_REG_ISA_HASH_LO);
    info->hashes.isa = uint64_t{hal_.read32(TANDEM_REG_ISA_HASH_HI)} << 32 | isa_low;
    const uint32_t chip_low = hal_.read32(TANDEM_REG_HASH_LO);
    info->hashes.chip = uint64_t{hal_.read32(TANDEM_REG_HASH_HI)} << 32 | chip_low;
    const uint32_t shape = hal_.read32(TANDEM_REG_MXU_SHAPE);
    info->rows = shape & 0xffff;
    info->cols = shape >> 16;
    info->ub_bytes = hal_.read32(TANDEM_REG_UB_BYTES);
    info->memory_bytes = uint64_t{hal_.read32(TANDEM_REG_MEMORY_MIB)} << 20;
    info->clock_khz = hal_.read32(TANDEM_REG_CLOCK_KHZ);
    const uint32_t cores = hal_.read32(TANDEM_REG_CORES);
    info->cores = cores & 0xffff;
    info->arrays = cores >> 16;
    const uint32_t watchdog_low = hal_.read32(TANDEM_REG_WATCHDOG_LO);
    info->watchdog_cycles = uint64_t{hal_.read32(TANDEM_REG_WATCHDOG_HI)} << 32 | watchdog_low;
    if (info->hashes.isa != expected.isa) return Status::kWrongIsa;
    return info->hashes.chip == expected.chip ? Status::kOk : Status::kWrongChip;
}

Status Driver::reset() {
    ring_ = nullptr;
    hal_.write32(TANDEM_REG_CONTROL, TANDEM_CONTROL_RESET);
    for (int poll = 0; (hal_.read32(TANDEM_REG_STATUS) & kBusyOrError) != 0; ++poll) {
        if (poll == kResetPolls) return Status::kResetFailed;
        (void)hal_.wait_for_interrupt(kResetPollUs);
    }
    hal_.write32(TANDEM_REG_IRQ_ENABLE, 0);
    hal_.write32(TANDEM_REG_IRQ_STATUS, kAllInterrupts);
    return Status::kOk;
}

Status Driver::start(const RingConfig& config) {
    if (config.entries < kMinEntries || config.entries > kMaxEntries ||
        !is_power_of_two(config.entries) || config.bus_address % TANDEM_COMMAND_BYTES != 0) {
        return Status::kBadArgument;
    }
    const uint64_t bytes = uint64_t{config.entries} * TANDEM_COMMAND_BYTES;
    void* memory = hal_.pointer(config.bus_address, bytes);
    if (memory == nullptr) return Status::kBadArgument;

    ring_ = static_cast<volatile uint32_t*>(memory);
    entries_ = config.entries;
    submitted_ = 0;
    completed_ = 0;
    hal_.write32(TANDEM_REG_RING_BASE_LO, static_cast<uint32_t>(config.bus_address));
    hal_.write32(TANDEM_REG_RING_BASE_HI, static_cast<uint32_t>(config.bus_address >> 32));
    hal_.write32(TANDEM_REG_RING_ENTRIES, config.entries);
    hal_.write32(TANDEM_REG_IRQ_ENABLE, kAllInterrupts);
    hal_.write32(TANDEM_REG_CONTROL, TANDEM_CONTROL_ENABLE);
    return Status::kOk;
}

Status Driver::submit(const Command& command, uint32_t* ticket) {
    if (ticket == nullptr || !is_valid(command)) return Status::kBadArgument;
    if (ring_ == nullptr) return Status::kNotReady;
    if (doorbell() - completed_ >= entries_) {
        // The bus is asked only when the last known position says full.
        completed_ = hal_.read32(TANDEM_REG_RING_HEAD);
        if (doorbell() - completed_ >= entries_) return Status::kRingFull;
    }
    write_entry(doorbell() % entries_, command);
    hal_.memory_barrier();
    *ticket = doorbell();
    ++submitted_;
    hal_.write32(TANDEM_REG_DOORBELL, doorbell());
    return Status::kOk;
}

void Driver::write_entry(uint32_t index, const Command& command) {
    volatile uint32_t* entry = ring_ + index * kEntryWords;
    put32(entry, TANDEM_COMMAND_OPCODE_OFFSET, command.opcode);
    put32(entry, TANDEM_COMMAND_TAG_OFFSET, doorbell());
    put64(entry, TANDEM_COMMAND_SOURCE_OFFSET, command.source);
    put64(entry, TANDEM_COMMAND_DESTINATION_OFFSET, command.destination);
    put64(entry, TANDEM_COMMAND_BYTES_OFFSET, command.bytes);
    put64(entry, TANDEM_COMMAND_ARG0_OFFSET, command.args[0]);
    put64(entry, TANDEM_COMMAND_ARG1_OFFSET, command.args[1]);
    put64(entry, TANDEM_COMMAND_ARG2_OFFSET, command.args[2]);
    put32(entry, TANDEM_COMMAND_STATUS_OFFSET, 0);
    put32(entry, TANDEM_COMMAND_CYCLES_OFFSET, 0);
}

Status Driver::wait(uint32_t ticket, uint64_t timeout_us, Completion* completion) {
    if (ring_ == nullptr) return Status::kNotReady;
    const uint32_t age = doorbell() - ticket;
    if (age == 0 || age > entries_ || age > submitted_) return Status::kBadArgument;

    const uint64_t start_us = hal_.now_us();
    for (;;) {
        completed_ = hal_.read32(TANDEM_REG_RING_HEAD);
        if (doorbell() - completed_ < age) return finish(ticket, completion);
        // A command that failed need not count as completed.
        if ((hal_.read32(TANDEM_REG_STATUS) & TANDEM_STATUS_ERROR) != 0) {
            if (completion != nullptr) *completion = {hal_.read32(TANDEM_REG_ERROR_CODE), 0};
            return Status::kDeviceError;
        }
        const uint64_t elapsed_us = hal_.now_us() - start_us;
        if (elapsed_us >= timeout_us) return Status::kTimeout;
        // Acknowledged before the ring is looked at again, so that what completes in between is
        // seen there or raises the line anew.
        if (hal_.wait_for_interrupt(timeout_us - elapsed_us)) {
            hal_.write32(TANDEM_REG_IRQ_STATUS, kAllInterrupts);
        }
    }
}

Status Driver::finish(uint32_t ticket, Completion* completion) {
    hal_.memory_barrier();
    const volatile uint32_t* entry = ring_ + ticket % entries_ * kEntryWords;
    const uint32_t status = entry[TANDEM_COMMAND_STATUS_OFFSET / 4];
    if (status == 0) return Status::kProtocol;
    if (completion != nullptr) *completion = {status - 1, entry[TANDEM_COMMAND_CYCLES_OFFSET / 4]};
    return status - 1 == TANDEM_ERROR_NONE ? Status::kOk : Status::kDeviceError;
}

void Driver::stop() {
    hal_.write32(TANDEM_REG_CONTROL, 0);
    hal_.write32(TANDEM_REG_IRQ_ENABLE, 0);
    ring_ = nullptr;
}

ErrorReport Driver::error() {
    ErrorReport report;
    report.failed = (hal_.read32(TANDEM_REG_STATUS) & TANDEM_STATUS_ERROR) != 0;
    report.code = hal_.read32(TANDEM_REG_ERROR_CODE);
    report.info = hal_.read32(TANDEM_REG_ERROR_INFO);
    report.core = hal_.read32(TANDEM_REG_ERROR_CORE);
    return report;
}

Counters Driver::counters() {
    Counters counters;
    counters.cycles = read64(TANDEM_REG_CYCLES_LO, TANDEM_REG_CYCLES_HI);
    counters.macs = read64(TANDEM_REG_MACS_LO, TANDEM_REG_MACS_HI);
    counters.mxu_busy_cycles = read64(TANDEM_REG_MXU_BUSY_LO, TANDEM_REG_MXU_BUSY_HI);
    counters.instructions = hal_.read32(TANDEM_REG_INSTRUCTIONS);
    return counters;
}

CoreReport Driver::core(uint32_t core) {
    hal_.write32(TANDEM_REG_CORE_SELECT, core);
    CoreReport report;
    const uint32_t status = hal_.read32(TANDEM_REG_CORE_STATUS);
    report.busy = (status & TANDEM_CORE_STATUS_BUSY) != 0;
    report.watchdog = (status & TANDEM_CORE_STATUS_WATCHDOG) != 0;
    report.error.failed = (status & TANDEM_CORE_STATUS_ERROR) != 0;
    report.error.code = hal_.read32(TANDEM_REG_CORE_ERROR_CODE);
    report.error.info = hal_.read32(TANDEM_REG_CORE_ERROR_INFO);
    report.error.core = core;
    Counters& counters = report.counters;
    counters.cycles = read64(TANDEM_REG_CORE_CYCLES_LO, TANDEM_REG_CORE_CYCLES_HI);
    counters.macs = read64(TANDEM_REG_CORE_MACS_LO, TANDEM_REG_CORE_MACS_HI);
    counters.mxu_busy_cycles = read64(TANDEM_REG_CORE_MXU_BUSY_LO, TANDEM_REG_CORE_MXU_BUSY_HI);
    counters.instructions = hal_.read32(TANDEM_REG_CORE_INSTRUCTIONS);
    return report;
}

uint64_t Driver::read64(uint32_t low_offset, uint32_t high_offset) {
    // The two words are not latched: a carry between the reads shows in the high word.
    uint32_t high = hal_.read32(high_offset);
    for (;;) {
        const uint32_t low = hal_.read32(low_offset);
        const uint32_t again = hal_.read32(high_offset);
        if (again == high) return uint64_t{high} << 32 | low;
        high = again;
    }
}

}  // namespace tandem::firmware
