// SPDX-License-Identifier: Apache-2.0
// Targets that are known to be missed: how far they were reached and why. The file says no more and
// no less than what is missed, so that it cannot grow old (benchmarks/plan/shortfalls.yaml).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "benchmarks/plan/target.h"

namespace tandem::benchmarks {

/// An entry of the file.
struct Shortfall {
    std::string target;  ///< its name
    std::string figure;  ///< reached when it was written, with the target's places
    std::string cause;   ///< one line
};

/// Known shortfalls of one form of the study, "full" or "reduced". Times have none: they have an
/// allowance.
class Shortfalls {
  public:
    /// A file that has no such form, or that does not exist, has no entries. Throws UserError for
    /// one that is not as it should be.
    Shortfalls(std::filesystem::path file, std::string form);

    /// nullptr: none.
    const Shortfall* find(const std::string& target) const;

    /// A line for each target that is missed without an entry or by more than its entry says, and
    /// for each entry that is not needed: its target is met, or, with `complete`, is not there.
    std::vector<std::string> faults(const Targets& targets, bool complete) const;

    /// Makes the form's entries those of the targets that are missed; a new one's cause is left to
    /// be written, which is a fault. Entries of targets that are not there stay, unless `complete`.
    void update(const Targets& targets, bool complete);

  private:
    void write() const;

    std::filesystem::path file_;
    std::string form_;
    std::vector<std::pair<std::string, std::vector<Shortfall>>> forms_;
    std::vector<Shortfall>* entries_ = nullptr;  ///< of the form
};

}  // namespace tandem::benchmarks
