// SPDX-License-Identifier: Apache-2.0
// The tools that build arrays: what they are called with, what they say about themselves, and what
// went wrong when they fail.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "arch/dtype.h"
#include "base/process.h"
#include "cosim/array_builder.h"
#include "cosim/array_cache.h"

namespace tandem::cosim {

inline constexpr const char* kVerilator = "verilator";

/// g++, or clang++ where that makes the faster array and is installed.
std::string compiler_for(arch::Dtype dtype);

/// A compiler, for which machine, and what it and Verilator say about themselves: part of every
/// key.
struct Toolchain {
    std::string compiler, march;
    std::vector<std::string> versions;

    /// The compiler, with the flags of every compile for a shared object of its own, hidden symbols
    /// included.
    base::Command compile() const;
};
/// TANDEM_ARRAY_MARCH goes before options.march. Throws UserError.
Toolchain toolchain(const std::string& compiler, const ArrayCache& cache,
                    const BuildOptions& options);

/// An environment variable, or `otherwise` where it is not set or empty.
std::string environment(const char* name, const std::string& otherwise);

/// What a tool says about itself. One that does not answer within options.tool_limit is taken to be
/// what it was when it did, as long as its file is the same one: `cache` remembers. Throws
/// UserError.
std::string version_of(const std::string& tool, const ArrayCache& cache,
                       const BuildOptions& options);

/// Where Verilator's runtime stands. Throws UserError.
std::filesystem::path verilator_include(std::chrono::milliseconds limit);

/// What Verilator wrote to a folder.
struct GeneratedCode {
    std::vector<std::string> files;  ///< of C++, by name
    uintmax_t bytes = 0;             ///< of these
};
GeneratedCode generated_code(const std::filesystem::path& model);

/// A shared object of one source, around what Verilator wrote to `model`.
struct ObjectParts {
    std::filesystem::path source, model, include, shim_dir;
    std::filesystem::path runtime;  ///< object file (verilator_runtime.h)
    std::filesystem::path exports;  ///< linker script with the names that are seen outside
    std::filesystem::path made;
};
/// What follows the compiler's words.
base::Command words_of(const ObjectParts& parts);

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
