// SPDX-License-Identifier: Apache-2.0
// Mistakes a user can make (files, configuration, command line) as opposed to faults of Tandem.
#pragma once

#include <stdexcept>
#include <string>

namespace tandem {

/// A user's mistake: the command line prints it and exits with status 2.
class UserError : public std::runtime_error {
  public:
    explicit UserError(const std::string& message) : std::runtime_error(message) {}

    /// `where` is a key, line, node or tensor inside `file`.
    UserError(const std::string& file, const std::string& where, const std::string& expected,
              const std::string& found)
        : std::runtime_error(file + ": " + where + ": expected " + expected + ", found " + found) {}
};

}  // namespace tandem
