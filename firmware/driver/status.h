// SPDX-License-Identifier: Apache-2.0
// What a driver call can come to. Numbers are a contract: they are Job::status and exit codes.
#pragma once

#include <stdint.h>

namespace tandem::firmware {

enum class [[nodiscard]] Status : uint32_t{
    kOk = 0,
    kBadArgument = 1,   ///< refused before the hardware was touched; may retry with a good one
    kNotReady = 2,      ///< a call out of order (ring not started)
    kNoDevice = 3,      ///< register ID is not that of a TPU
    kWrongVersion = 4,  ///< registers of a version that this driver does not know
    kWrongChip = 5,     ///< the image was compiled for a chip with other figures
    kResetFailed = 6,   ///< the TPU stayed busy or in error after a reset
    kRingFull = 7,      ///< nothing was written; wait for a command, then retry
    kTimeout = 8,       ///< the command may still run: reset() before its memory is reused
    kDeviceError = 9,   ///< the TPU stopped with an error; see Driver::error(), then reset()
    kProtocol = 10,     ///< the TPU reported completion without a status: broken hardware or model
    kImageTruncated = 11,  ///< image ends too early, or has bytes after its last section
    kImageMagic = 12,      ///< not a program image
    kImageVersion = 13,    ///< container of another version
    kImageSection = 14,    ///< sections are not CODE, DATA, META
    kImageChecksum = 15,   ///< a section is corrupt
    kImageCode = 16,       ///< not a program of whole instructions for every core
    kDeviceMemory = 17,    ///< the program does not fit into device memory
    kWrongIsa = 19,        ///< the image was compiled for another instruction set
    kTooFewCores = 20,     ///< the image is for more cores than the TPU has
    kBadJob = 18,  ///< job block without magic, of another version, or with impossible values
};

/// Short text for people, never null.
const char* status_text(Status status);

}  // namespace tandem::firmware
