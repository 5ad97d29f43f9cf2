// SPDX-License-Identifier: Apache-2.0
// The Verilated array of a chip: found in the cache or built on demand, in one of the forms of
// Tandem's own RTL or from RTL that a user brings.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "arch/chip_config.h"
#include "cosim/array_library.h"
#include "engine/mxu_engine.h"

namespace tandem::run {

/// Which RTL; the options --form, --rtl, --rtl-top, --rtl-timing.
struct ArrayChoice {
    std::string form = "flat";
    std::string rtl;         ///< file list of another array; empty: Tandem's own
    std::string rtl_top;     ///< its top module
    std::string rtl_timing;  ///< its declaration; empty: TOP.yaml beside the file list

    bool other() const { return !rtl.empty(); }
    /// As on a command line, with a leading blank; empty when all is default.
    std::string to_string() const;
};

/// An array and the shape that model and co-simulation have to take for it: that of another array
/// says in `declared` what its declaration file promises.
struct LoadedArray {
    std::shared_ptr<cosim::ArrayLibrary> library;
    engine::MxuShape shape;
    double seconds = 0;  ///< of this machine, until it was found or built
};

/// Shape of a chip's array, with what another array declares. Builds nothing.
engine::MxuShape array_shape(const arch::ChipConfig& chip, const ArrayChoice& choice = {});

/// Prints progress on stderr while it builds. A foreign array is probed once it is loaded. Throws
/// UserError when the array cannot be built, or is not what it declares.
LoadedArray load_array(const arch::ChipConfig& chip, const ArrayChoice& choice = {});
LoadedArray load_array(const engine::MxuShape& shape, const ArrayChoice& choice = {});

/// The shared object of an array that any CPU of this architecture of the last ten years runs, or
/// those of TANDEM_ARRAY_MARCH.
struct BuiltArray {
    std::filesystem::path file;
    std::string march;
};
BuiltArray portable_array(const engine::MxuShape& shape, const ArrayChoice& choice);

}  // namespace tandem::run
