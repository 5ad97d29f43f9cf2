// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "benchmarks/plan/miss_cause.h"
#include "benchmarks/plan/parts.h"
#include "benchmarks/plan/spread.h"
#include "benchmarks/study.h"

namespace tandem::benchmarks {
namespace {

constexpr double kLeastCycles = 50000;
constexpr double kNear = 1.15, kFar = 1.30;
constexpr double kNearPercent = 80, kFarPercent = 92;
constexpr size_t kQuickStep = 8;  ///< every eighth

using Runs = std::vector<const Measured*>;

/// Layers of tables that are not chained, each by itself, and chained tables as a whole.
std::vector<tables::Workload> works_of(const PublicTables& tables) {
    std::vector<tables::Workload> works = single_kernels(tables.tables);
    for (const tables::Workload& table : tables.tables)
        if (table.chained) works.push_back(table);
    return works;
}

/// Those whose bound on the chip is long enough.
std::vector<Measured> measure_chip(const Setup& setup, const arch::ChipConfig& chip,
                                   const std::vector<tables::Workload>& works) {
    std::vector<const tables::Workload*> chosen;
    size_t place = 0;
    for (const tables::Workload& work : works) {
        const auto bound = lower_bound(work, chip);
        if (!bound || bound->cycles() <= kLeastCycles) continue;
        if (!setup.quick || place++ % kQuickStep == 0) chosen.push_back(&work);
    }
    std::vector<Measured> runs(chosen.size());
    do_all(chosen.size(), setup.jobs, [&](size_t i) { runs[i] = measure(*chosen[i], chip); });
    std::erase_if(runs, [](const Measured& run) { return !run.result; });
    return runs;
}

double percent_within(const Runs& runs, double ratio) {
    if (runs.empty()) return 100;
    const auto good =
        std::ranges::count_if(runs, [&](const Measured* run) { return run->ratio() <= ratio; });
    return 100.0 * static_cast<double>(good) / static_cast<double>(runs.size());
}

std::string shares(const Runs& runs) {
    if (runs.empty()) return "-";
    return fmt::format("{:.1f} / {:.1f}", percent_within(runs, kNear), percent_within(runs, kFar));
}

Row chip_row(const arch::ChipConfig& chip, const Runs& runs) {
    Runs kernels, tables;
    std::vector<double> ratios;
    for (const Measured* run : runs) {
        (run->chained ? tables : kernels).push_back(run);
        ratios.push_back(run->ratio());
    }
    Row row = {chip.name, std::to_string(kernels.size()), shares(kernels),
               std::to_string(tables.size()), shares(tables)};
    if (ratios.empty()) return row;
    for (const double share : {0.5, 0.9, 1.0})
        row.push_back(fmt::format("{:.2f}", quantile(ratios, share)));
    return row;
}

/// The cause that most runs beyond a ratio have.
std::string main_cause(const Runs& runs, const arch::ChipConfig& chip, double ratio) {
    std::map<std::string, int> causes;
    for (const Measured* run : runs)
        if (run->ratio() > ratio) ++causes[miss_cause(*run, chip)];
    if (causes.empty()) return "";
    return fmt::format("of the others most: {}",
                       std::ranges::max_element(causes, {}, [](const auto& entry) {
                           return entry.second;
                       })->first);
}

/// By cause, and those beyond 1.30 by name.
std::string exceptions(Runs runs, const arch::ChipConfig& chip) {
    std::ranges::sort(runs, {}, [](const Measured* run) { return -run->ratio(); });
    std::map<std::string, std::pair<int, int>> causes;
    std::vector<Row> rows, by_cause;
    for (const Measured* run : runs) {
        if (run->ratio() <= kNear) break;
        const std::string cause = miss_cause(*run, chip);
        ++causes[cause].first;
        if (run->ratio() <= kFar) continue;
        ++causes[cause].second;
        rows.push_back({run->name, run->bound.name(), fmt::format("{:.0f}", run->bound.cycles()),
                        fmt::format("{:.0f}", run->cycles()), fmt::format("{:.2f}", run->ratio()),
                        cause});
    }
    if (causes.empty()) return "";
    for (const auto& [cause, counts] : causes)
        by_cause.push_back({cause, std::to_string(counts.first), std::to_string(counts.second)});
    std::string text = fmt::format("### Exceptions on {}\n\n", chip.name) +
                       table({"cause", "beyond 1.15", "beyond 1.30"}, by_cause);
    if (!rows.empty())
        text += table({"beyond 1.30", "bound", "its cycles", "cycles", "ratio", "cause"}, rows);
    return text;
}

}  // namespace

Part kernels_part(const Setup& setup, std::vector<Measured>& all) {
    Part part;
    const auto works = works_of(setup.tables);
    std::vector<Row> rows;
    std::string misses;
    for (const arch::ChipConfig& chip : setup.chips) {
        std::vector<Measured> measured = measure_chip(setup, chip, works);
        Runs runs;
        for (const Measured& run : measured) runs.push_back(&run);
        for (const auto& [ratio, percent] :
             {std::pair{kNear, kNearPercent}, std::pair{kFar, kFarPercent}})
            part.targets.push_back(
                {fmt::format("kernels on {} within {:.2f} of their bound", chip.name, ratio),
                 percent_within(runs, ratio), Target::Side::kAtLeast, percent, " %", 1,
                 main_cause(runs, chip, ratio)});
        rows.push_back(chip_row(chip, runs));
        misses += exceptions(runs, chip);
        std::ranges::move(measured, std::back_inserter(all));
    }
    part.text = fmt::format(
        "## Kernels against their bounds\n\nLayers of tables that are not chained, equal ones "
        "once, each alone on the chip, and chained tables as a whole, whose bound is above {:.0f} "
        "cycles{}. The targets count both together.\n\n",
        kLeastCycles, setup.quick ? fmt::format("; every {}th (reduced form)", kQuickStep) : "");
    part.text += table({"chip", "kernels", "within 1.15 / 1.30, %", "chained tables",
                        "within 1.15 / 1.30, %", "all: median", "90 %", "worst"},
                       rows) +
                 misses;
    return part;
}

}  // namespace tandem::benchmarks
