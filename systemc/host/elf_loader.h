// SPDX-License-Identifier: Apache-2.0
// Loads a bare-metal RV32 ELF executable; trusts nothing in it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace tandem::host {

/// Copies the loadable segments of `file` to `ram`, whose first byte has bus address `base`, zeroes
/// what they ask for beyond their bytes, and returns the entry point. Throws UserError, naming
/// `origin`, for anything but a 32-bit little-endian RISC-V executable without compressed
/// instructions whose segments and entry lie inside `ram`.
uint32_t load_elf(std::span<const uint8_t> file, const std::string& origin, std::span<uint8_t> ram,
                  uint64_t base);

}  // namespace tandem::host
