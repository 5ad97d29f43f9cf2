// SPDX-License-Identifier: Apache-2.0
// Where Tandem finds its own files: relative to the command or library that is running, in an
// installed tree, a moved one and a build tree alike.
#pragma once

#include <filesystem>

namespace tandem::run {

/// Holds arch/chips, rtl, cosim, models: share/tandem (TANDEM_SOURCE_DIR overrides). Throws
/// UserError when there is none, as the next three do.
std::filesystem::path data_dir();
std::filesystem::path chips_dir();
std::filesystem::path firmware_elf();  ///< of the RISC-V host CPU (TANDEM_FIRMWARE overrides)
std::filesystem::path float_filter();  ///< of GTKWave, for bf16 and fp32
/// Verilated arrays: TANDEM_ARRAY_CACHE, or the cache of the build for who built it, or
/// tandem/arrays in the user's cache. Throws UserError where there is none of them.
std::filesystem::path array_cache_dir();

}  // namespace tandem::run
