// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "benchmarks/plan/parts.h"
#include "benchmarks/study.h"

namespace tandem::benchmarks {
namespace {

constexpr double kSlowerPercent = 2;
/// Tables of the reduced form: short ones of every kind.
constexpr std::array<std::string_view, 6> kQuick = {
    "scalesim_conv_nets_alexnet", "scalesim_conv_nets_yolo_tiny", "scalesim_conv_nets_mobilenet",
    "scalesim_dlrm_DLRM",         "scalesim_GEMM_mnk_gpt2",       "shared_models_layers"};

struct Pair {
    const tables::Workload* table;
    const arch::ChipConfig* chip;
    Measured search{}, rules{};

    bool both() const { return search.result && rules.result; }
    double percent_slower() const { return 100 * (search.cycles() / rules.cycles() - 1); }
};

std::vector<Pair> measure_all(const Setup& setup) {
    std::vector<Pair> pairs;
    for (const arch::ChipConfig& chip : setup.chips)
        for (const tables::Workload& table : setup.tables.tables)
            if (!setup.quick || std::ranges::find(kQuick, table.name) != kQuick.end())
                pairs.push_back({&table, &chip});
    do_all(2 * pairs.size(), setup.jobs, [&](size_t i) {
        Pair& pair = pairs[i / 2];
        if (i % 2 == 0)
            pair.search = measure(*pair.table, *pair.chip);
        else
            pair.rules = measure(*pair.table, *pair.chip, compiler::PlanMode::kRules);
    });
    return pairs;
}

/// Every table by chip: the searched plan's cycles as a share of the rules'.
std::string against_rules(const Setup& setup, const std::vector<Pair>& pairs) {
    Row heading = {"table, searched plan's time, % of the rules'"};
    for (const arch::ChipConfig& chip : setup.chips) heading.push_back(chip.name);
    std::vector<Row> rows;
    for (const tables::Workload& table : setup.tables.tables) {
        Row row = {table.name};
        for (const Pair& pair : pairs)
            if (pair.table == &table)
                row.push_back(pair.both() ? fmt::format("{:.1f}", 100 + pair.percent_slower())
                                          : "no room");
        if (row.size() > 1) rows.push_back(row);
    }
    return table(heading, rows);
}

}  // namespace

Part tables_part(const Setup& setup, std::vector<Measured>& all) {
    std::vector<Pair> pairs = measure_all(setup);
    Part part;
    part.text = fmt::format(
        "## Whole tables\n\n{}The searched plan beside `--plan rules` on the same chip. *No room*: "
        "one of them is refused.\n\n",
        setup.quick ? "Reduced form: a sample of the tables. " : "");
    part.text += against_rules(setup, pairs);
    for (const arch::ChipConfig& chip : setup.chips) {
        double worst = -100;
        std::string where = "none";
        for (const Pair& pair : pairs)
            if (pair.chip == &chip && pair.both() && pair.percent_slower() > worst) {
                worst = pair.percent_slower();
                where = pair.table->name;
            }
        part.targets.push_back(
            {fmt::format("slower than the rules' plan on {}, worst table", chip.name), worst,
             Target::Side::kAtMost, kSlowerPercent, " %", 1, where});
    }
    for (Pair& pair : pairs)
        if (pair.search.result) all.push_back(std::move(pair.search));
    return part;
}

}  // namespace tandem::benchmarks
