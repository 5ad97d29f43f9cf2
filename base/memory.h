// SPDX-License-Identifier: Apache-2.0
// Memory that the system may refuse.
#pragma once

#include <cstdint>
#include <string>

namespace tandem::base {

/// "; the limit of this process is N MB (ulimit -v)", or nothing where there is none.
std::string memory_limit_text();

/// Throws UserError: the system has refused so many bytes for `what`.
[[noreturn]] void refuse_memory(uint64_t bytes, const std::string& what);

/// Throws UserError naming `what` when the system refuses so many bytes at once. For libraries that
/// end the process instead.
void require_memory(uint64_t bytes, const std::string& what);

}  // namespace tandem::base
