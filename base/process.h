// SPDX-License-Identifier: Apache-2.0
// Runs a tool, without a shell.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tandem::base {

using Command = std::vector<std::string>;

/// Exit status of a command that could not be started.
inline constexpr int kNotStarted = 127;

/// Output is appended to `log`; an empty directory is the current one. Returns the exit status.
int run(const Command& command, const std::filesystem::path& directory,
        const std::filesystem::path& log);

/// What the command writes to stdout; empty when it fails. Nothing: it had not ended within
/// `limit`, and was killed with the processes that it started.
std::optional<std::string> output_of(const Command& command, std::chrono::milliseconds limit);

/// As one word for a shell, quoted where it has to be.
std::string shell_word(const std::string& text);

/// The command as a shell takes it.
std::string quoted(const Command& command);

/// The program's file, as the PATH finds it.
std::optional<std::filesystem::path> in_path(const std::string& program);

}  // namespace tandem::base
