// SPDX-License-Identifier: Apache-2.0
// What all parts of the study of plans work on, and how they run it: every simulation is a process
// of its own, a few at a time.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/plan/public_tables.h"
#include "run/graph_run.h"

namespace tandem::benchmarks {

/// The least cycles in which a list can run, whatever the plan (compiler/plan/bounds.h has each
/// kernel's).
struct LowerBound {
    double compute = 0;        ///< cycles of arrays and vector units
    double traffic = 0;        ///< of device memory, or CMEM
    double host = 0;           ///< of its bus
    double fixed = 0;          ///< of launches and synchronisations, which add to the largest
    uint64_t least_bytes = 0;  ///< of device memory and CMEM

    double cycles() const { return std::max({compute, traffic, host}) + fixed; }
    const char* name() const;  ///< of the largest
};

struct Setup {
    bool quick = false;
    uint32_t jobs = 2;
    std::vector<arch::ChipConfig> chips;
    PublicTables tables;
};

/// A list that has been run on a chip, beside what could be known before.
struct Measured {
    std::string name, chip;
    bool chained = false;
    LowerBound bound;
    /// The plan's closed-form cost, in cycles; nothing where it makes none.
    std::optional<double> estimate{};
    std::optional<run::RunResult> result{};  ///< nothing: refused
    std::string refused{};                   ///< why

    double cycles() const { return static_cast<double>(result->cycles); }
    /// Cycles as a multiple of the bound.
    double ratio() const { return cycles() / bound.cycles(); }
};

/// A list's plan in the type of the chip's array; throws UserError where it has no room.
compiler::Planned plan_list(const tables::Workload& work, const arch::ChipConfig& chip,
                            compiler::PlanMode plan = compiler::PlanMode::kSearch);

Measured measure(const tables::Workload& work, const arch::ChipConfig& chip,
                 compiler::PlanMode plan = compiler::PlanMode::kSearch);

/// The bound of a list, without running it; nothing where the chip cannot express it.
std::optional<LowerBound> lower_bound(const tables::Workload& work, const arch::ChipConfig& chip);

/// Calls work(0) ... work(count - 1), `jobs` at a time, in any order.
void do_all(size_t count, uint32_t jobs, const std::function<void(size_t)>& work);

}  // namespace tandem::benchmarks
