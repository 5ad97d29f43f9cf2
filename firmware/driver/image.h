// SPDX-License-Identifier: Apache-2.0
// Reads the program container (arch/container.h) in place: nothing is copied, nothing is trusted.
#pragma once

#include <stdint.h>

#include "firmware/driver/status.h"

namespace tandem::firmware {

/// Where the parts of an image stand, as offsets from its first byte.
struct Image {
    uint64_t isa_hash = 0;
    uint64_t chip_hash = 0;
    uint32_t cores = 0;         ///< that take part, 1 or more
    uint64_t table_offset = 0;  ///< an entry for each of them, as in a core table
    uint64_t table_bytes = 0;
    uint64_t code_offset = 0;  ///< all programs, as they stand in device memory
    uint64_t code_bytes = 0;
    uint64_t data_offset = 0;
    uint64_t data_bytes = 0;
};

/// Checks every byte of the container (the hashes aside, which only the device can confirm) and
/// fills `image`. On failure `image` is unchanged. Touches no hardware.
Status parse_image(const uint8_t* bytes, uint64_t size, Image* image);

/// CRC-32 as in zlib, bit by bit: no table, for firmware counts bytes more than cycles.
uint32_t crc32(const uint8_t* bytes, uint64_t size);

}  // namespace tandem::firmware
