// SPDX-License-Identifier: Apache-2.0
// Names of TFLite's builtin operators, for messages about those that Tandem does not run.
#pragma once

#include <cstdint>
#include <string>

namespace tandem::compiler {

/// e.g. "LOGISTIC" for 14; "operator code 999" for a number that the format does not define.
std::string operator_code_name(int32_t code);

}  // namespace tandem::compiler
