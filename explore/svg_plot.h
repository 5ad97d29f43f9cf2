// SPDX-License-Identifier: Apache-2.0
// Plots as plain SVG text: lines and points over linear and logarithmic axes, with titles, labels
// and a legend. The picture follows the reader's light or dark theme. The same plot gives the same
// bytes everywhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tandem::explore {

enum class AxisScale : uint8_t { kLinear, kLog2, kLog10 };

struct PlotAxis {
    std::string label;  ///< with the unit
    AxisScale scale = AxisScale::kLinear;
    /// Where the axis begins and ends; not given, or where a point lies beyond it: at a tick around
    /// the points. No point is cut off.
    std::optional<double> low{}, high{};
};

struct PlotSeries {
    std::string name;  ///< same name, same look in all panels and one entry in the legend
    std::vector<std::pair<double, double>> points;
    bool line = true;     ///< joined in the order given
    bool markers = true;  ///< at the points, hence only where something was measured
    bool dashed = false;  ///< thin, with hollow markers: seen on top of a series with equal values
};

struct Plot {
    std::string title;
    PlotAxis x, y;
    std::vector<PlotSeries> series;
};

/// One picture of one or several panels, `columns` of them side by side, with one legend for all.
/// Throws std::invalid_argument for what has no place on an axis: numbers that are not finite, and
/// on logarithmic axes those that are not positive; for an axis that ends where it begins or
/// before; and when there is no panel or no column.
std::string to_svg(const std::string& title, const std::vector<Plot>& panels, uint32_t columns = 1);

}  // namespace tandem::explore
