// SPDX-License-Identifier: Apache-2.0
// Builds Verilated MAC arrays on demand, one shared object per array. An array is looked up by a
// hash of everything that went into it, so a stale one is never used.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cosim/array_spec.h"

namespace tandem::cosim {

struct BuildOptions {
    std::filesystem::path rtl_dir;    ///< holds filelist.f
    std::filesystem::path shim_dir;   ///< holds array_shim.cpp and its headers
    std::filesystem::path cache_dir;  ///< made when missing; arrays and failure logs go here
    std::vector<std::filesystem::path> search_dirs;  ///< looked at first, never written
    std::function<void(std::string_view)> progress;  ///< one line per build stage; may be empty
    std::string march = "native";  ///< the compiler's -march, where the environment has none
    std::chrono::milliseconds tool_limit{10'000};  ///< for a tool to say its version
};

/// The shared object for `spec`: from the search directories, from the cache, or built now (a few
/// seconds; the first build in a cache takes some more). Any number of processes may share a cache;
/// a damaged file in it is built again. A cache, or a file in it, that others can change is refused
/// (UserError); such a search directory is left out, and that is told. Needs verilator, and g++ or
/// (bf16 in flat form) clang++, in PATH. Throws UserError with the stage, the first error, the
/// command and its kept log.
///
/// Environment: TANDEM_ARRAY_MARCH (default native) and TANDEM_ARRAY_OPT (default -O3) select the
/// compiler's -march and its level for the array; TANDEM_ARRAY_WAVES=off leaves waveforms out;
/// TANDEM_ARRAY_COVERAGE=DIRECTORY counts coverage of Tandem's own RTL and leaves the counters of
/// every instance there. All but that directory are part of the hash.
std::filesystem::path ensure_array(const ArraySpec& spec, const BuildOptions& options);

}  // namespace tandem::cosim
