// SPDX-License-Identifier: Apache-2.0
// Matrix products and convolutions on every shipped chip of which something is published, in timing
// mode: how long, what share of the chip's peak, what share of what its memory allows.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "benchmarks/efficiency.h"
#include "benchmarks/list_baselines.h"
#include "benchmarks/study.h"
#include "explore/svg_plot.h"
#include "run/graph_run.h"
#include "run/paths.h"

// The library's main() is not used, but it refers to this.
extern "C" int sc_main(int, char*[]) { return 0; }

namespace {

using namespace tandem;
using namespace tandem::benchmarks;

constexpr const char* kCommand =
    "build/release/benchmarks/chip_efficiency --markdown docs/chip_efficiency.md --svg docs/images";
constexpr uint64_t kSkinny = 4096;  ///< k and n of products with few rows
constexpr uint64_t kBatch = 8;      ///< of convolutions
/// Published figures are printed with two or three digits.
constexpr double kPublishedPercent = 2.5;

struct Sizes {
    std::vector<uint64_t> square, rows, channels, images;
};
const Sizes kAll = {{128, 256, 512, 1024, 2048, 4096, 8192, 16384},
                    {1, 8, 64, 128},
                    {16, 32, 64, 128, 256, 512, 1024},
                    {56, 28, 14, 7}};
const Sizes kQuick = {{128, 1024, 4096}, {1, 128}, {16, 128, 1024}, {56, 7}};

struct Point {
    uint64_t size;  ///< rows, or channels
    tables::Workload kernel;
    std::optional<run::RunResult> result{};  ///< nothing: refused
    double roofline_seconds = 0, napkin_seconds = 0;
    uint64_t compulsory = 0;
    double cores = 1;

    double seconds() const { return result->seconds(); }
    double tera() const { return 2 * static_cast<double>(result->macs) / seconds() / 1e12; }
    double peak_percent() const { return 100 * result->utilization(); }
    double roofline_percent() const { return 100 * roofline_seconds / seconds(); }
    double napkin_percent() const { return 100 * napkin_seconds / seconds(); }
    /// Traffic of device memory (the second on-chip memory is in it), as a multiple of what has to
    /// be moved.
    double moved() const {
        const auto& bytes = result->traffic;
        return static_cast<double>(bytes.memory_read + bytes.memory_write) /
               static_cast<double>(compulsory);
    }
    /// Share of the sequencers' time in which they wait for instructions from memory.
    double fetch_percent() const {
        return 100 * static_cast<double>(result->cause("sequencer", "wait_memory")) /
               (static_cast<double>(result->cycles) * cores);
    }
};
using Points = std::vector<Point>;

struct Chip {
    arch::ChipConfig config;
    Points square, skinny;
    std::map<uint64_t, Points> convolutions;  ///< by image size
    const char* unit() const { return config.mxu.dtype == arch::Dtype::kInt8 ? "TOPS" : "TFLOPS"; }
};

Point measure(uint64_t size, tables::Workload kernel, const arch::ChipConfig& chip) {
    Point point{.size = size, .kernel = std::move(kernel)};
    point.roofline_seconds = roofline_seconds(point.kernel, chip);
    point.napkin_seconds = napkin_seconds(point.kernel, chip);
    point.compulsory = compulsory_bytes(point.kernel, chip);
    point.cores = chip.cores;
    try {
        point.result = run::time_list_apart(point.kernel, chip);
    } catch (const UserError&) {
        // It has no room on this chip: the table says so.
    }
    return point;
}

Chip measure(const arch::ChipConfig& config, const Sizes& sizes) {
    Chip chip{.config = config, .square = {}, .skinny = {}, .convolutions = {}};
    for (const uint64_t size : sizes.square)
        chip.square.push_back(measure(size, gemm(size, size, size), config));
    for (const uint64_t rows : sizes.rows)
        chip.skinny.push_back(measure(rows, gemm(rows, kSkinny, kSkinny), config));
    for (const uint64_t image : sizes.images)
        for (const uint64_t channels : sizes.channels)
            chip.convolutions[image].push_back(
                measure(channels, convolution(kBatch, image, image, channels), config));
    return chip;
}

class Study {
  public:
    Study(StudyOptions options, bool quick) : options_(std::move(options)), quick_(quick) {
        for (const std::string& name : arch::shipped_chips(run::chips_dir())) {
            const arch::ChipConfig chip = arch::find_chip(name, run::chips_dir());
            if (chip.published.peak_ops_per_second == 0) continue;
            fmt::print(stderr, "{}\n", name);
            chips_.push_back(measure(chip, quick ? kQuick : kAll));
        }
    }

