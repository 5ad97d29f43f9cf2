// SPDX-License-Identifier: Apache-2.0
// What publications say of one TPU against another, beside what model, napkin and roofline say.
#pragma once

#include <string>
#include <vector>

#include "benchmarks/generations/tellers.h"

namespace tandem::generations {

struct Claim {
    std::string what;
    std::string printed;  ///< as published, with its source
    double published = 0;
    Figures told{};
    /// Percent that the model may be off by; 0: it is not claimed to be right.
    double bound_percent = 0;

    double error_percent(Teller teller) const;
    bool is_met() const;
};
using Claims = std::vector<Claim>;

bool all_met(const Claims& claims);

/// A markdown table with each one's figure and error, and the bounds.
std::string claims_table(const Claims& claims);

/// Mean and largest error of each, and a sentence on who is nearest, computed.
std::string verdict(const Claims& claims);

}  // namespace tandem::generations
