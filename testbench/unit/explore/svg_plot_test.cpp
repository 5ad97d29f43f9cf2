// SPDX-License-Identifier: Apache-2.0
// Plots as text: where points land, what the axes say, what is refused. Expected places follow from
// the frame of a panel, 400 x 280 pixels, whose corner stands at (64, 74) in the first one.
#include "explore/svg_plot.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace tandem::explore {
namespace {

Plot plot_of(AxisScale scale, double low, double high,
             std::vector<std::pair<double, double>> points) {
    return {.title = "panel",
            .x = {"x, unit", scale, low, high},
            .y = {"y, unit", scale, low, high},
            .series = {{"series", std::move(points)}}};
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

size_t count(const std::string& text, const std::string& part) {
    size_t found = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++found;
    return found;
}

/// Every element is closed, in the right order.
bool well_formed(const std::string& text) {
    std::vector<std::string> open;
    for (size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
        const size_t end = text.find('>', at);
        if (end == std::string::npos) return false;
        const std::string tag = text.substr(at + 1, end - at - 1);
        const std::string name =
            tag.substr(tag[0] == '/', tag.find_first_of(" /", 1) - (tag[0] == '/'));
        if (tag.back() == '/') continue;
        if (tag[0] != '/') {
            open.push_back(name);
        } else {
            if (open.empty() || open.back() != tag.substr(1)) return false;
            open.pop_back();
        }
    }
    return open.empty();
}

TEST(SvgPlot, PointsLandWhereTheAxisSays) {
    const std::string linear = to_svg("t", {plot_of(AxisScale::kLinear, 0, 2, {{1, 0.5}})});
    EXPECT_TRUE(has(linear, "cx=\"264\" cy=\"284\"")) << linear;
    const std::string two = to_svg("t", {plot_of(AxisScale::kLog2, 0.25, 4, {{1, 2}})});
    EXPECT_TRUE(has(two, "cx=\"264\" cy=\"144\"")) << two;
    const std::string ten = to_svg("t", {plot_of(AxisScale::kLog10, 1, 10000, {{10, 1000}})});
    EXPECT_TRUE(has(ten, "cx=\"164\" cy=\"144\"")) << ten;
}

TEST(SvgPlot, AxesWithoutEndsBeginAndEndAtTicks) {
    Plot plot = plot_of(AxisScale::kLinear, 0, 0, {{3, 0.3}, {97, 17}});
    plot.x.low = plot.x.high = plot.y.low = plot.y.high = std::nullopt;
    const std::string svg = to_svg("t", {plot});
    for (const char* tick : {">0<", ">20<", ">100<", ">5<"}) EXPECT_TRUE(has(svg, tick)) << tick;
    EXPECT_TRUE(has(svg, "cx=\"76\"")) << "3 of 0 to 100";
}

TEST(SvgPlot, LogarithmicTicksArePowers) {
    const std::string two = to_svg("t", {plot_of(AxisScale::kLog2, 0.25, 4, {{1, 1}})});
    for (const char* tick : {">0.25<", ">0.5<", ">1<", ">2<", ">4<"})
        EXPECT_EQ(count(two, tick), 2u) << tick;
    const std::string ten = to_svg("t", {plot_of(AxisScale::kLog10, 1, 1e6, {{1, 1}})});
    EXPECT_EQ(count(ten, ">1000<"), 2u);
    EXPECT_EQ(count(ten, ">1e+06<"), 2u);
}

TEST(SvgPlot, LongLogarithmicAxesSkipPowers) {
    const std::string svg = to_svg("t", {plot_of(AxisScale::kLog2, 1, std::exp2(30), {{1, 1}})});
    EXPECT_TRUE(has(svg, ">16<"));
    EXPECT_FALSE(has(svg, ">2<"));
}

TEST(SvgPlot, ASingleValueHasRoomAroundIt) {
    for (const AxisScale scale : {AxisScale::kLinear, AxisScale::kLog2, AxisScale::kLog10}) {
        Plot plot = plot_of(scale, 1, 2, {{8, 8}});
        plot.x.low = plot.x.high = plot.y.low = plot.y.high = std::nullopt;
        EXPECT_TRUE(well_formed(to_svg("t", {plot})));
        EXPECT_FALSE(has(to_svg("t", {plot}), "nan"));
    }
}

TEST(SvgPlot, WellFormedWithAnyText) {
    Plot plot = plot_of(AxisScale::kLinear, 0, 1, {{0, 0}});
    plot.title = plot.x.label = plot.series[0].name = "a < b & \"c\" > d";
    const std::string svg = to_svg("<&>", {plot, plot, plot}, 2);
    EXPECT_TRUE(well_formed(svg)) << svg;
    EXPECT_TRUE(has(svg, "a &lt; b &amp; &quot;c&quot; &gt; d"));
}

TEST(SvgPlot, NothingToDrawIsAnEmptyFrame) { EXPECT_TRUE(well_formed(to_svg("t", {Plot{}}))); }

TEST(SvgPlot, SameNameSameLookInAllPanels) {
    Plot first = plot_of(AxisScale::kLinear, 0, 1, {{0, 0}});
    Plot second = first;
    first.series = {{"a", {{0, 0}}}, {"b", {{1, 1}}}};
    second.series = {{"b", {{1, 1}}}};
    const std::string svg = to_svg("t", {first, second});
    EXPECT_EQ(count(svg, "class=\"line c1\""), 3u) << "two panels and the legend";
    EXPECT_EQ(count(svg, ">a</text>"), 1u);
    EXPECT_EQ(count(svg, ">b</text>"), 1u);
}

TEST(SvgPlot, LinesAndMarkersAreOptional) {
    Plot plot = plot_of(AxisScale::kLinear, 0, 1, {{0, 0}, {1, 1}});
    plot.series[0].name.clear();
    plot.series[0].line = false;
    const std::string points = to_svg("t", {plot});
    EXPECT_EQ(count(points, "<polyline"), 0u);
    EXPECT_EQ(count(points, "<circle"), 2u);
    plot.series[0].line = true;
    plot.series[0].markers = false;
    plot.series[0].dashed = true;
    const std::string line = to_svg("t", {plot});
    EXPECT_EQ(count(line, "class=\"line c0 dashed\""), 1u);
    EXPECT_EQ(count(line, "<circle"), 0u);
}

TEST(SvgPlot, ADashedSeriesLetsAnEqualOneBeSeen) {
    Plot plot = plot_of(AxisScale::kLinear, 0, 1, {{0, 0}, {1, 1}});
    plot.series.push_back({.name = "same", .points = plot.series[0].points, .dashed = true});
    const std::string svg = to_svg("t", {plot});
    EXPECT_EQ(count(svg, "class=\"dot c0\""), 3u) << "two points and the legend";
    EXPECT_EQ(count(svg, "class=\"ring c1\""), 3u) << "hollow: the filled ones show";
}

TEST(SvgPlot, TheLegendShowsWhatASeriesHas) {
    Plot plot = plot_of(AxisScale::kLinear, 0, 1, {{0, 0}});
    plot.series = {{.name = "roof", .points = {{0, 0}, {1, 1}}, .markers = false},
                   {.name = "measured", .points = {{0, 0.5}}, .line = false}};
    const std::string svg = to_svg("t", {plot});
    EXPECT_EQ(count(svg, "<circle"), 0u) << "the roof has no marks";
    EXPECT_EQ(count(svg, "<polyline"), 2u) << "the roof and its entry";
    EXPECT_EQ(count(svg, "class=\"dot c1\""), 2u) << "the point and its entry";
}

TEST(SvgPlot, NoPointIsCutOff) {
    // y: 150 of 0 to 100, so that the axis goes on to the tick 160; x keeps its end.
    const std::string high = to_svg("t", {plot_of(AxisScale::kLinear, 0, 100, {{100, 150}})});
    EXPECT_TRUE(has(high, "cx=\"464\" cy=\"91.5\"")) << high;
    const std::string kept = to_svg("t", {plot_of(AxisScale::kLinear, 0, 100, {{100, 100}})});
    EXPECT_TRUE(has(kept, "cx=\"464\" cy=\"74\"")) << kept;
    const std::string low = to_svg("t", {plot_of(AxisScale::kLog10, 10, 1000, {{100, 5}})});
    EXPECT_TRUE(has(low, ">1<")) << "5 below 10: from 1 on";
}

TEST(SvgPlot, FollowsTheThemeAndIsAlwaysTheSame) {
    const std::vector<Plot> panels = {plot_of(AxisScale::kLog2, 1, 8, {{1, 3}, {5, 7}})};
    EXPECT_TRUE(has(to_svg("t", panels), "prefers-color-scheme:dark"));
    EXPECT_EQ(to_svg("t", panels), to_svg("t", panels));
}

TEST(SvgPlot, RefusesWhatHasNoPlace) {
    const double none = std::nan("");
    const auto draw = [](AxisScale scale, double low, double high, double x) {
        return to_svg("t", {plot_of(scale, low, high, {{x, 1}})});
    };
    EXPECT_THROW(draw(AxisScale::kLinear, 0, 1, none), std::invalid_argument);
    EXPECT_THROW(draw(AxisScale::kLog2, 1, 2, 0), std::invalid_argument);
    EXPECT_THROW(draw(AxisScale::kLog10, 1, 10, -1), std::invalid_argument);
    EXPECT_THROW(draw(AxisScale::kLog10, 0, 10, 1), std::invalid_argument);
    EXPECT_THROW(draw(AxisScale::kLinear, 1, 1, 1), std::invalid_argument);
    EXPECT_THROW(draw(AxisScale::kLinear, 2, 1, 1), std::invalid_argument);
    EXPECT_THROW(to_svg("t", {}), std::invalid_argument);
    EXPECT_THROW(to_svg("t", {Plot{}}, 0), std::invalid_argument);
}

}  // namespace
}  // namespace tandem::explore
