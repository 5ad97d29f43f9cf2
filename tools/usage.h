// SPDX-License-Identifier: Apache-2.0
// Mistakes on the command line: which word is wrong, and what may have been meant.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tandem::tools {

/// For people; `words` are those behind the program's name.
std::string describe_usage_error(const CLI::App& app, const CLI::ParseError& error,
                                 const std::vector<std::string>& words);

}  // namespace tandem::tools
