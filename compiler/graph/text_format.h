// SPDX-License-Identifier: Apache-2.0
// What writer and reader of graph texts share.
#pragma once

#include <string_view>

namespace tandem::compiler {

/// The first line: what it is, and the version of the format.
inline constexpr std::string_view kHeading = "tgraph 1";
inline constexpr std::string_view kHexDigits = "0123456789abcdef";

}  // namespace tandem::compiler
