// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/plan/target.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "benchmarks/study.h"

namespace tandem::benchmarks {
namespace {

const char* verdict(const Target& target) { return target.good() ? "good" : "MISSED"; }

std::string value_text(const Target& target, double value) {
    return fmt::format("{:.{}f}{}", value, target.places, target.unit);
}

std::string bound_text(const Target& target) {
    return fmt::format("{} {}", target.side == Target::Side::kAtLeast ? "at least" : "at most",
                       value_text(target, target.bound));
}

}  // namespace

std::string Target::line() const {
    return fmt::format("{:<6} {}: {}, {}", verdict(*this), name, value_text(*this, figure),
                       bound_text(*this));
}

void to_json(nlohmann::json& json, const Target& target) {
    json = {{"name", target.name},
            {"figure", target.figure},
            {"bound", target.bound},
            {"at_least", target.side == Target::Side::kAtLeast},
            {"good", target.good()}};
}

std::string target_table(const Targets& targets) {
    std::vector<Row> rows;
    for (const Target& target : targets)
        rows.push_back(
            {target.name, value_text(target, target.figure), bound_text(target), verdict(target)});
    return table({"target", "figure", "bound", "verdict"}, rows);
}

}  // namespace tandem::benchmarks
