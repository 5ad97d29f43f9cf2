// SPDX-License-Identifier: Apache-2.0
// Inputs for one target, in processes of their own: what ends such a process is a finding, and the
// session goes on behind it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "testbench/fuzz/target.h"

namespace tandem::fuzz {

struct SessionOptions {
    uint64_t seed = 1;
    uint64_t runs = 0;               ///< inputs; 0: as many as the time allows
    double seconds = 0;              ///< 0: without a limit
    std::filesystem::path corpus;    ///< folder with one for each target; empty: none
    std::filesystem::path findings;  ///< folder in which findings are left
    std::filesystem::path keep;      ///< folder for inputs with answers of a new kind; empty: none
    std::string tandem;              ///< the command; empty: readers are called, in this program
};

struct SessionResult {
    uint64_t inputs = 0, accepted = 0, refused = 0;
    uint64_t answers = 0;  ///< kinds of, told by their texts without names and numbers
    uint64_t findings = 0;
    double seconds = 0;
};

/// All files of the corpus as they are, then mutants. The same seed makes the same inputs. A
/// finding is told with the command that repeats it.
SessionResult run_session(const Target& target, const SessionOptions& options);

/// One input in a process of its own; returns whether all is well, and tells.
bool run_once(const Target& target, const std::filesystem::path& file, const std::string& tandem);

}  // namespace tandem::fuzz
