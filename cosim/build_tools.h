// SPDX-License-Identifier: Apache-2.0
// The tools that build arrays: what they are called with, what they say about themselves, and what
// went wrong when they fail.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "arch/dtype.h"
#include "base/process.h"
#include "cosim/array_builder.h"
#include "cosim/array_cache.h"

namespace tandem::cosim {

inline constexpr const char* kVerilator = "verilator";

/// g++, or clang++ where that makes the faster array and is installed.
std::string compiler_for(arch::Dtype dtype);

/// Flags of every compile for a shared object of its own, hidden symbols included.
base::Command compiler_flags(const std::string& compiler);

/// The vector extensions that -march=native selects.
std::string vector_extensions();

/// What a tool says about itself. One that does not answer within options.tool_limit is taken to be
/// what it was when it did, as long as its file is the same one: `cache` remembers. Throws
/// UserError.
std::string version_of(const std::string& tool, const ArrayCache& cache,
                       const BuildOptions& options);

/// Where Verilator's runtime stands. Throws UserError.
std::filesystem::path verilator_include(std::chrono::milliseconds limit);

/// The line of a tool's log that says best what went wrong.
std::string first_error(const std::filesystem::path& log);

/// One step of a build.
struct BuildStage {
    std::string what;  ///< for people: "compiling the 16 x 16 int8 array"
    base::Command command;
    std::filesystem::path directory;  ///< it runs there; empty: here
};
/// Runs it. When it fails, its log is moved to the cache as STEM.PID.failed.log, and UserError
/// names that, the first error and the command.
void run_stage(const BuildStage& stage, const std::filesystem::path& log, const ArrayCache& cache,
               const std::string& stem);

}  // namespace tandem::cosim
