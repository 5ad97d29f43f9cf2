// SPDX-License-Identifier: Apache-2.0
#include "firmware/hal/hal_riscv.h"

#include <stdio.h>

#include "firmware/include/tandem/platform.h"

namespace tandem::firmware {

namespace {

constexpr uint32_t kMstatusMie = 1u << 3;
constexpr uint32_t kMieMeie = 1u << 11;
constexpr uint32_t kCauseExternal = 0x8000000bu;
constexpr uint32_t kExitUnexpectedTrap = 127;

volatile uint32_t* device_register(uint32_t offset) {
    return reinterpret_cast<volatile uint32_t*>(
        static_cast<uintptr_t>(platform::kDeviceBase + offset));
}

int put_character(char character, FILE*) {
    *device_register(platform::kConsole) = static_cast<uint8_t>(character);
    return static_cast<uint8_t>(character);
}

FILE console = FDEV_SETUP_STREAM(put_character, nullptr, nullptr, _FDEV_SETUP_WRITE);

}  // namespace

void* HalRiscv::pointer(uint64_t bus_address, uint64_t bytes) {
    constexpr uint64_t kEnd = platform::kRamBase + platform::kRamMaxBytes;
    if (bus_address < platform::kRamBase || bus_address > kEnd || bytes > kEnd - bus_address) {
        return nullptr;
    }
    return reinterpret_cast<void*>(static_cast<uintptr_t>(bus_address));
}

void HalRiscv::memory_barrier() { asm volatile("fence rw, rw" ::: "memory"); }

uint32_t HalRiscv::bus_read32(uint64_t address) {
    return *reinterpret_cast<volatile uint32_t*>(static_cast<uintptr_t>(address));
}

void HalRiscv::bus_write32(uint64_t address, uint32_t value) {
    *reinterpret_cast<volatile uint32_t*>(static_cast<uintptr_t>(address)) = value;
}

void HalRiscv::idle() {
    // Enabled in mie but not in mstatus, the interrupt ends wfi without a trap, also when it came
    // before wfi; the trap is taken where mstatus is opened, and masks the source (handle_trap).
    asm volatile("csrs mie, %0" ::"r"(kMieMeie));
    asm volatile("wfi" ::: "memory");
    asm volatile("csrs mstatus, %0" ::"r"(kMstatusMie) : "memory");
    asm volatile("csrc mstatus, %0" ::"r"(kMstatusMie) : "memory");
}

}  // namespace tandem::firmware

// picolibc declares stdout with C++ linkage.
FILE* const stdout = &tandem::firmware::console;

extern "C" {

/// Called by start.S. The line is level-sensitive and whoever sleeps looks at its source, so all to
/// do here is to mask it until the next idle().
void handle_trap(uint32_t cause, uint32_t pc) {
    using namespace tandem;
    if (cause == firmware::kCauseExternal) {
        asm volatile("csrc mie, %0" ::"r"(firmware::kMieMeie));
        return;
    }
    printf("unexpected trap: cause %08x at pc %08x\n", static_cast<unsigned>(cause),
           static_cast<unsigned>(pc));
    *firmware::device_register(platform::kExit) = firmware::kExitUnexpectedTrap;
    for (;;) asm volatile("wfi");
}

/// Abstract classes refer to it; there is no C++ runtime library to provide it.
void __cxa_pure_virtual() {
    printf("pure virtual call\n");
    *tandem::firmware::device_register(tandem::platform::kExit) =
        tandem::firmware::kExitUnexpectedTrap;
    for (;;) asm volatile("wfi");
}
}
