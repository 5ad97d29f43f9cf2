// SPDX-License-Identifier: Apache-2.0
// An input given to the command line, as a user would.
#pragma once

#include "testbench/fuzz/target.h"

namespace tandem::fuzz {

/// Returns what the command says in its first line. Throws UserError with what it says for exit
/// status 2, Broken for a status other than 0 to 2, a signal or a hang.
std::string run_command(const std::string& tandem, const Target& target, const Bytes& input);

}  // namespace tandem::fuzz
