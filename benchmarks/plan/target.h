// SPDX-License-Identifier: Apache-2.0
// Figures that have a bound: one line each, with verdict.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace tandem::benchmarks {

struct Target {
    std::string name;
    double figure = 0;
    enum class Side { kAtLeast, kAtMost } side = Side::kAtLeast;
    double bound = 0;
    std::string unit;     ///< behind figure and bound: " %"
    int places = 1;       ///< behind the point
    std::string where{};  ///< what the figure hangs on: of the worst, which one it is
    /// A time grows on a busy machine: --check allows so many times the bound.
    double allowance = 1;

    bool good() const { return side == Side::kAtLeast ? figure >= bound : figure <= bound; }
    /// What --check lets pass without an entry among the known shortfalls.
    bool tolerable() const;
    /// With its unit.
    std::string figure_text() const;
    /// "MISSED products on tpu_v1, 4096^3: 57.2 %, at least 70.0 %".
    std::string line() const;
};
using Targets = std::vector<Target>;

void to_json(nlohmann::json& json, const Target& target);

class Shortfalls;

/// As a table of the page; what is missed stands with its cause.
std::string target_table(const Targets& targets, const Shortfalls& known);

/// What a part of a study says: its text, and what it is judged by.
struct Part {
    std::string text;
    Targets targets;
};

}  // namespace tandem::benchmarks
