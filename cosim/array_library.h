// SPDX-License-Identifier: Apache-2.0
// A Verilated array, loaded.
#pragma once

#include <filesystem>

#include "cosim/array_abi.h"
#include "cosim/shared_object.h"

namespace tandem::cosim {

/// A loaded array object. Arrays of different sizes can be loaded side by side; everything that was
/// created through one must be destroyed before it.
class ArrayLibrary {
  public:
    /// Throws UserError when somebody else than the user and root can change the file or a folder
    /// above it; std::runtime_error when it cannot be loaded, speaks another ABI version, or has a
    /// build key that is not the one in its file name.
    explicit ArrayLibrary(const std::filesystem::path& path);

    const TandemArrayInfo& info() const { return *info_; }

    // The functions of array_abi.h.
    decltype(&tandem_array_create) create = nullptr;
    decltype(&tandem_array_create_random) create_random = nullptr;
    decltype(&tandem_array_destroy) destroy = nullptr;
    decltype(&tandem_array_reset) reset = nullptr;
    decltype(&tandem_array_step) step = nullptr;
    decltype(&tandem_array_pe) pe = nullptr;
    decltype(&tandem_array_settle) settle = nullptr;
    decltype(&tandem_array_taps) taps = nullptr;
    decltype(&tandem_array_watch) watch = nullptr;
    decltype(&tandem_array_trace_open) trace_open = nullptr;
    decltype(&tandem_array_trace_close) trace_close = nullptr;
    decltype(&tandem_array_trace_call) trace_call = nullptr;
    decltype(&tandem_array_wave_signals) wave_signals = nullptr;
    decltype(&tandem_array_wave_to_vcd) wave_to_vcd = nullptr;

  private:
    const SharedObject object_;
    const TandemArrayInfo* info_ = nullptr;
};

}  // namespace tandem::cosim
