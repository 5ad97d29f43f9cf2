// SPDX-License-Identifier: Apache-2.0
#include "firmware/hal/mmio_hal.h"

#include "firmware/include/tandem/platform.h"

namespace tandem::firmware {

namespace {

constexpr uint64_t kNever = ~uint64_t{0};

}  // namespace

uint32_t MmioHal::read32(uint32_t offset) { return bus_read32(platform::kTpuBase + offset); }

void MmioHal::write32(uint32_t offset, uint32_t value) {
    bus_write32(platform::kTpuBase + offset, value);
}

uint32_t MmioHal::read_device(uint32_t offset) {
    return bus_read32(platform::kDeviceBase + offset);
}

void MmioHal::write_device(uint32_t offset, uint32_t value) {
    bus_write32(platform::kDeviceBase + offset, value);
}

void MmioHal::set_compare(uint64_t time_us) {
    // All ones first: no half-written value may look like a time that has passed.
    write_device(platform::kCompareHi, ~uint32_t{0});
    write_device(platform::kCompareLo, static_cast<uint32_t>(time_us));
    write_device(platform::kCompareHi, static_cast<uint32_t>(time_us >> 32));
}

uint64_t MmioHal::now_us() {
    const uint32_t low = read_device(platform::kTimeUsLo);
    return uint64_t{read_device(platform::kTimeUsHi)} << 32 | low;
}

bool MmioHal::wait_for_interrupt(uint64_t timeout_us) {
    const uint64_t now = now_us();
    set_compare(timeout_us > kNever - now ? kNever : now + timeout_us);
    uint32_t pending = read_device(platform::kIrqPending);
    while (pending == 0) {
        idle();
        pending = read_device(platform::kIrqPending);
    }
    set_compare(kNever);
    return (pending & platform::kIrqTpu) != 0;
}

void MmioHal::log(const char* text) {
    for (; *text != '\0'; ++text) {
        write_device(platform::kConsole, static_cast<uint8_t>(*text));
    }
    write_device(platform::kConsole, '\n');
}

void MmioHal::exit(uint32_t code) { write_device(platform::kExit, code); }

uint64_t MmioHal::job_address() { return read_device(platform::kJob); }

}  // namespace tandem::firmware
