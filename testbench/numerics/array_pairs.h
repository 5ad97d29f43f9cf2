// SPDX-License-Identifier: Apache-2.0
// bf16_pairs with an array: options as those of `tandem verify`, figures, exit status.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/command.h"

namespace tandem::testbench {

struct ArrayPairs : tools::ArrayArguments {
    ArrayPairs() { dtype = "bf16"; }

    void add_options(CLI::App& app);
    /// One of them was given: an array is judged in place of the functions.
    bool asked() const;
    /// Judges at least so many results and prints what came of it; `json`: a file, or empty.
    /// Returns the exit status; throws UserError.
    int run(uint64_t results, uint64_t seed, const std::string& json) const;

  private:
    std::vector<CLI::Option*> options_;
};

}  // namespace tandem::testbench
