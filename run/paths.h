// SPDX-License-Identifier: Apache-2.0
// Where a built Tandem finds its own files.
#pragma once

#include <filesystem>

namespace tandem::run {

std::filesystem::path source_dir();  ///< root of the source tree (TANDEM_SOURCE_DIR overrides)
std::filesystem::path chips_dir();
std::filesystem::path command();          ///< the command line itself
std::filesystem::path firmware_elf();     ///< of the RISC-V host CPU
std::filesystem::path float_filter();     ///< of GTKWave, for bf16 and fp32
std::filesystem::path array_cache_dir();  ///< Verilated arrays (TANDEM_ARRAY_CACHE overrides)

}  // namespace tandem::run
