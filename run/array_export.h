// SPDX-License-Identifier: Apache-2.0
// A MAC array as a folder that needs no Tandem: its sources for any simulator, a SystemC module, or
// a library with a C interface, each with a bench.
#pragma once

#include <filesystem>
#include <string>

#include "engine/mxu_engine.h"
#include "run/arrays.h"

namespace tandem::run {

enum class ExportKind {
    kVerilog,  ///< sources in grid form, parameters of type int: Icarus Verilog 11 takes them, too
    kSystemC,  ///< sources in the chosen form; CMake has Verilator make an sc_module of them
    kC         ///< the Verilated array as a shared object, for CPUs of TANDEM_ARRAY_MARCH
};

/// Writes the folder, which must be new, empty, or an export of before: of such a one the
/// files that were written go, and others stay. Throws UserError for any other folder, when
/// a file cannot be written, and for RTL of a user's own unless it is exported as C.
void export_array(const engine::MxuShape& shape, const ArrayChoice& choice, ExportKind kind,
                  const std::filesystem::path& folder);

}  // namespace tandem::run
