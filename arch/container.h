// SPDX-License-Identifier: Apache-2.0
// Layout of a program container (.tpu), for whoever writes or reads one: the compiler, the tools
// and the firmware driver. All numbers are little-endian, nothing is aligned.
//
//   header   "TPUP", u32 container version, u64 ISA hash, u64 chip hash
//   section  u32 tag, u32 CRC-32 of the payload, u64 bytes of the payload, payload
//
// Three sections follow the header: CODE (instructions), DATA (goes into device memory) and META
// (UTF-8 JSON, for tools; it repeats both hashes under its checksum). Nothing follows META.
#pragma once

#include <stdint.h>

namespace tandem::container {

inline constexpr uint32_t kMagic = 0x50555054;  ///< "TPUP"
inline constexpr uint32_t kVersion = 2;

inline constexpr uint32_t kMagicOffset = 0;
inline constexpr uint32_t kVersionOffset = 4;
inline constexpr uint32_t kIsaHashOffset = 8;    ///< isa::kHash: instructions and registers
inline constexpr uint32_t kChipHashOffset = 16;  ///< ChipConfig::hash(): the chip's figures
inline constexpr uint32_t kHeaderBytes = 24;

inline constexpr uint32_t kTagOffset = 0;
inline constexpr uint32_t kChecksumOffset = 4;
inline constexpr uint32_t kLengthOffset = 8;
inline constexpr uint32_t kSectionHeaderBytes = 16;

/// Where the firmware puts them: CODE at device address 0, DATA at the next multiple of this.
inline constexpr uint32_t kDataAlignment = 4096;

inline constexpr uint32_t kCode = 0x45444f43;
inline constexpr uint32_t kData = 0x41544144;
inline constexpr uint32_t kMeta = 0x4154454d;

}  // namespace tandem::container
