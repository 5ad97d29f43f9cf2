// SPDX-License-Identifier: Apache-2.0
// What happens when a choice is made otherwise.
#include <fmt/format.h>

#include "benchmarks/tpu_v1/report.h"

namespace tandem::tpu_v1 {
namespace {

using Varied = Comparison::Varied;

std::vector<std::string> summary_row(const std::string& name, const Measurements& measurements) {
    std::vector<std::string> row{name};
    for (const Measured& ours : measurements)
        row.push_back(fmt::format("{:.0f}", ours.cycles_per_tile));
    const Deviation d = deviation(measurements);
    row.push_back(decimal(d.mean));
    row.push_back(decimal(d.largest));
    row.push_back(d.where);
    row.push_back(fmt::format("{:.1f} %", largest_tile_error_percent(measurements)));
    return row;
}

std::vector<std::string> rows_row(const std::string& name, const Measurements& measurements) {
    std::vector<std::string> row{name};
    for (const Measured& ours : measurements)
        row.push_back(fmt::format("{:.1f} {:.1f} {:.1f} {:.1f}", ours.rows[kActive],
                                  ours.rows[kWeightStall], ours.rows[kWeightShift],
                                  ours.rows[kNonMatrix]));
    return row;
}

std::vector<std::string> paper_rows() {
    std::vector<std::string> row{"paper"};
    for (const auto& paper : kPaper)
        row.push_back(fmt::format("{:.1f} {:.1f} {:.1f} {:.1f}", paper.rows[kActive],
                                  paper.rows[kWeightStall], paper.rows[kWeightShift],
                                  paper.rows[kNonMatrix]));
    return row;
}

std::vector<std::string> with_applications(std::string corner, std::vector<std::string> more) {
    std::vector<std::string> heading{std::move(corner)};
    for (const auto& paper : kPaper) heading.push_back(paper.name);
    heading.insert(heading.end(), more.begin(), more.end());
    return heading;
}

/// All variants, after the chip and the applications as shipped.
template <typename Add>
void for_all(const Comparison& comparison, const Add& add) {
    add("as shipped", comparison.shipped);
    for (const Varied& variant : comparison.chip_variants) add(variant.name, variant.measurements);
    for (const Varied& variant : comparison.workload_variants)
        add(variant.name, variant.measurements);
}

std::string without_sync(const Comparison& comparison) {
    const Measurements& none = comparison.with_chip(kNoSync);
    const Deviation d = deviation(none);
    return fmt::format(
        "Without `sync_latency`, the one figure of the chip that comes from Table 3, the mean is "
        "{:.1f} points and the largest {:.1f} ({}); cycles per tile are off by up to {:.1f} %. ",
        d.mean, d.largest, d.where, largest_tile_error_percent(none));
}

std::string verdicts(const Comparison& comparison) {
    size_t closer = 0, count = 0;
    std::string missing;
    const double shipped = deviation(comparison.shipped).mean;
    for_all(comparison, [&](const std::string& name, const Measurements& measurements) {
        const Deviation d = deviation(measurements);
        closer += d.mean < shipped;
        if (!within_bounds(measurements)) missing += (missing.empty() ? "" : "; ") + name;
        ++count;
    });
    return fmt::format(
        "Of {} variants {} have a smaller mean than what is shipped. Not within all bounds: {}. ",
        count - 1, closer, missing);
}

std::string spilled(const Comparison& comparison) {
    std::string text;
    for (const Varied& variant : comparison.workload_variants)
        for (const Measured& measured : variant.measurements)
            if (const auto bytes = measured.result.traffic.memory_write; bytes != 0)
                text += fmt::format(
                    "With \"{}\" the activations do not fit the buffer: {:.0f} MB are written to "
                    "device memory. ",
                    variant.name, static_cast<double>(bytes) / 1e6);
    return text;
}

constexpr const char* kFromTable3 =
    "Choices in the application files that look at Table 3: CNN0's 256 channels (row 3 counts no "
    "unused MACs), the 16 bits of the LSTMs' activations (rows 2 and 9), CNN1's reading (rows 2, "
    "4, 5 and the printed rate). Rows 2 and 3 make row 1, which is compared; so row 1 of these "
    "four is no free prediction, nor is any row of CNN1. All others follow from Table 1, from the "
    "text, or from the rule in `mlp0.yaml`.";

}  // namespace

std::string sensitivity_section(const Comparison& comparison) {
    Table summary(with_applications("one thing changed; cycles per weight tile",
                                    {"mean", "largest", "which is", "tile"}));
    Table rows(with_applications("rows 1 4 5 6, percent", {}));
    rows.add(paper_rows());
    for_all(comparison, [&](const std::string& name, const Measurements& measurements) {
        summary.add(summary_row(name, measurements));
        rows.add(rows_row(name, measurements));
    });
    return "## What the choices matter\n\n" +
           paragraph(
               "One thing changed at a time, for all applications at once, or in the one file that "
               "it concerns. *Mean* and *largest* are the differences of the 24 cells in points, "
               "*tile* the largest error of cycles per weight tile of the first four.") +
           summary.to_string() +
           paragraph(without_sync(comparison) + verdicts(comparison) + spilled(comparison)) +
           paragraph(kFromTable3) + rows.to_string();
}

}  // namespace tandem::tpu_v1