    int go() {
        std::string text = head() + published();
        for (const Chip& chip : chips_) text += chapter(chip);
        fmt::print("{}", text);
        write_markdown(options_, command(), text);
        write_svg(options_, "gemm_efficiency.svg", gemm_svg());
        write_svg(options_, "conv_efficiency.svg", convolution_svg());
        if (!options_.json.empty()) write_file("--json", options_.json, json().dump(1) + "\n");
        return good_ ? 0 : 1;
    }

  private:
    std::string command() const { return kCommand + std::string(quick_ ? " --quick" : ""); }

    std::string head() const {
        std::string text = "# Efficiency of the shipped chips\n\n";
        if (quick_) text += "**Reduced form (`--quick`): fewer sizes.**\n\n";
        return text +
               fmt::format(
                   R"(Repeat with `{}`.

Single kernels on the model in timing mode, on all arrays of all cores, operands and result in
device memory, int8 with one byte and bf16 with two per element. *Peak* is the share of the
chip's peak. *Roofline* is the share of what is possible when every operand is moved once: the
longer of computing at peak and moving at peak bandwidth of the device memory (a second on-chip
memory holds weights of networks, not of single products). *Napkin* is the time of 1 us +
multiplying, partly used tiles whole, + moving every operand once, as a share of the model's time:
above 100 the model overlaps more than the napkin, below it waits for something that the napkin
does not know. *Moved* is the traffic, with
instructions, as a multiple of those bytes; *fetch* the share of the time in which the
sequencers wait for instructions from memory. *No room*: the weights do not fit device memory,
or two rows not the buffer. A convolution is 3x3, {} images, as many filters as channels.

)",
                   command(), kBatch) +
               picture(options_, "gemm_efficiency.svg",
                       "Matrix products: share of peak and of roofline") +
               picture(options_, "conv_efficiency.svg", "Convolutions: share of peak");
    }

    std::string published() {
        std::vector<Row> rows;
        for (const Chip& chip : chips_) {
            const auto& config = chip.config;
            const auto& printed = config.published;
            rows.push_back(
                {config.name,
                 compare(config.peak_ops_per_second(), printed.peak_ops_per_second, 1e12),
                 compare(static_cast<double>(config.memory.bytes_per_second),
                         printed.memory_bytes_per_second, 1e9),
                 compare(config.ridge_ops_per_byte(), printed.ridge_ops_per_byte, 1)});
        }
        return fmt::format(
                   "## Computed and published\n\nComputed from the chip file, published behind it; "
                   "they may differ by {} %. The clocks of v5e, v5p and v6e are themselves derived "
                   "from the "
                   "published peak, and so is the number of arrays of v6e: there the comparison "
                   "checks the "
                   "file, not the machine.\n\n",
                   kPublishedPercent) +
               table({"chip", "peak, T(FL)OPS", "memory, GB/s", "ridge, operations per byte"},
                     rows);
    }

    std::string compare(double computed, double printed, double unit) {
        const std::string text = fmt::format("{:.5g}", computed / unit);
        if (printed == 0) return text + ", -";
        const bool good = std::abs(computed / printed - 1) * 100 <= kPublishedPercent;
        good_ = good_ && good;
        return fmt::format("{}, {:.5g}{}", text, printed / unit, good ? "" : " **differs**");
    }

    static Row row(const std::string& name, const Point& point) {
        if (!point.result) return {name, "no room"};
        return {name,
                fmt::format("{:.1f}", point.seconds() * 1e6),
                fmt::format("{:.3g}", point.tera()),
                fmt::format("{:.1f}", point.peak_percent()),
                fmt::format("{:.1f}", point.roofline_percent()),
                fmt::format("{:.0f}", point.napkin_percent()),
                fmt::format("{:.2f}", point.moved()),
                fmt::format("{:.0f}", point.fetch_percent())};
    }

    static std::string chapter(const Chip& chip) {
        std::vector<Row> rows;
        for (const Points& points : {chip.square, chip.skinny})
            for (const Point& point : points) rows.push_back(row(point.kernel.name, point));
        for (const auto& [image, points] : chip.convolutions)
            for (const Point& point : points)
                rows.push_back(
                    row(fmt::format("conv {0}x{0}, {1} channels", image, point.size), point));
        return fmt::format("## {}\n\n{}.\n\n", chip.config.name, chip.config.description) +
               table({"kernel", "us", chip.unit(), "peak %", "roofline %", "napkin %", "moved",
                      "fetch %"},
                     rows);
    }

