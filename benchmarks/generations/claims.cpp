// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/generations/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "benchmarks/study.h"

namespace tandem::generations {
namespace {

struct Errors {
    double mean = 0, largest = 0;
    std::string where;
    size_t nearest = 0;  ///< claims on which it is nearer than both others
};

Errors errors_of(const Claims& claims, Teller teller) {
    Errors errors;
    for (const Claim& claim : claims) {
        const double error = std::abs(claim.error_percent(teller));
        errors.mean += error / static_cast<double>(claims.size());
        bool nearest = true;
        for (size_t other = 0; other < kTellers; ++other)
            nearest = nearest &&
                      (other == teller || error < std::abs(claim.error_percent(Teller{other})));
        errors.nearest += nearest;
        if (error <= errors.largest) continue;
        errors.largest = error;
        errors.where = claim.what;
    }
    return errors;
}

}  // namespace

double Claim::error_percent(Teller teller) const { return 100 * (told[teller] / published - 1); }

bool Claim::is_met() const {
    return bound_percent == 0 || std::abs(error_percent(kModel)) <= bound_percent;
}

bool all_met(const Claims& claims) { return std::ranges::all_of(claims, &Claim::is_met); }

std::string claims_table(const Claims& claims) {
    benchmarks::Row heading = {"figure", "published"};
    for (const char* name : kTellerNames) {
        heading.emplace_back(name);
        heading.emplace_back("error");
    }
    heading.emplace_back("bound of the model");
    std::vector<benchmarks::Row> rows;
    for (const Claim& claim : claims) {
        benchmarks::Row row = {claim.what, claim.printed};
        for (size_t teller = 0; teller < kTellers; ++teller) {
            row.push_back(fmt::format("{:.3g}", claim.told[teller]));
            row.push_back(fmt::format("{:+.0f} %", claim.error_percent(Teller{teller})));
        }
        row.push_back(claim.bound_percent == 0 ? "none"
                                               : fmt::format("{} %: {}", claim.bound_percent,
                                                             claim.is_met() ? "PASS" : "FAIL"));
        rows.push_back(row);
    }
    return benchmarks::table(heading, rows);
}

std::string verdict(const Claims& claims) {
    std::vector<benchmarks::Row> rows;
    std::array<Errors, kTellers> all;
    for (size_t teller = 0; teller < kTellers; ++teller) {
        all[teller] = errors_of(claims, Teller{teller});
        const Errors& e = all[teller];
        rows.push_back({kTellerNames[teller], fmt::format("{:.0f} %", e.mean),
                        fmt::format("{:.0f} %", e.largest), e.where, std::to_string(e.nearest)});
    }
    std::string text = benchmarks::table(
        {"error", "mean", "largest", "which is", "nearer than both others"}, rows);
    for (const Teller other : {kNapkin, kRoofline}) {
        const bool as_good = all[other].mean <= all[kModel].mean;
        text += fmt::format("{} the {} ({:.0f} % against {:.0f} %){}\n",
                            as_good ? "On these figures the model is no better than"
                                    : "On these figures the model is nearer on average than",
                            kTellerNames[other], all[kModel].mean, all[other].mean,
                            as_good ? ": here it adds nothing to the formula." : ".");
    }
    return text + "\n";
}

}  // namespace tandem::generations
