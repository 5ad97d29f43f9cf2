// SPDX-License-Identifier: Apache-2.0
// Where the registers of the PEs and the nets between the units stand in a Verilated array, as C++
// for array_shim.cpp. What the array does not show under the names of rtl/README.md is left out.
#pragma once

#include <string>

#include "cosim/array_spec.h"
#include "cosim/generated_model.h"

namespace tandem::cosim {

/// Raised whenever array_view() changes what it writes: arrays are built again.
inline constexpr const char* kViewVersion = "view 3";

/// Configuration for Verilator that keeps the names of an array visible.
std::string visibility_config(const ArraySpec& spec);

/// Throws UserError naming the first port of the contract that is missing or has another width.
void check_ports(const ArraySpec& spec, const std::string& top, const GeneratedModel& model);

/// The header "array_places.h" for the shim.
std::string array_view(const ArraySpec& spec, const std::string& top, const GeneratedModel& model);

}  // namespace tandem::cosim
