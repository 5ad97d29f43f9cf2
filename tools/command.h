// SPDX-License-Identifier: Apache-2.0
// What the subcommands share: each adds itself to the command line and returns an exit status.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>

#include "compiler/plan/plan.h"
#include "engine/mxu_engine.h"
#include "run/array_places.h"
#include "run/arrays.h"
#include "run/output_check.h"
#include "run/report.h"
#include "run/run.h"
#include "run/wave_window.h"

namespace tandem::tools {

// Exit statuses, a contract.
inline constexpr int kGood = 0;
inline constexpr int kMismatch = 1;   ///< an answer is wrong, or model and RTL part
inline constexpr int kUserError = 2;  ///< usage, configuration, model file
inline constexpr int kFault = 3;      ///< a fault of Tandem itself

inline int exit_status(run::Verdict verdict) {
    switch (verdict) {
        case run::Verdict::kGood:
            return kGood;
        case run::Verdict::kMismatch:
            return kMismatch;
        case run::Verdict::kFault:
            break;
    }
    return kFault;
}

/// Set by the subcommand that was chosen; run after the command line has been parsed.
using Action = std::function<int()>;

/// --form, --rtl, --rtl-top, --rtl-timing.
void add_rtl_options(CLI::App& command, run::ArrayChoice& choice);

/// --plan.
void add_plan_option(CLI::App& command, compiler::PlanMode& plan);
void add_precision_option(CLI::App& command, std::string& precision);
/// --tolerance, --rtol, --atol.
void add_tolerances(CLI::App& command, run::Tolerance& tolerance);
/// As on a command line, with a leading blank; empty for the default.
std::string plan_option(compiler::PlanMode plan);

/// --rtl-arrays, beside --backend.
void add_array_places(CLI::App& command, run::ArrayPlaces& places);
/// As on a command line, with a leading blank; empty for all.
std::string array_places_option(const run::ArrayPlaces& places);

/// --requantise.
void add_requantise_option(CLI::App& command, std::string& requantise);
/// As on a command line, with a leading blank; empty for the default.
std::string requantise_option(const std::string& requantise);

/// --inject; `what` it is said to do.
void add_inject_option(CLI::App& command, std::string& inject, const std::string& what);
/// As on a command line, with a leading blank; empty for none.
std::string inject_option(const std::string& inject);
/// How every run ends: report, summary, injection. Returns the exit status; throws UserError for
/// files that are not there and an injection that was not reached.
int conclude_run(const arch::ChipConfig& chip, const run::RunResult& result,
                 const run::RunReport& report, const std::string& json, const std::string& inject);

/// --wave: an FST, or a VCD by its name.
CLI::Option* add_wave_file_option(CLI::App& command, std::string& wave, const std::string& text);

/// --junit.
void add_junit_option(CLI::App& command, std::string& file);

/// --wave and its window.
void add_wave_options(CLI::App& command, run::WaveOptions& wave);

/// --level, --quantum.
void add_level_options(CLI::App& command, run::RunOptions& options);
/// As on a command line, with a leading blank; empty for the default.
std::string level_option(const run::RunOptions& options);

/// --gdb.
void add_gdb_option(CLI::App& command, run::RunOptions& options);

/// An array by its parameters, as options of a subcommand.
struct ArrayArguments {
    uint32_t rows = 16, cols = 16, accumulator_rows = 256, pipeline = 1;
    std::string dtype = "int8";
    bool sum4 = false;
    run::ArrayChoice choice;

    void add_to(CLI::App& command);
    /// Throws UserError when the parameters do not go together.
    engine::MxuShape shape() const;
    /// The same array on another command line; what is default is left out, but not the sizes.
    std::string to_string() const;
};

void add_chips_command(CLI::App& app, Action& action);
void add_run_command(CLI::App& app, Action& action);
void add_compile_command(CLI::App& app, Action& action);
void add_disasm_command(CLI::App& app, Action& action);
void add_gemm_command(CLI::App& app, Action& action);
void add_verify_command(CLI::App& app, Action& action);
void add_rtl_command(CLI::App& app, Action& action);

}  // namespace tandem::tools
