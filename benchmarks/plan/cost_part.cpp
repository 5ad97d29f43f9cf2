// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "benchmarks/plan/parts.h"
#include "benchmarks/plan/spread.h"
#include "benchmarks/study.h"

namespace tandem::benchmarks {
namespace {

constexpr size_t kFewest = 5;       ///< runs from which a correlation is made
constexpr size_t kNamed = 2;        ///< worst errors of a chip at either end
constexpr double kRounding = 0.98;  ///< of a bound that a cost keeps

struct Error {
    const Measured* run;
    double percent;  ///< of the cycles
};

std::vector<Error> errors_on(const arch::ChipConfig& chip, const std::vector<Measured>& all) {
    std::vector<Error> errors;
    for (const Measured& run : all)
        if (run.chip == chip.name && run.estimate && run.result)
            errors.push_back({&run, 100 * (*run.estimate / run.cycles() - 1)});
    std::ranges::sort(errors, {}, &Error::percent);
    return errors;
}

double correlation_of(const std::vector<Error>& errors) {
    std::vector<double> costs, cycles;
    for (const Error& error : errors) {
        costs.push_back(*error.run->estimate);
        cycles.push_back(error.run->cycles());
    }
    return rank_correlation(costs, cycles);
}

Row spread_row(const arch::ChipConfig& chip, const std::vector<Error>& errors) {
    std::vector<double> percents, sizes;
    for (const Error& error : errors) {
        percents.push_back(error.percent);
        sizes.push_back(std::abs(error.percent));
    }
    // A cost below what no plan can reach leaves something out.
    const auto below = std::ranges::count_if(errors, [](const Error& error) {
        return *error.run->estimate < kRounding * error.run->bound.cycles();
    });
    Row row = {chip.name, std::to_string(errors.size()),
               fmt::format("{:.4f}", correlation_of(errors))};
    for (const double share : {0.0, 0.1, 0.5, 0.9, 1.0})
        row.push_back(fmt::format("{:+.1f}", quantile(percents, share)));
    row.push_back(fmt::format("{:.1f}", std::accumulate(sizes.begin(), sizes.end(), 0.0) /
                                            static_cast<double>(sizes.size())));
    row.push_back(std::to_string(below));
    return row;
}

Row named_row(const Error& error) {
    return {error.run->chip,
            error.run->name,
            fmt::format("{:.0f}", *error.run->estimate),
            fmt::format("{:.0f}", error.run->cycles()),
            fmt::format("{:.0f}", error.run->bound.cycles()),
            fmt::format("{:+.1f}", error.percent)};
}

}  // namespace

Part cost_part(const Setup& setup, const std::vector<Measured>& all) {
    std::vector<Row> rows, named;
    for (const arch::ChipConfig& chip : setup.chips) {
        const std::vector<Error> errors = errors_on(chip, all);
        if (errors.size() < kFewest) continue;
        rows.push_back(spread_row(chip, errors));
        for (size_t i = 0; i < kNamed; ++i) named.push_back(named_row(errors[i]));
        for (size_t i = kNamed; i-- > 0;) named.push_back(named_row(errors[errors.size() - 1 - i]));
    }
    Part part;
    part.text =
        "## Closed-form cost against simulated cycles\n\nWhat the plan was chosen by, summed over "
        "its kernels, beside what the run then took: kernels and tables of the parts above. "
        "*Rank*: Spearman's correlation. *Error*: cost over cycles, less one. *Below bound*: runs "
        "whose cost is less than any plan could take.\n\n";
    part.text +=
        rows.empty()
            ? "The plans carry no cost.\n\n"
            : table({"chip", "runs", "rank", "error, %: least", "10 %", "median", "90 %", "most",
                     "mean size", "below bound"},
                    rows) +
                  table({"chip", "worst errors", "cost", "cycles", "bound", "error, %"}, named);
    return part;
}

}  // namespace tandem::benchmarks
