// SPDX-License-Identifier: Apache-2.0
// Builds Verilated MAC arrays on demand, one shared object per array, and loads them. An array is
// looked up by a hash of everything that went into it, so a stale one is never used.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arch/dtype.h"
#include "cosim/array_abi.h"

namespace tandem::cosim {

/// RTL that is not Tandem's own: a top module with the ports of rtl/README.md.
struct OtherRtl {
    std::filesystem::path filelist;  ///< paths in it are relative to its folder
    std::string top;
};

inline constexpr uint32_t kLargestSide = 256;  ///< most rows, most columns

/// Parameters of one array; see rtl/README.md for their ranges.
struct ArraySpec {
    unsigned rows;
    unsigned cols;
    unsigned acc_depth;  ///< accumulator rows
    arch::Dtype dtype = arch::Dtype::kInt8;
    std::string form = "flat";  ///< flat, grid
    unsigned pipeline = 1;      ///< PEs between two pipeline registers
    bool sum4 = false;
    std::optional<OtherRtl> other = {};
};

struct BuildOptions {
    std::filesystem::path rtl_dir;    ///< holds filelist.f
    std::filesystem::path shim_dir;   ///< holds array_shim.cpp and array_abi.h
    std::filesystem::path cache_dir;  ///< created when missing; arrays and failure logs go here
    std::vector<std::filesystem::path> search_dirs;  ///< looked at first, never written
    std::function<void(std::string_view)> progress;  ///< one line per build stage; may be empty
};

/// The shared object for `spec`: from the search directories, from the cache, or built now (a few
/// seconds; the first build in a cache takes some more). Any number of processes may share a cache;
/// a damaged file in it is built again. Needs verilator, and g++ or (bf16 in flat form) clang++, in
/// PATH. Throws UserError with the stage, the first error, the command and its kept log.
///
/// Environment: TANDEM_ARRAY_MARCH (default native) and TANDEM_ARRAY_OPT (default -O3) select the
/// compiler's -march and its level for the array; TANDEM_ARRAY_WAVES=off leaves waveforms out;
/// TANDEM_ARRAY_COVERAGE=DIRECTORY counts coverage of Tandem's own RTL and leaves the counters of
/// every instance there. All but that directory are part of the hash.
std::filesystem::path ensure_array(const ArraySpec& spec, const BuildOptions& options);

/// A loaded array object. Arrays of different sizes can be loaded side by side; everything that was
/// created through one must be destroyed before it.
class ArrayLibrary {
  public:
    /// Throws std::runtime_error when the object cannot be loaded, speaks another ABI version, or
    /// has a build key that is not the one in its file name.
    explicit ArrayLibrary(const std::filesystem::path& path);
    ~ArrayLibrary();
    ArrayLibrary(ArrayLibrary&& other) noexcept;
    ArrayLibrary& operator=(ArrayLibrary&& other) noexcept;
    ArrayLibrary(const ArrayLibrary&) = delete;
    ArrayLibrary& operator=(const ArrayLibrary&) = delete;

    const TandemArrayInfo& info() const { return *info_; }

    // The functions of array_abi.h.
    decltype(&tandem_array_create) create = nullptr;
    decltype(&tandem_array_destroy) destroy = nullptr;
    decltype(&tandem_array_reset) reset = nullptr;
    decltype(&tandem_array_step) step = nullptr;
    decltype(&tandem_array_pe) pe = nullptr;
    decltype(&tandem_array_settle) settle = nullptr;
    decltype(&tandem_array_taps) taps = nullptr;
    decltype(&tandem_array_watch) watch = nullptr;
    decltype(&tandem_array_trace_open) trace_open = nullptr;
    decltype(&tandem_array_trace_close) trace_close = nullptr;

  private:
    void* handle_ = nullptr;
    const TandemArrayInfo* info_ = nullptr;
};

}  // namespace tandem::cosim
