// SPDX-License-Identifier: Apache-2.0
// What TPU v1 would gain from more memory bandwidth, a faster clock or a larger array: the form of
// Figure 11 of isca17 (Jouppi et al., ISCA 2017), for its six applications, by running each of them
// on the model of each scaled chip. What the paper says is printed behind it and used nowhere.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>

#include "benchmarks/scaling/page.h"
#include "benchmarks/scaling/runs.h"
#include "benchmarks/study.h"
#include "explore/svg_plot.h"

// The library's main() is not used, but it refers to this.
extern "C" int sc_main(int, char*[]) { return 0; }

namespace {

using namespace tandem;
using namespace tandem::benchmarks;

constexpr const char* kCommand =
    "build/release/benchmarks/scaling_study --markdown docs/scaling_study.md --svg docs/images";

explore::Plot panel(const ScalingRuns& runs, const std::string& title,
                    const std::function<double(const Figures&)>& figure) {
    explore::Plot plot{
        .title = title,
        .x = {"scale of memory bandwidth, clock or matrix", explore::AxisScale::kLog2},
        .y = {"performance relative to scale 1", explore::AxisScale::kLinear, 0, 3},
        .series = {}};
    for (const KnobText& knob : kKnobs) {
        explore::PlotSeries series{knob.name, {}};
        for (const double scale : kScales)
            series.points.emplace_back(scale, figure(runs.at(knob.knob, scale).gains));
        // Both are often the same line: the dashed one lets the other be seen.
        series.dashed = series.name.ends_with('+');
        plot.series.push_back(series);
    }
    return plot;
}

std::string svg(const ScalingRuns& runs) {
    std::vector<explore::Plot> panels = {panel(runs, "Weighted mean by deployment", weighted_mean),
                                         panel(runs, "Geometric mean", geometric_mean)};
    for (const char* application : kApplications)
        panels.push_back(
            panel(runs, application, [&](const Figures& gains) { return gains.at(application); }));
    return explore::to_svg(
        "TPU v1 with memory bandwidth, clock or matrix scaled, on the model (+: accumulators "
        "too)",
        panels, 2);
}

nlohmann::json json(const ScalingRuns& runs) {
    nlohmann::json all;
    const auto add = [&](const Variant& variant) {
        nlohmann::json one = {{"name", variant.name},
                              {"gains", variant.gains},
                              {"weighted_mean", weighted_mean(variant.gains)},
                              {"geometric_mean", geometric_mean(variant.gains)}};
        for (const auto& [name, result] : variant.results)
            one["microseconds"][name] = result.seconds() * 1e6;
        all.push_back(one);
    };
    for (const Variant& variant : runs.scaled) add(variant);
    for (const Variant& variant : runs.upgrades) add(variant);
    for (const Variant& variant : runs.limits) add(variant);
    return {{"variants", all}};
}

int study(const StudyOptions& options, bool check) {
    const ScalingRuns runs;
    const std::string text = scaling_page(runs, options, kCommand);
    fmt::print("{}", text);
    write_markdown(options, kCommand, text);
    write_svg(options, "scaling_study.svg", svg(runs));
    if (!options.json.empty()) write_file("--json", options.json, json(runs).dump(1) + "\n");
    return check && !runs.gddr5.passes() ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{
        "What scaling TPU v1 gives its six applications: Figure 11 of ISCA 2017 by the model."};
    StudyOptions options;
    bool check = false;
    add_study_options(app, options);
    app.add_flag("--check", check, "exit with 1 if a bound is missed");
    return run_study(app, argc, argv, [&] { return study(options, check); });
}
