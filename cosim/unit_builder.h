// SPDX-License-Identifier: Apache-2.0
// Builds Verilated units other than the MAC array on demand, as array_builder.h builds arrays: one
// shared object per unit, found by a hash of all that went into it, in the same cache. What differs
// from unit to unit is its UnitSpec; the C interface (unit_abi.h) is made from the ports that
// Verilator finds.
#pragma once

#include <filesystem>

#include "cosim/array_builder.h"
#include "cosim/unit_spec.h"

namespace tandem::cosim {

/// From the cache, or built now (about 10 s). `options.rtl_dir` and `search_dirs` do not count.
/// Throws UserError with the stage, the first error, the command and its kept log; for a top module
/// without clk_i or rst_ni; and for a cache that others can change.
std::filesystem::path ensure_unit(const UnitSpec& spec, const BuildOptions& options);

}  // namespace tandem::cosim