    using Figure = double (Point::*)() const;

    explore::Plot panel(const std::string& title, const std::string& x, const std::string& y,
                        const std::function<const Points&(const Chip&)>& points,
                        Figure figure) const {
        explore::Plot plot{.title = title,
                           .x = {x, explore::AxisScale::kLog2},
                           .y = {y, explore::AxisScale::kLinear, 0, 100},
                           .series = {}};
        std::string no_room;
        for (const Chip& chip : chips_) {
            // Every second one dashed: near 100 % many lie on top of each other.
            explore::PlotSeries series{
                .name = chip.config.name, .points = {}, .dashed = plot.series.size() % 2 == 1};
            for (const Point& point : points(chip))
                if (point.result)
                    series.points.emplace_back(static_cast<double>(point.size), (point.*figure)());
            if (series.points.size() < points(chip).size())
                no_room += (no_room.empty() ? "" : ", ") + chip.config.name +
                           (series.points.empty() ? "" : " beyond its last mark");
            plot.series.push_back(series);
        }
        if (!no_room.empty()) plot.x.label += "; no room: " + no_room;
        return plot;
    }

    std::string gemm_svg() const {
        const auto square = [](const Chip& chip) -> const Points& { return chip.square; };
        const auto skinny = [](const Chip& chip) -> const Points& { return chip.skinny; };
        const std::string x = "m = k = n, elements", few = "m, rows (k = n = 4096)";
        return explore::to_svg(
            "Matrix products on the model: share of peak (left), share of roofline (right)",
            {panel("Square products, peak", x, "share of peak, %", square, &Point::peak_percent),
             panel("Square products, roofline", x, "share of roofline, %", square,
                   &Point::roofline_percent),
             panel("Few rows, peak", few, "share of peak, %", skinny, &Point::peak_percent),
             panel("Few rows, roofline", few, "share of roofline, %", skinny,
                   &Point::roofline_percent)},
            2);
    }

    std::string convolution_svg() const {
        std::vector<explore::Plot> panels;
        for (auto image = chips_.front().convolutions.rbegin();
             image != chips_.front().convolutions.rend(); ++image) {
            const uint64_t size = image->first;
            panels.push_back(panel(
                fmt::format("Images of {0}x{0}, batch {1}", size, kBatch), "channels",
                "share of peak, %",
                [size](const Chip& chip) -> const Points& { return chip.convolutions.at(size); },
                &Point::peak_percent));
        }
        return explore::to_svg("3x3 convolutions on the model: share of peak, by size of image",
                               panels, 2);
    }

    nlohmann::json json() const {
        nlohmann::json all;
        const auto add = [&](const Chip& chip, const char* kind, const Point& point) {
            nlohmann::json one = {
                {"chip", chip.config.name}, {"kind", kind}, {"kernel", point.kernel.name}};
            if (point.result)
                one.update({{"seconds", point.seconds()},
                            {"ops_per_second", point.tera() * 1e12},
                            {"peak_percent", point.peak_percent()},
                            {"roofline_percent", point.roofline_percent()},
                            {"napkin_percent", point.napkin_percent()},
                            {"moved", point.moved()},
                            {"fetch_percent", point.fetch_percent()}});
            all.push_back(one);
        };
        for (const Chip& chip : chips_) {
            for (const Point& point : chip.square) add(chip, "gemm", point);
            for (const Point& point : chip.skinny) add(chip, "gemm", point);
            for (const auto& [image, points] : chip.convolutions)
                for (const Point& point : points) add(chip, "convolution", point);
        }
        return {{"quick", quick_}, {"kernels", all}};
    }

    const StudyOptions options_;
    const bool quick_;
    bool good_ = true;
    std::vector<Chip> chips_;
};

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{
        "Matrix products and convolutions on the shipped chips, by the model.\n"
        "Exit status 1: a computed figure differs from the published one."};
    StudyOptions options;
    bool quick = false;
    add_study_options(app, options);
    app.add_flag("--quick", quick, "fewer sizes");
    return run_study(app, argc, argv, [&] { return Study(options, quick).go(); });
}
