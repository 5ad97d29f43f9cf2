// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/plan/target.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "benchmarks/plan/shortfalls.h"
#include "benchmarks/study.h"

namespace tandem::benchmarks {
namespace {

std::string value_text(const Target& target, double value) {
    return fmt::format("{:.{}f}{}", value, target.places, target.unit);
}

std::string bound_text(const Target& target) {
    return fmt::format("{} {}", target.side == Target::Side::kAtLeast ? "at least" : "at most",
                       value_text(target, target.bound));
}

std::string full_name(const Target& target) {
    return target.where.empty() ? target.name : fmt::format("{} ({})", target.name, target.where);
}

}  // namespace

bool Target::tolerable() const {
    return good() || (allowance > 1 && side == Side::kAtMost && figure <= bound * allowance);
}

std::string Target::figure_text() const { return value_text(*this, figure); }

std::string Target::line() const {
    return fmt::format("{:<6} {}: {}, {}", good() ? "good" : "MISSED", full_name(*this),
                       figure_text(), bound_text(*this));
}

void to_json(nlohmann::json& json, const Target& target) {
    json = {{"name", target.name},
            {"figure", target.figure},
            {"bound", target.bound},
            {"at_least", target.side == Target::Side::kAtLeast},
            {"good", target.good()}};
    if (!target.where.empty()) json["where"] = target.where;
}

std::string target_table(const Targets& targets, const Shortfalls& known) {
    std::vector<Row> rows;
    for (const Target& target : targets) {
        const Shortfall* entry = known.find(target.name);
        std::string verdict = target.good() ? "good" : "MISSED";
        if (!target.good() && entry != nullptr) verdict = "missed, see cause";
        rows.push_back({full_name(target), target.figure_text(), bound_text(target), verdict,
                        target.good() || entry == nullptr ? "" : entry->cause});
    }
    return table({"target", "figure", "bound", "verdict", "cause"}, rows);
}

}  // namespace tandem::benchmarks
