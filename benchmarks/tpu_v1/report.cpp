// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/tpu_v1/report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "benchmarks/tpu_v1/derivation.h"
#include "benchmarks/tpu_v1/host_time.h"
#include "explore/svg_plot.h"
#include "run/apart.h"

namespace tandem::tpu_v1 {
namespace {

constexpr const char* kHead =
    R"(The six applications of Jouppi et al., In-Datacenter Performance Analysis of a Tensor Processing Unit, ISCA 2017 (arXiv:1704.04760, here
"the paper"), on the model of their chip. The chip is [`arch/chips/tpu_v1.yaml`](../arch/chips/tpu_v1.yaml), the applications are
[`models/applications/`](../models/applications/). The paper prints sums of layers, weights and batch of each application, no layer by itself; what
it leaves open is chosen, with the reason in the file. Models run in timing mode, without data, with programs as those of 2015 were (`--plan rules`:
the whole input first, nothing of a layer before the layer before has ended) unless a line says otherwise. A cell `a / b` is the paper's figure, then ours.)";

nlohmann::json deviation_json(const Measurements& measurements) {
    const Deviation d = deviation(measurements);
    return {{"mean_points", d.mean},
            {"largest_points", d.largest},
            {"largest_is", d.where},
            {"largest_tile_error_percent", largest_tile_error_percent(measurements)}};
}

nlohmann::json estimates_json(const Estimates& estimates) {
    const Cells cells = cells_of(estimates);
    nlohmann::json json;
    json["mean_points"] = deviation(cells).mean;
    json["mean_points_memory_bound"] = deviation(cells, Which::kMemoryBound).mean;
    json["largest_points"] = deviation(cells).largest;
    json["largest_tile_error_percent"] = largest_tile_error_percent(estimates);
    for (size_t i = 0; i < kApplications; ++i)
        json["applications"][kPaper[i].name] = {{"cycles", estimates[i].cycles},
                                                {"rows", estimates[i].rows}};
    return json;
}

nlohmann::json measured_json(const Measurements& measurements) {
    nlohmann::json json;
    for (size_t i = 0; i < kApplications; ++i)
        json[kPaper[i].name] = {{"cycles", measurements[i].result.cycles},
                                {"cycles_per_tile", measurements[i].cycles_per_tile},
                                {"tops", measurements[i].tops},
                                {"rows", measurements[i].rows}};
    return json;
}

nlohmann::json variants_json(const std::vector<Comparison::Varied>& variants) {
    auto json = nlohmann::json::array();
    for (const auto& variant : variants)
        json.push_back({{"change", variant.name},
                        {"deviation", deviation_json(variant.measurements)},
                        {"applications", measured_json(variant.measurements)}});
    return json;
}

/// What the paper's figures say of each other.
nlohmann::json paper_json() {
    nlohmann::json json;
    const auto tops = check_tops();
    for (size_t i = 0; i < kApplications; ++i)
        json["tops"][kPaper[i].name] = {
            {"by_row_2", tops[i].counters}, {"printed", tops[i].printed}, {"roof", tops[i].roof}};
    const Cnn1Check cnn1 = check_cnn1();
    json["cnn1"] = {{"most_cycles_by_waiting", cnn1.most_cycles},
                    {"cycles_by_table_1", cnn1.needed_cycles},
                    {"most_macs_per_weight", cnn1.most_macs_per_weight}};
    return json;
}

nlohmann::json application_json(const Comparison& comparison, size_t i) {
    const auto& paper = kPaper[i];
    const Measured& ours = comparison.shipped[i];
    return {{"name", paper.name},
            {"paper",
             {{"rows", paper.rows},
              {"tops", paper.tops},
              {"cycles_per_tile", paper.memory_bound() ? paper.cycles_per_tile() : 0},
              {"host_percent", paper.host_percent},
              {"buffer_mib", paper.buffer_mib},
              {"inferences_per_second", paper.inferences_per_second}}},
            {"ours",
             {{"rows", ours.rows},
              {"tops", ours.tops},
              {"cycles_per_tile", ours.cycles_per_tile},
              {"macs_per_weight", ours.macs_per_weight()},
              {"host_percent", host_time(ours, comparison.chip).percent},
              {"inferences_per_second", ours.inferences_per_second()},
              {"run", ours.result}}}};
}

}  // namespace

