// SPDX-License-Identifier: Apache-2.0
// The checker of the port contract, rtl/checks/tpu_port_contract.sv, beside the top of an array:
// its source with the bind, and which rule stands in which line.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "cosim/array_spec.h"

namespace tandem::cosim {

/// The checker in folder `checks` of the RTL, and what messages call it.
inline constexpr std::string_view kContractName = "tpu_port_contract.sv";

/// SystemVerilog for the build of `spec`; empty: spec.contract is. Throws UserError when the
/// checker cannot be read.
std::string contract_source(const ArraySpec& spec, const std::filesystem::path& rtl);

/// The header "contract_rules.h" for the shim: file, and the rules by line.
std::string contract_rules(std::string_view source);

/// A failure that the shim tells, "FILE:LINE...", is one of the checker, not of the array's own
/// assertions.
bool is_of_contract(std::string_view failure);
/// The name of its rule; empty: it is none of the checker.
std::string rule_of(std::string_view failure);
/// The port with which the text of its rule begins; empty: with none.
std::string port_of(std::string_view failure);

}  // namespace tandem::cosim
