// SPDX-License-Identifier: Apache-2.0
// What the subcommands share: each adds itself to the command line and returns an exit status.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace tandem::tools {

// Exit statuses, a contract.
inline constexpr int kGood = 0;
inline constexpr int kMismatch = 1;   ///< an answer is wrong, or model and RTL part
inline constexpr int kUserError = 2;  ///< usage, configuration, model file
inline constexpr int kFault = 3;      ///< a fault of Tandem itself

/// Set by the subcommand that was chosen; run after the command line has been parsed.
using Action = std::function<int()>;

void add_chips_command(CLI::App& app, Action& action);
void add_run_command(CLI::App& app, Action& action);
void add_compile_command(CLI::App& app, Action& action);
void add_disasm_command(CLI::App& app, Action& action);
void add_gemm_command(CLI::App& app, Action& action);
void add_verify_command(CLI::App& app, Action& action);
void add_rtl_command(CLI::App& app, Action& action);

}  // namespace tandem::tools