Comparison compare(const std::filesystem::path& chip_file, const Workloads& workloads) {
    const arch::ChipConfig chip = arch::load_chip(chip_file);
    Comparison comparison{.chip = chip,
                          .sources = benchmarks::sources_of(chip_file),
                          .shipped = measure_all(workloads, chip),
                          .searched = measure_searched(workloads, chip),
                          .roofline = estimate_all(workloads, chip, tpu_v1::roofline),
                          .napkin = estimate_all(workloads, chip, tpu_v1::napkin),
                          .chip_variants = {},
                          .workload_variants = {}};
    const auto vary = [&](const std::vector<Variant>& variants, auto& into) {
        for (const Variant& variant : variants)
            into.push_back({variant.name, measure_variant(variant, comparison.shipped, chip)});
    };
    vary(chip_variants(), comparison.chip_variants);
    vary(workload_variants(), comparison.workload_variants);
    return comparison;
}

const Measurements& Comparison::with_chip(const std::string& name) const {
    for (const Varied& variant : chip_variants)
        if (variant.name == name) return variant.measurements;
    throw std::logic_error("no variant of the chip: " + name);
}

std::string page(const Comparison& comparison, const std::string& command) {
    return fmt::format("<!-- Written by {}; do not edit. -->\n# Validation: TPU v1\n\n", command) +
           paragraph(kHead) + counters_section(comparison) + baselines_section(comparison) +
           freedom_section(comparison) + tiles_section(comparison) + roofline_section(comparison) +
           rates_section(comparison) + buffer_section(comparison) + host_section(comparison) +
           sync_section(comparison) + sensitivity_section(comparison) + paper_section(comparison);
}

nlohmann::json to_json(const Comparison& comparison) {
    nlohmann::json json;
    json["chip"] = comparison.chip.name;
    json["passes"] = comparison.passes();
    json["bounds"] = {{"cell_points", kCellBoundPoints},
                      {"mean_points", kMeanBoundPoints},
                      {"tile_percent", kTileBoundPercent}};
    json["deviation"] = deviation_json(comparison.shipped);
    json["napkin"] = estimates_json(comparison.napkin);
    json["roofline"] = estimates_json(comparison.roofline);
    json["searched"] = {{"deviation", deviation_json(comparison.searched)},
                        {"applications", measured_json(comparison.searched)}};
    for (size_t i = 0; i < kApplications; ++i)
        json["applications"].push_back(application_json(comparison, i));
    const SyncDerivation sync = derive_sync_latency(comparison.chip);
    json["sync_latency"] = {{"median_raw_cycles_per_layer", sync.median},
                            {"derived", sync.sync_latency},
                            {"chip", comparison.chip.sync_cycles()}};
    json["paper"] = paper_json();
    json["variants"] = variants_json(comparison.chip_variants);
    for (auto& variant : variants_json(comparison.workload_variants))
        json["variants"].push_back(variant);
    return json;
}

std::string roofline_svg(const Comparison& comparison) {
    explore::PlotSeries roof{.name = "roof", .points = {}, .markers = false};
    const double ridge = kPeakTops / memory_roof_tops(1);
    for (const double x : {10.0, ridge, 10000.0}) roof.points.push_back({x, roof_tops(x)});
    explore::Plot paper{.title = "As the paper prints",
                        .x = {"MACs per byte of weights", explore::AxisScale::kLog10, 10, 10000},
                        .y = {"TOPS", explore::AxisScale::kLog10, 0.5, 100},
                        .series = {roof}};
    explore::Plot ours = paper;
    ours.title = "As the model computes";
    for (size_t i = 0; i < kApplications; ++i) {
        const auto point = [&](double x, double y) {
            return explore::PlotSeries{.name = kPaper[i].name, .points = {{x, y}}, .line = false};
        };
        const Measured& measured = comparison.shipped[i];
        paper.series.push_back(point(kPaper[i].macs_per_weight, kPaper[i].tops));
        ours.series.push_back(point(measured.macs_per_weight(), measured.tops));
    }
    return explore::to_svg("TPU v1: six applications under the roof", {paper, ours}, 2);
}

Table application_table(const std::string& corner) {
    std::vector<std::string> heading{corner};
    for (const auto& paper : kPaper) heading.push_back(paper.name);
    return Table(heading);
}

std::string decimal(double number) { return fmt::format("{:.1f}", number); }
std::string pass_or_fail(bool pass) { return pass ? "PASS" : "FAIL"; }

}  // namespace tandem::tpu_v1
