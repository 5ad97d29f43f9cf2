// SPDX-License-Identifier: Apache-2.0
// Table 3 by simpler means, and how free the model was.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <vector>

#include "benchmarks/chip_sources.h"
#include "benchmarks/tpu_v1/baselines.h"
#include "benchmarks/tpu_v1/report.h"

namespace tandem::tpu_v1 {
namespace {

constexpr const char* kMeans =
    R"(*Roofline*: the longer of all multiply-accumulates at peak and all weights at 34 GB/s; nothing else takes time. *Napkin*: 1349 cycles for each tile
+ 3265 for each layer + bytes from and to the host / 10 GiB/s; a tile with more rows than 1349 takes its rows. Both take the layers from the
application files, as the model does. *Searched*: the same model with the program that the compiler makes today (`--plan search`): what better
software would have made of the chip. It has no bound, because the paper counted another program.)";

/// One way to tell Table 3.
struct Teller {
    std::string name, constants;
    Cells cells;
    double tile_error;
};

std::vector<Teller> tellers(const Comparison& comparison) {
    const benchmarks::ChipSources& sources = comparison.sources;
    return {
        {"model", to_string(sources), cells_of(comparison.shipped),
         largest_tile_error_percent(comparison.shipped)},
        {"napkin", fmt::format("{}, {} of them calibrated", kNapkinConstants, kNapkinCalibrated),
         cells_of(comparison.napkin), largest_tile_error_percent(comparison.napkin)},
        {"roofline", "3 published", cells_of(comparison.roofline),
         largest_tile_error_percent(comparison.roofline)},
        {"model, searched plan", "as the model", cells_of(comparison.searched),
         largest_tile_error_percent(comparison.searched)}};
}

std::string four(const Rows& rows) {
    return fmt::format("{:.1f} {:.1f} {:.1f} {:.1f}", rows[kActive], rows[kWeightStall],
                       rows[kWeightShift], rows[kNonMatrix]);
}

Table cells_table(const std::vector<Teller>& all) {
    Table table = application_table("rows 1 4 5 6, percent");
    add_row(table, "paper", [](size_t i) { return four(kPaper[i].rows); });
    for (const Teller& teller : all)
        add_row(table, teller.name, [&](size_t i) { return four(teller.cells[i]); });
    return table;
}

Table errors_table(const std::vector<Teller>& all) {
    Table table({"error", "constants", "24 cells, mean", "largest", "which is",
                 "16 memory-bound cells, mean", "largest", "which is", "tile, largest"});
    for (const Teller& teller : all) {
        const Deviation every = deviation(teller.cells);
        const Deviation bound = deviation(teller.cells, Which::kMemoryBound);
        table.add({teller.name, teller.constants, decimal(every.mean), decimal(every.largest),
                   every.where, decimal(bound.mean), decimal(bound.largest), bound.where,
                   fmt::format("{:.1f} %", teller.tile_error)});
    }
    return table;
}

/// How much nearer the model is than the napkin, cell by cell.
struct Paired {
    size_t cells = 0, nearer = 0;  ///< of these the model is nearer in
    double mean = 0;               ///< points
    double error = 0;              ///< standard error of it
};

Paired paired(const Comparison& comparison, Which which) {
    const Cells model = cells_of(comparison.shipped), napkin = cells_of(comparison.napkin);
    Paired result;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < kApplications; ++i) {
        if (which == Which::kMemoryBound && !kPaper[i].memory_bound()) continue;
        for (const Row row : kCompared) {
            const double printed = kPaper[i].rows[row];
            const double gain =
                std::abs(napkin[i][row] - printed) - std::abs(model[i][row] - printed);
            sum += gain;
            squares += gain * gain;
            result.nearer += gain > 0;
            ++result.cells;
        }
    }
    const auto count = static_cast<double>(result.cells);
    result.mean = sum / count;
    result.error = std::sqrt((squares / count - result.mean * result.mean) / (count - 1));
    return result;
}

/// Says who is nearer, whoever it is.
std::string compared(const std::string& cells, const Paired& p) {
    const std::string figures = fmt::format(
        "the model is nearer in {} of {}, by {:.2f} points on average with a standard "
        "error of {:.2f}",
        p.nearer, p.cells, p.mean, p.error);
    if (p.mean <= 0)
        return fmt::format(
            "On {} the napkin is as good as the model or better ({}): there the "
            "model adds nothing to three constants. ",
            cells, figures);
    if (p.mean <= 2 * p.error)
        return fmt::format("On {} the napkin is as good as the model: {}, less than twice that. ",
                           cells, figures);
    return fmt::format("On {} the model is better than the napkin: {}. ", cells, figures);
}

std::string verdict(const Comparison& comparison) {
    return compared("the 16 cells of the memory-bound applications",
                    paired(comparison, Which::kMemoryBound)) +
           compared("all 24 cells", paired(comparison, Which::kAll)) +
           fmt::format(
               "Cycles per weight tile: the napkin is off by at most {:.1f} %, the model "
               "by {:.1f} %.",
               largest_tile_error_percent(comparison.napkin),
               largest_tile_error_percent(comparison.shipped));
}

Table speed_table(const Comparison& comparison) {
    Table table = application_table("cycles of a batch");
    add_row(table, "model", [&](size_t i) { return grouped(comparison.shipped[i].cycles()); });
    add_row(table, "napkin", [&](size_t i) { return grouped(comparison.napkin[i].cycles); });
    add_row(table, "roofline", [&](size_t i) { return grouped(comparison.roofline[i].cycles); });
    add_row(table, "searched plan",
            [&](size_t i) { return grouped(comparison.searched[i].cycles()); });
    add_row(table, "searched plan, times as fast", [&](size_t i) {
        return fmt::format("{:.2f}",
                           comparison.shipped[i].cycles() / comparison.searched[i].cycles());
    });
    return table;
}

std::string named(const std::vector<std::string>& keys) {
    return keys.empty() ? "none" : fmt::format("`{}`", fmt::join(keys, "`, `"));
}

}  // namespace

std::string baselines_section(const Comparison& comparison) {
    const auto all = tellers(comparison);
    return "## Simpler means\n\n" + paragraph(kMeans) + cells_table(all).to_string() +
           errors_table(all).to_string() + paragraph(verdict(comparison)) +
           speed_table(comparison).to_string();
}

std::string freedom_section(const Comparison& comparison) {
    const benchmarks::ChipSources& sources = comparison.sources;
    return "## Degrees of freedom\n\n" +
           paragraph(fmt::format(
               "The chip file has {} figures of the model: {}; {} more are left at their default. "
               "Calibrated to this paper: {}. Assumed, from other machines of the kind: {}. "
               "Derived: {}. Compared are 24 cells, of which 18 are free, because each "
               "application's four add up to 100. With {} calibrated and {} assumed figures for 18 "
               "cells the agreement by itself proves little; what the assumed figures matter, one "
               "at a time, is in the [table of choices](#what-the-choices-matter). The application "
               "files are freedom too: the paper prints sums over layers, and which of their "
               "choices looked at Table 3 is said there. The napkin has {} constants and takes the "
               "same layers.",
               sources.figures(), to_string(sources), sources.defaulted.size(),
               named(sources.calibrated), named(sources.assumed), named(sources.derived),
               sources.calibrated.size(), sources.assumed.size(), kNapkinConstants));
}

}  // namespace tandem::tpu_v1
