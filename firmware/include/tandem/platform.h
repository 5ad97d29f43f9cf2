// SPDX-License-Identifier: Apache-2.0
// The host's address map: where the CPU finds memory, the TPU's registers and the platform device.
// Shared by the firmware (freestanding) and by the simulation, so that neither repeats a number.
#pragma once

#include <stdint.h>

namespace tandem::platform {

/// Host memory. The TPU sees it at the same addresses.
inline constexpr uint64_t kRamBase = 0x80000000u;
inline constexpr uint64_t kRamBytes = 256u << 20;     ///< default size
inline constexpr uint64_t kRamMaxBytes = 1ull << 31;  ///< up to the end of a 32-bit address space
/// The first bytes of RAM belong to code, data and stack of the firmware; jobs live above.
inline constexpr uint64_t kFirmwareBytes = 1u << 20;

/// Register block of the TPU; offsets in arch/generated/registers.h.
inline constexpr uint64_t kTpuBase = 0x10000000u;
inline constexpr uint64_t kTpuBytes = 0x1000u;

/// Console, exit, timer and interrupt gathering.
inline constexpr uint64_t kDeviceBase = 0x10010000u;
inline constexpr uint64_t kDeviceBytes = 0x1000u;

// Registers of the platform device: 32 bits, aligned access only.
inline constexpr uint32_t kConsole = 0x00;     ///< w: one character
inline constexpr uint32_t kExit = 0x04;        ///< w: ends the CPU with this code
inline constexpr uint32_t kTimeUsLo = 0x08;    ///< r: microseconds, low word; latches the high word
inline constexpr uint32_t kTimeUsHi = 0x0c;    ///< r: high word of the last read of kTimeUsLo
inline constexpr uint32_t kCompareLo = 0x10;   ///< rw: timer interrupt while time >= compare
inline constexpr uint32_t kCompareHi = 0x14;   ///< rw: high word; all ones in both words is off
inline constexpr uint32_t kIrqPending = 0x18;  ///< r: see kIrqTpu, kIrqTimer
inline constexpr uint32_t kJob = 0x1c;         ///< r: bus address of the job block, 0: none

inline constexpr uint32_t kIrqTpu = 1u << 0;
inline constexpr uint32_t kIrqTimer = 1u << 1;

}  // namespace tandem::platform
