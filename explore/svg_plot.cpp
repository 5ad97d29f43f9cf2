// SPDX-License-Identifier: Apache-2.0
#include "explore/svg_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <stdexcept>

namespace tandem::explore {
namespace {

// Sizes in pixels.
constexpr double kPanelWidth = 400, kPanelHeight = 280;  // of the frame around the points
constexpr double kLeft = 64, kRight = 30, kTop = 34, kBottom = 52;
constexpr double kTitleHeight = 40, kLegendLine = 20, kLetter = 7.3;
constexpr size_t kColours = 10;
constexpr size_t kMostTicks = 9;

// Background and ink change together, so that one without the other never meets a page's theme.
constexpr const char* kStyle = R"(<style>
text{font-family:"DejaVu Sans",Verdana,Arial,sans-serif;font-size:12px;fill:#1c2733}
.h{font-size:15px;font-weight:bold}.p{font-size:13px;font-weight:bold}.m{text-anchor:middle}.e{text-anchor:end}
.back{fill:#fff}.frame{fill:none;stroke:#5b6b7a}.grid{stroke:#dde3e8;fill:none}
.c0{stroke:#2f5fd0;fill:#2f5fd0}.c1{stroke:#c25a00;fill:#c25a00}.c2{stroke:#c72c52;fill:#c72c52}.c3{stroke:#1a8577;fill:#1a8577}
.c4{stroke:#8a50d8;fill:#8a50d8}.c5{stroke:#2f8c3c;fill:#2f8c3c}.c6{stroke:#8a5a3c;fill:#8a5a3c}.c7{stroke:#5c6873;fill:#5c6873}
.c8{stroke:#c0349a;fill:#c0349a}.c9{stroke:#857600;fill:#857600}
@media (prefers-color-scheme:dark){
text{fill:#dbe2e8}.back{fill:#12171d}.frame{stroke:#8c9aa8}.grid{stroke:#2c353e}
.c0{stroke:#7ea2ff;fill:#7ea2ff}.c1{stroke:#ff9d4d;fill:#ff9d4d}.c2{stroke:#ff7d97;fill:#ff7d97}.c3{stroke:#4fd0be;fill:#4fd0be}
.c4{stroke:#c39cff;fill:#c39cff}.c5{stroke:#74d680;fill:#74d680}.c6{stroke:#d7a27f;fill:#d7a27f}.c7{stroke:#a9b5c0;fill:#a9b5c0}
.c8{stroke:#ff86da;fill:#ff86da}.c9{stroke:#d9c74a;fill:#d9c74a}
}
.line{fill:none;stroke-width:2.4;stroke-linejoin:round}.dot{stroke:none}.dashed{stroke-width:1.4;stroke-dasharray:6 4}
.ring{fill:none;stroke-width:1.4}
</style>
)";

std::string escape(const std::string& text) {
    std::string out;
    for (const char letter : text) switch (letter) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                out += letter;
        }
    return out;
}

/// A coordinate: two places are a hundredth of a pixel, and never "-0".
std::string place(double value) {
    const double rounded = std::round(value * 100) / 100;
    return fmt::format("{:g}", fmt::format("{:.2f}", rounded) == "-0.00" ? 0.0 : rounded);
}

/// A tick as people write it: 0.25, 16384, 1e+06.
std::string number(double value) { return fmt::format("{:.5g}", value); }

/// From figures to a share of the axis, and its ticks.
class Ruler {
  public:
    Ruler(const PlotAxis& axis, const std::vector<double>& values) : axis_(axis) {
        double low = std::numeric_limits<double>::infinity(), high = -low;
        for (const double value : values) {
            const double at = position(value);
            low = std::min(low, at), high = std::max(high, at);
        }
        if (values.empty()) {
            low = axis.low ? position(*axis.low) : 0;
            high = axis.high ? position(*axis.high) : low + 1;
        }
        constexpr double kRound = 1e-9;  // a value next to a tick, or to an end, is there
        low_ = axis.low ? position(*axis.low) : low;
        high_ = axis.high ? position(*axis.high) : high;
        if (axis.low && axis.high && low_ >= high_)
            throw std::invalid_argument("axis " + axis.label + " ends where it begins or before");
        const bool fixed_low = axis.low && low >= low_ - kRound;
        const bool fixed_high = axis.high && high <= high_ + kRound;
        low_ = std::min(low_, low), high_ = std::max(high_, high);
        widen();
        step_ = step();
        if (!fixed_low) low_ = std::floor(low_ / step_ + kRound) * step_;
        if (!fixed_high) high_ = std::ceil(high_ / step_ - kRound) * step_;
    }

    /// 0 at the axis's beginning, 1 at its end.
    double share(double value) const { return (position(value) - low_) / (high_ - low_); }

    std::vector<double> ticks() const {
        std::vector<double> ticks;
        for (double i = std::ceil(low_ / step_ - 1e-9); i * step_ <= high_ + step_ * 1e-9; ++i)
            ticks.push_back(value_at(i * step_));
        return ticks;
    }

  private:
    double position(double value) const {
        const bool linear = axis_.scale == AxisScale::kLinear;
        if (!std::isfinite(value) || (!linear && value <= 0))
            throw std::invalid_argument(
                fmt::format("{} has no place on the axis {}", value, axis_.label));
        if (linear) return value;
        return axis_.scale == AxisScale::kLog2 ? std::log2(value) : std::log10(value);
    }
    double value_at(double position) const {
        if (axis_.scale == AxisScale::kLinear) return position == 0 ? 0 : position;
        return std::pow(axis_.scale == AxisScale::kLog2 ? 2 : 10, position);
    }
    /// All values alike: room on the sides that are free.
    void widen() {
        if (low_ < high_) return;
        const double room = axis_.scale != AxisScale::kLinear || low_ == 0 ? 1 : std::abs(low_) / 2;
        if (axis_.low)
            high_ = low_ + room;
        else if (axis_.high)
            low_ = high_ - room;
        else
            low_ -= room, high_ += room;
    }
    /// Whole powers on logarithmic axes, else 1, 2 or 5 times a power of ten.
    double step() const {
        const double least = (high_ - low_) / static_cast<double>(kMostTicks - 1);
        if (axis_.scale != AxisScale::kLinear) return std::max(1.0, std::ceil(least - 1e-9));
        const double power = std::pow(10, std::floor(std::log10(least)));
        for (const double factor : {1.0, 2.0, 5.0})
            if (factor * power >= least * (1 - 1e-9)) return factor * power;
        return 10 * power;
    }

    const PlotAxis& axis_;
    double low_ = 0, high_ = 1, step_ = 1;
};

/// The marker of series `index` around a point. Hollow ones are larger: they stand around a filled
/// one at the same place.
std::string marker(size_t index, bool hollow, double x, double y) {
    const std::string look = fmt::format("{} c{}", hollow ? "ring" : "dot", index % kColours);
    const double size = hollow ? 1.4 : 1;
    const auto polygon = [&](std::initializer_list<std::pair<double, double>> corners) {
        std::string points;
        for (const auto& [dx, dy] : corners)
            points += fmt::format("{}{},{}", points.empty() ? "" : " ", place(x + size * dx),
                                  place(y + size * dy));
        return fmt::format("<polygon class=\"{}\" points=\"{}\"/>", look, points);
    };
    // Fewer shapes than colours, and no common divisor: pairs of both do not repeat soon.
    switch (index % 7) {
        case 0:
            return fmt::format("<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>", look,
                               place(x), place(y), place(size * 3.5));
        case 1:
            return polygon({{-3.2, -3.2}, {3.2, -3.2}, {3.2, 3.2}, {-3.2, 3.2}});
        case 2:
            return polygon({{0, -4.4}, {4, 3.2}, {-4, 3.2}});
        case 3:
            return polygon({{0, -4.6}, {4.6, 0}, {0, 4.6}, {-4.6, 0}});
        case 4:
            return polygon({{0, 4.4}, {4, -3.2}, {-4, -3.2}});
        case 5:
            return polygon({{-4.4, 0}, {3.2, -4}, {3.2, 4}});
        default:
            return polygon({{4.4, 0}, {-3.2, -4}, {-3.2, 4}});
    }
}

/// Names in the order in which they first come; their index says colour and marker.
class Names {
  public:
    explicit Names(const std::vector<Plot>& panels) {
        for (const Plot& panel : panels)
            for (const PlotSeries& series : panel.series) {
                if (std::ranges::find(names_, series.name) != names_.end()) continue;
                names_.push_back(series.name);
                looks_.push_back({series.line, series.markers, series.dashed});
            }
    }
    /// The classes of a line.
    std::string line(size_t index) const {
        return fmt::format("line c{}{}", index % kColours, looks_[index].dashed ? " dashed" : "");
    }
    struct Look {
        bool line, markers, dashed;
    };
    const Look& look(size_t index) const { return looks_[index]; }
    size_t index(const std::string& name) const {
        return static_cast<size_t>(std::ranges::find(names_, name) - names_.begin());
    }
    const std::vector<std::string>& all() const { return names_; }
    /// A single series without a name needs no legend.
    bool legend() const { return names_.size() > 1 || (names_.size() == 1 && names_[0] != ""); }
    double width() const {
        size_t longest = 0;
        for (const std::string& name : names_) longest = std::max(longest, name.size());
        return legend() ? 46 + kLetter * static_cast<double>(longest) : 0;
    }

  private:
    std::vector<std::string> names_;
    std::vector<Look> looks_;
};

class Panel {
  public:
    Panel(const Plot& plot, const Names& names, size_t index, double x, double y)
        : plot_(plot),
          names_(names),
          index_(index),
          left_(x + kLeft),
          top_(y + kTop),
          x_(plot.x, values(plot, true)),
          y_(plot.y, values(plot, false)) {}

    std::string draw() const {
        const double middle = left_ + kPanelWidth / 2;
        std::string out = text("p m", middle, top_ - 12, plot_.title) + grid();
        out += fmt::format("<rect class=\"frame\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n",
                           place(left_), place(top_), kPanelWidth, kPanelHeight);
        out += fmt::format(
            "<clipPath id=\"panel{}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>"
            "</clipPath>\n",
            index_, place(left_ - 8), place(top_ - 8), kPanelWidth + 16, kPanelHeight + 16);
        for (const PlotSeries& series : plot_.series) out += draw(series);
        out += text("m", middle, top_ + kPanelHeight + 40, plot_.x.label);
        const double side = left_ - 50, centre = top_ + kPanelHeight / 2;
        return out + fmt::format(
                         "<text class=\"m\" transform=\"translate({} {}) rotate(-90)\">{}"
                         "</text>\n",
                         place(side), place(centre), escape(plot_.y.label));
    }

    static std::string text(const char* type, double x, double y, const std::string& what) {
        if (what.empty()) return "";
        return fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\">{}</text>\n", type, place(x),
                           place(y), escape(what));
    }

  private:
    static std::vector<double> values(const Plot& plot, bool of_x) {
        std::vector<double> values;
        for (const PlotSeries& series : plot.series)
            for (const auto& [x, y] : series.points) values.push_back(of_x ? x : y);
        return values;
    }
    double at_x(double value) const { return left_ + x_.share(value) * kPanelWidth; }
    double at_y(double value) const { return top_ + (1 - y_.share(value)) * kPanelHeight; }

    std::string grid() const {
        std::string lines, labels;
        for (const double tick : x_.ticks()) {
            lines += fmt::format("M{} {}v{}", place(at_x(tick)), place(top_), kPanelHeight);
            labels += text("m", at_x(tick), top_ + kPanelHeight + 18, number(tick));
        }
        for (const double tick : y_.ticks()) {
            lines += fmt::format("M{} {}h{}", place(left_), place(at_y(tick)), kPanelWidth);
            labels += text("e", left_ - 7, at_y(tick) + 4, number(tick));
        }
        return fmt::format("<path class=\"grid\" d=\"{}\"/>\n", lines) + labels;
    }

    std::string draw(const PlotSeries& series) const {
        const size_t index = names_.index(series.name);
        std::string line, dots;
        for (const auto& [x, y] : series.points) {
            line += fmt::format("{}{},{}", line.empty() ? "" : " ", place(at_x(x)), place(at_y(y)));
            if (series.markers) dots += marker(index, names_.look(index).dashed, at_x(x), at_y(y));
        }
        std::string out = fmt::format("<g clip-path=\"url(#panel{})\"><title>{}</title>", index_,
                                      escape(series.name));
        if (series.line)
            out += fmt::format("<polyline class=\"{}\" points=\"{}\"/>", names_.line(index), line);
        return out + dots + "</g>\n";
    }

    const Plot& plot_;
    const Names& names_;
    const size_t index_;
    const double left_, top_;
    const Ruler x_, y_;
};

std::string draw_legend(const Names& names, double x, double y) {
    std::string out;
    for (size_t i = 0; i < names.all().size(); ++i) {
        const double line = y + kLegendLine * static_cast<double>(i);
        const Names::Look& look = names.look(i);
        if (look.line)
            out += fmt::format("<polyline class=\"{}\" points=\"{},{} {},{}\"/>", names.line(i),
                               place(x), place(line), place(x + 24), place(line));
        if (look.markers) out += marker(i, look.dashed, x + 12, line);
        out += Panel::text("", x + 32, line + 4, names.all()[i]);
    }
    return out;
}

}  // namespace

std::string to_svg(const std::string& title, const std::vector<Plot>& panels, uint32_t columns) {
    if (panels.empty() || columns == 0) throw std::invalid_argument("a picture without panels");
    const Names names(panels);
    const double cell_width = kLeft + kPanelWidth + kRight;
    const double cell_height = kTop + kPanelHeight + kBottom;
    const size_t across = std::min<size_t>(columns, panels.size());
    const size_t down = (panels.size() + across - 1) / across;
    const double panels_width = cell_width * static_cast<double>(across);
    const double width = panels_width + names.width();
    const double legend_height = kTop + kLegendLine * static_cast<double>(names.all().size());
    const double height = kTitleHeight + std::max(cell_height * static_cast<double>(down),
                                                  names.legend() ? legend_height : 0);

    std::string out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
        "height=\"{1}\" role=\"img\" aria-labelledby=\"t\">\n<title id=\"t\">{2}</title>\n",
        place(width), place(height), escape(title));
    out += kStyle;
    out += fmt::format("<rect class=\"back\" width=\"{}\" height=\"{}\"/>\n", place(width),
                       place(height));
    out += Panel::text("h", 16, 26, title);
    for (size_t i = 0; i < panels.size(); ++i) {
        const size_t row = i / across, column = i % across;
        out += Panel(panels[i], names, i, cell_width * static_cast<double>(column),
                     kTitleHeight + cell_height * static_cast<double>(row))
                   .draw();
    }
    if (names.legend()) out += draw_legend(names, panels_width, kTitleHeight + kTop + 10);
    return out + "</svg>\n";
}

}  // namespace tandem::explore
