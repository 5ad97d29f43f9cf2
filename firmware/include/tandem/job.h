// SPDX-License-Identifier: Apache-2.0
// The job block: what the loader asks of the firmware, and what the firmware answers. It lies in
// host memory, little-endian, and has the same layout on a 32-bit RISC-V and on the machine that
// simulates.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace tandem::firmware {

inline constexpr uint32_t kJobMagic = 0x424a4454;  ///< the letters TDJB
inline constexpr uint32_t kJobVersion = 2;
inline constexpr uint32_t kJobNotRun = 0xffffffff;  ///< Job::status before the firmware answers
inline constexpr uint32_t kJobMessageBytes = 64;

/// How far a job came; in a failed job the stage that failed.
enum class Stage : uint32_t {
    kNone = 0,
    kCheckJob = 1,
    kParseImage = 2,
    kDiscover = 3,
    kReset = 4,
    kStartRing = 5,
    kLoadCode = 6,
    kLoadData = 7,
    kRun = 8,
    kDone = 9,
};

/// All addresses are bus addresses in host memory.
struct Job {
    uint32_t magic = kJobMagic;
    uint32_t version = kJobVersion;
    uint64_t image_address = 0;  ///< the whole .tpu container
    uint64_t image_bytes = 0;
    uint64_t ring_address = 0;  ///< memory for the command ring, 64-byte aligned
    uint32_t ring_entries = 0;  ///< a power of two, 2 to 1024
    uint32_t runs = 0;
    uint64_t input_address = 0;  ///< run i reads at input_address + i * input_bytes
    uint64_t input_bytes = 0;    ///< per run
    uint64_t output_address = 0;
    uint64_t output_bytes = 0;         ///< per run
    uint64_t timeout_us = 10'000'000;  ///< for each command, from when it is the oldest one

    // Written by the firmware.
    uint32_t status = kJobNotRun;  ///< firmware::Status as a number
    uint32_t runs_done = 0;
    uint32_t error_code = 0;  ///< TANDEM_ERROR_..., when status is kDeviceError
    uint32_t error_info = 0;
    uint32_t stage = 0;                   ///< firmware::Stage as a number
    uint32_t error_core = 0;              ///< whose instruction error_info is
    uint64_t device_cycles = 0;           ///< register CYCLES after the last run
    char message[kJobMessageBytes] = {};  ///< for people, zero-terminated
};

static_assert(sizeof(Job) == 176 && alignof(Job) == 8, "the layout is a contract");
static_assert(offsetof(Job, status) == 80 && offsetof(Job, message) == 112);

}  // namespace tandem::firmware
