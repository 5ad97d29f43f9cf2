// SPDX-License-Identifier: Apache-2.0
// Layout of a program container (.tpu), for whoever writes or reads one: the compiler, the tools
// and the firmware driver. All numbers are little-endian, nothing is aligned.
//
//   header   "TPUP", u32 container version, u64 ISA hash, u64 chip hash
//   section  u32 tag, u32 CRC-32 of the payload, u64 bytes of the payload, payload
//
// Three sections follow the header: CODE (the programs of all cores), DATA (goes into device
// memory) and META (UTF-8 JSON, for tools; it repeats both hashes under its checksum). Nothing
// follows META.
//
//   CODE     u32 cores, u32 zero, an entry for each core as in a core table (registers.yaml),
//            programs
//
// The programs lie one behind the other, each at a multiple of kCodeAlignment from the first
// program on, with zeros between them and nothing behind the last one.
//
// In device memory the firmware puts the programs at address 0, the core table at the next multiple
// of kTableAlignment, DATA at the next multiple of kDataAlignment.
#pragma once

#include <stdint.h>

namespace tandem::container {

inline constexpr uint32_t kMagic = 0x50555054;  ///< "TPUP"
inline constexpr uint32_t kVersion = 5;

inline constexpr uint32_t kMagicOffset = 0;
inline constexpr uint32_t kVersionOffset = 4;
inline constexpr uint32_t kIsaHashOffset = 8;    ///< isa::kHash: instructions and registers
inline constexpr uint32_t kChipHashOffset = 16;  ///< ChipConfig::hash(): the chip's figures
inline constexpr uint32_t kHeaderBytes = 24;

inline constexpr uint32_t kTagOffset = 0;
inline constexpr uint32_t kChecksumOffset = 4;
inline constexpr uint32_t kLengthOffset = 8;
inline constexpr uint32_t kSectionHeaderBytes = 16;

inline constexpr uint32_t kCoresOffset = 0;    ///< in CODE
inline constexpr uint32_t kEntriesOffset = 8;  ///< likewise
inline constexpr uint32_t kMostCores = 256;

inline constexpr uint32_t kCodeAlignment = 256;
inline constexpr uint32_t kTableAlignment = 64;
inline constexpr uint32_t kDataAlignment = 4096;

/// The first multiple of `alignment`, a power of two, that is not below `value`.
inline constexpr uint64_t aligned(uint64_t value, uint32_t alignment) {
    return (value + alignment - 1) & ~uint64_t{alignment - 1u};
}

inline constexpr uint32_t kCode = 0x45444f43;
inline constexpr uint32_t kData = 0x41544144;
inline constexpr uint32_t kMeta = 0x4154454d;

}  // namespace tandem::container
