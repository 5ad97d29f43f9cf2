// SPDX-License-Identifier: Apache-2.0
// What the subcommands share: each adds itself to the command line and returns an exit status.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>

namespace tandem::tools {

// Exit statuses, a contract.
inline constexpr int kGood = 0;
inline constexpr int kMismatch = 1;   ///< an answer is wrong, or model and RTL part
inline constexpr int kUserError = 2;  ///< usage, configuration, model file
inline constexpr int kFault = 3;      ///< a fault of Tandem itself

/// Set by the subcommand that was chosen; run after the command line has been parsed.
using Action = std::function<int()>;

/// An array by its size, as options of a subcommand.
struct ArrayArguments {
    uint32_t rows = 16, cols = 16, accumulator_rows = 256;
    std::string dtype = "int8";

    void add_to(CLI::App& command) {
        const auto size = CLI::Range(1u, 256u);
        command.add_option("--rows", rows, "rows of the array")->check(size)->capture_default_str();
        command.add_option("--cols", cols, "columns of the array")
            ->check(size)
            ->capture_default_str();
        command.add_option("--accumulators", accumulator_rows, "accumulator rows")
            ->check(CLI::Range(2u, 65536u))
            ->capture_default_str();
        command.add_option("--dtype", dtype, "element type")
            ->check(CLI::IsMember({"int8"}))
            ->capture_default_str();
    }
};

void add_chips_command(CLI::App& app, Action& action);
void add_run_command(CLI::App& app, Action& action);
void add_compile_command(CLI::App& app, Action& action);
void add_disasm_command(CLI::App& app, Action& action);
void add_gemm_command(CLI::App& app, Action& action);
void add_verify_command(CLI::App& app, Action& action);
void add_rtl_command(CLI::App& app, Action& action);

}  // namespace tandem::tools
