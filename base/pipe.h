// SPDX-License-Identifier: Apache-2.0
// What a child process says through a pipe.
#pragma once

#include <string>

namespace tandem::base {

/// Everything until the other end is closed, or nothing more can be read.
std::string read_all(int pipe);

}  // namespace tandem::base
