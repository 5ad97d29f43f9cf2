// SPDX-License-Identifier: Apache-2.0
// Verilator's runtime as one object file, compiled once per cache for each compiler and its flags:
// two thirds of the time of a build. What is linked with it has kRuntimeLevel in its key.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/process.h"
#include "cosim/array_cache.h"

namespace tandem::cosim {

inline constexpr const char* kRuntimeLevel =
    "-O1";  ///< hardly runs, but would take most of the time

struct RuntimeBuild {
    base::Command compile;              ///< as Toolchain::compile(), and more defines
    std::vector<std::string> versions;  ///< of the tools
    std::filesystem::path include;      ///< of Verilator
    std::string stem;                   ///< of the log that a failure leaves in the cache
    std::function<void(const std::string& line)> report;
};

/// A copy in `scratch`: what was checked is what is linked. Throws UserError.
std::filesystem::path verilator_runtime(const RuntimeBuild& build, const ArrayCache& cache,
                                        const std::filesystem::path& scratch);

}  // namespace tandem::cosim
