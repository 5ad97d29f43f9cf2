// SPDX-License-Identifier: Apache-2.0
// What TPU v1 would gain from more memory bandwidth, a faster clock or a larger array: the form of
// Figure 11 of isca17 (Jouppi et al., ISCA 2017), for its six applications, by running each of them
// on the model of each scaled chip. What the paper says is printed behind it and used nowhere.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "benchmarks/gddr5.h"
#include "benchmarks/scaled_chip.h"
#include "benchmarks/study.h"
#include "benchmarks/tpu_v1/baselines.h"
#include "explore/svg_plot.h"
#include "run/graph_run.h"
#include "run/paths.h"

// The library's main() is not used, but it refers to this.
extern "C" int sc_main(int, char*[]) { return 0; }

namespace {

using namespace tandem;
using namespace tandem::benchmarks;

constexpr const char* kCommand =
    "build/release/benchmarks/scaling_study --markdown docs/scaling_study.md --svg docs/images";
constexpr std::array kScales = {0.25, 0.5, 1.0, 2.0, 4.0};
constexpr std::array kApplications = {"MLP0", "MLP1", "LSTM0", "LSTM1", "CNN0", "CNN1"};
constexpr double kFastClockHz = 1050e6;
constexpr uint64_t kFree = 1000;  ///< times faster: no time any more

/// Results and figures of one chip, by application.
using Results = std::map<std::string, run::RunResult>;
using Figures = std::map<std::string, double>;

struct Variant {
    std::string name, what;
    Results results{};
    Figures gains{};               ///< performance relative to the chip as it is
    Figures napkin{}, roofline{};  ///< the same by formulas
};

class Study {
  public:
    explicit Study(StudyOptions options) : options_(std::move(options)) {
        for (const std::string name : kApplications) {
            std::string file = name;
            std::ranges::transform(file, file.begin(),
                                   [](unsigned char c) { return std::tolower(c); });
            workloads_[name] = workload::load_application(run::data_dir() / "models/applications" /
                                                          (file + ".yaml"));
        }
        chip_ = arch::find_chip("tpu_v1", run::chips_dir());
        base_ = run(chip_);
        gddr5_ = Gddr5Study(workloads_, chip_);
    }

    int go(bool check) {
        for (const KnobText& knob : kKnobs)
            for (const double scale : kScales)
                scaled_.push_back(measure({fmt::format("{} {}x", knob.name, scale), knob.what},
                                          scaled(chip_, knob.knob, scale)));
        upgrade();
        look_for_limits();
        const std::string text = document();
        fmt::print("{}", text);
        write_markdown(options_, kCommand, text);
        write_svg(options_, "scaling_study.svg", svg());
        if (!options_.json.empty()) write_file("--json", options_.json, json().dump(1) + "\n");
        return check && !gddr5_.passes() ? 1 : 0;
    }

  private:
    Results run(const arch::ChipConfig& chip) const {
        Results results;
        for (const auto& [name, workload] : workloads_)
            results[name] = run::time_list_apart(workload, chip, tpu_v1::kPlanOf2015);
        return results;
    }

    Variant measure(Variant variant, const arch::ChipConfig& chip) const {
        return measure(std::move(variant), chip, base_, chip_);
    }
    /// `before` are the results of `original`.
    Variant measure(Variant variant, const arch::ChipConfig& chip, const Results& before,
                    const arch::ChipConfig& original) const {
        variant.results = run(chip);
        for (const auto& [name, result] : variant.results)
            variant.gains[name] = before.at(name).seconds() / result.seconds();
        const auto by = [&](tpu_v1::Formula formula, Figures& gains) {
            for (const auto& [name, workload] : workloads_)
                gains[name] = formula(workload, original).seconds / formula(workload, chip).seconds;
        };
        by(tpu_v1::napkin, variant.napkin);
        by(tpu_v1::roofline, variant.roofline);
        return variant;
    }

    /// What the paper's TPU' was chosen from.
    void upgrade() {
        arch::ChipConfig memory = chip_, clock = chip_;
        memory.memory.bytes_per_second = static_cast<uint64_t>(kGddr5BytesPerSecond);
        clock.clock_hz = static_cast<uint64_t>(kFastClockHz);
        arch::ChipConfig both = memory;
        both.clock_hz = clock.clock_hz;
        ridge_ = {chip_.ridge_ops_per_byte() / 2, memory.ridge_ops_per_byte() / 2};
        upgrades_ = {measure({"GDDR5", "weight memory of 180 GB/s"}, memory),
                     measure({"fast clock", "1050 MHz"}, clock),
                     measure({"both", "180 GB/s and 1050 MHz"}, both)};
    }

    const Variant& at(Knob knob, double scale) const {
        const auto scale_index = std::ranges::find(kScales, scale) - kScales.begin();
        return scaled_[static_cast<size_t>(knob) * kScales.size() +
                       static_cast<size_t>(scale_index)];
    }

    /// The model's gains, and the means by the formulas.
    static Row gains_row(const std::string& name, const Variant& variant) {
        Row row = {name};
        for (const char* application : kApplications)
            row.push_back(fmt::format("{:.2f}", variant.gains.at(application)));
        for (const Figures* figures : {&variant.gains, &variant.napkin, &variant.roofline}) {
            row.push_back(fmt::format("{:.2f}", weighted_mean(*figures)));
            row.push_back(fmt::format("{:.2f}", geometric_mean(*figures)));
        }
        return row;
    }
    static Row gains_heading(const std::string& first) {
        Row row = {first};
        for (const char* application : kApplications) row.emplace_back(application);
        for (const char* teller : {"", "napkin, ", "roofline, "}) {
            row.push_back(fmt::format("{}weighted", teller));
            row.push_back(fmt::format("{}geometric", teller));
        }
        return row;
    }

    std::string document() const {
        return "# What scaling TPU v1 gives\n\n" + method() + predictions() + upgrades() +
               causes() + limits() + comparison();
    }

    std::string method() const {
        std::string text = fmt::format(
            R"(Repeat with `{}`.

The six applications of isca17 (Jouppi et al., ISCA 2017; `models/applications/`) on the model
of `tpu_v1` in timing mode, one property of the chip scaled at a time, as in the paper's Figure
11. Performance is the inverse of an inference batch's time, relative to the chip as it is. Data
from and to the host are in the time, the host's own work is not. Programs are those of 2015
(`--plan rules`, as in [validation](validation.md)). Beside the model stand the means by two formulas: the *napkin* of
that page (tiles, layers, bytes of the host; a layer's wait does not follow the clock) and the *roofline*.

)",
            kCommand);
        std::vector<Row> rows;
        for (const KnobText& knob : kKnobs) rows.push_back({knob.name, knob.what});
        text += table({"line", "what is multiplied"}, rows);
        return text +
               fmt::format(
                   R"(What a chip file gives in cycles follows the clock; what it gives in seconds does not, nor does the
synchronisation between layers ({} ns). With the array scale the bytes of a
weight tile, the vector lanes and both buffer ports: behind a port of {} bytes per cycle a larger
array would only show the port. The weight FIFO stays at {} tiles. The weighted mean is by
deployment (Table 1 of isca17: MLPs 61 %, LSTMs 29 %, CNNs 5 %), evenly inside a type, brought
to 100 % together; it is a mean of relative performances.

)",
                   chip_.sequencer.sync_latency_ps / 1000, chip_.buffer_ports.read_bytes_per_cycle,
                   chip_.mxu.weight_fifo_tiles);
    }

    std::string predictions() const {
        std::string text = "## Prediction of the model\n\n";
        text += picture(options_, "scaling_study.svg",
                        "Performance against scale: means and six applications");
        std::vector<Row> rows;
        for (const KnobText& knob : kKnobs)
            for (const double scale : kScales) {
                if (scale == 1) continue;
                const Variant& variant = at(knob.knob, scale);
                rows.push_back(gains_row(variant.name, variant));
            }
        return text + table(gains_heading("scaled"), rows);
    }

    std::string upgrades() const {
        std::vector<Row> rows;
        for (const Variant& variant : upgrades_)
            rows.push_back(gains_row(variant.name + ": " + variant.what, variant));
        return fmt::format(
                   R"(## GDDR5 upgrade

The paper's alternative with the memory of a K80: isca17 says more than five times the
bandwidth, taken here as 180 GB/s (5.3 times). The ridge point moves from {:.0f} to {:.0f}
multiply-accumulates per byte of weights.

)",
                   ridge_.first, ridge_.second) +
               table(gains_heading("upgrade"), rows) + gddr5_.text();
    }

    /// Where the array's time goes, and what the synchronisation of layers is of it.
    std::string causes() const {
        std::vector<Row> rows;
        const auto add = [&](const std::string& name, uint32_t side, const Results& results) {
            for (const char* application : kApplications)
                rows.push_back(causes_row(name, side, application, results.at(application)));
        };
        const uint32_t side = chip_.mxu.rows;
        add("as it is", side, base_);
        add("memory 4x", side, at(Knob::kMemory, 4).results);
        add("clock 4x", side, at(Knob::kClock, 4).results);
        add("clock+ 4x", side, at(Knob::kClockPlus, 4).results);
        add("matrix 2x", 2 * side, at(Knob::kMatrix, 2).results);
        return R"(## Where the time goes

Shares of the time of the array, percent; every cycle has one cause. *Busy*: rows enter.
*Weights*: the next tile has not come or is being shifted in. *Port*: the buffer's port is
taken. *Other*: between layers, before the first input, after the last row. The
synchronisation's share is its latency for each product layer, part of *other*. *Fetches*: how
often a tile is fetched, once for each block of rows that the accumulators take.
*Empty*: positions of the tiles that hold no weight.

)" + table({"chip", "application", "us", "busy", "weights", "port", "other", "synchronisation",
            "fetches", "empty"},
           rows);
    }

    Row causes_row(const std::string& name, uint32_t side, const std::string& application,
                   const run::RunResult& result) const {
        const auto cycles = static_cast<double>(result.cycles);
        const auto percent = [&](double part) {
            return fmt::format("{:.1f}", 100 * part / cycles);
        };
        const auto cause = [&](const char* what) {
            return static_cast<double>(result.cause("mxu", what));
        };
        const double busy = cause("busy"), port = cause("wait_port");
        const double weights = cause("wait_weights") + cause("wait_shift");
        const Contents contents = contents_of(workloads_.at(application), side);
        const double sync = static_cast<double>(contents.products) *
                            static_cast<double>(chip_.sequencer.sync_latency_ps) * 1e-12 /
                            result.seconds() * cycles;
        const auto tiles = static_cast<double>(contents.tiles);
        return {name,
                application,
                fmt::format("{:.0f}", result.seconds() * 1e6),
                percent(busy),
                percent(weights),
                percent(port),
                percent(cycles - busy - weights - port),
                percent(sync),
                fmt::format("{:.2f}", static_cast<double>(result.tiles) / tiles),
                fmt::format("{:.0f}", 100 - 100 * static_cast<double>(contents.weights) /
                                                (tiles * side * side))};
    }

    struct Contents {
        uint64_t products = 0, weights = 0, tiles = 0;
    };
    /// For a square array of `side`.
    static Contents contents_of(const workload::Workload& workload, uint64_t side) {
        const auto parts = [side](uint64_t elements) { return (elements + side - 1) / side; };
        Contents contents;
        for (const workload::Layer& layer : workload.layers) {
            if (layer.m == 0) continue;
            contents.products += layer.repeat;
            contents.weights += layer.weights() * layer.repeat;
            contents.tiles += parts(layer.k) * parts(layer.n) * layer.groups * layer.repeat;
        }
        return contents;
    }

    /// The same upgrade of a chip that lacks what does not become faster with the memory.
    void look_for_limits() {
        const auto add = [&](const std::string& name, bool host, bool sync) {
            arch::ChipConfig before = chip_;
            if (host) before.host.bytes_per_second *= kFree;
            if (sync) before.sequencer.sync_latency_ps = 0;
            arch::ChipConfig after = before;
            after.memory.bytes_per_second = static_cast<uint64_t>(kGddr5BytesPerSecond);
            limits_.push_back(measure({name, ""}, after, run(before), before));
        };
        add("as it is", false, false);
        add("host bus without end", true, false);
        add("layers without synchronisation latency", false, true);
        add("both", true, true);
    }

    std::string limits() const {
        std::vector<Row> rows;
        for (const Variant& variant : limits_) rows.push_back(gains_row(variant.name, variant));
        return fmt::format(
                   R"(## What holds the memory's gain back

The gain from 180 GB/s on chips that lack what does not become faster with the memory: the host
bus {} times as fast, layers synchronised without latency. Gains are relative to the same chip
with the memory of TPU v1. The napkin's term per layer is a constant and stays.

)",
                   kFree) +
               table(gains_heading("chip"), rows);
    }

    static double group_mean(const Figures& gains, const std::vector<const char*>& names) {
        double product = 1;
        for (const char* name : names) product *= gains.at(name);
        return std::pow(product, 1.0 / static_cast<double>(names.size()));
    }

    std::string comparison() const {
        const auto two = [](double figure) { return fmt::format("{:.2f}", figure); };
        const auto means = [&](const Figures& gains) {
            return fmt::format("{:.2f} weighted, {:.2f} geometric", weighted_mean(gains),
                               geometric_mean(gains));
        };
        const Variant& clock = at(Knob::kClock, 4);
        // Means and products of groups of applications, by each of the three.
        std::vector<Row> rows;
        const auto add = [&](const char* statement, const char* published, const Variant& variant,
                             const auto& text) {
            rows.push_back({statement, published, text(variant.gains), text(variant.napkin),
                            text(variant.roofline)});
        };
        const auto of = [&](const std::vector<const char*>& names) {
            return [=](const Figures& gains) { return two(group_mean(gains, names)); };
        };
        const auto small = of({"MLP0", "MLP1", "LSTM0", "LSTM1"}), large = of({"CNN0", "CNN1"});
        add("memory 4x", "3 on average (weighted in the figure)", at(Knob::kMemory, 4), means);
        add("clock 4x, MLPs and LSTMs", "almost no impact", clock, small);
        add("clock 4x, CNNs", "about 2", clock, large);
        add("clock 4x with accumulators, CNNs", "about 2", at(Knob::kClockPlus, 4), large);
        add("clock 4x with accumulators", "little benefit on average", at(Knob::kClockPlus, 4),
            means);
        add("matrix 2x", "slightly worse on average", at(Knob::kMatrix, 2), means);
        add("matrix 2x with accumulators", "slightly worse on average", at(Knob::kMatrixPlus, 2),
            means);
        add("GDDR5", "3.9 weighted, 2.6 geometric", upgrades_[0], means);
        add("1050 MHz", "little change", upgrades_[1], means);
        add("GDDR5 and 1050 MHz", "no better weighted, 2.9 geometric", upgrades_[2], means);
        return "## Compared with what the paper says\n\n"
               "Section 7 of isca17, without host time. Nothing above was fitted to it; the "
               "synchronisation\nlatency of the chip file comes from Table 3 of the same paper, "
               "and "
               "so does the napkin's.\n\n" +
               table({"statement", "published", "model", "napkin", "roofline"}, rows) + order() +
               differences() + tile_note();
    }

    /// What the model says of the paper's order, whatever it is.
    std::string order() const {
        const auto gain = [](const Variant& variant) { return weighted_mean(variant.gains); };
        const double memory = gain(at(Knob::kMemory, 4)), clock = gain(at(Knob::kClock, 4));
        const double matrix = gain(at(Knob::kMatrix, 2));
        return fmt::format(
            "The paper's order, memory before clock and a larger matrix without use: {} (weighted "
            "{:.2f}, {:.2f},\n{:.2f}). With GDDR5 the clock still adds {:.0f} % weighted and "
            "{:.0f} % geometric here, in the paper nothing and 12 %.\n\n",
            memory > clock && clock >= matrix && matrix <= 1.05 ? "the model has it"
                                                                : "the model does NOT have it",
            memory, clock, matrix, 100 * (gain(upgrades_[2]) / gain(upgrades_[0]) - 1),
            100 * (geometric_mean(upgrades_[2].gains) / geometric_mean(upgrades_[0].gains) - 1));
    }

    /// In figures: what the model has that holds its gains back.
    std::string differences() const {
        const auto gain = [](const Variant& variant) {
            return fmt::format("{:.2f} weighted and {:.2f} geometric", weighted_mean(variant.gains),
                               geometric_mean(variant.gains));
        };
        const run::RunResult& fast = at(Knob::kClock, 4).results.at("CNN0");
        const auto tiles = contents_of(workloads_.at("CNN0"), chip_.mxu.rows).tiles;
        return fmt::format(
            R"(*Memory.* Transfers over the host's bus, which the first layer waits for and the
run ends with, and the layers' synchronisation do not become faster with the memory: without both GDDR5 would
give {}, without the transfers alone {}. The model runs one batch by itself; no other one is
computed while its data come and go.

*Clock.* A layer of CNN0 has {} rows, the array {} accumulator rows; at four times the clock each
tile is fetched {:.2f} times, and the array waits for weights for {:.0f} % of the time.

)",
            gain(limits_[3]), gain(limits_[1]), workloads_.at("CNN0").layers.front().m,
            chip_.mxu.accumulator_rows,
            static_cast<double>(fast.tiles) / static_cast<double>(tiles),
            100 * static_cast<double>(fast.cause("mxu", "wait_weights")) /
                static_cast<double>(fast.cycles));
    }

    /// The paper explains larger arrays by one matrix of LSTM1.
    std::string tile_note() const {
        const auto microseconds = [&](double side) {
            const double tiles = std::pow(std::ceil(600 / side), 2);
            return tiles * side * side / static_cast<double>(chip_.memory.bytes_per_second) * 1e6;
        };
        return fmt::format(
            "For a 600x600 matrix the paper counts 18 us in nine tiles of 256x256 and 32 us in "
            "four of "
            "512x512; fetched at {:.0f} GB/s these take {:.1f} and {:.1f} us.\n",
            static_cast<double>(chip_.memory.bytes_per_second) / 1e9, microseconds(256),
            microseconds(512));
    }

    std::string svg() const {
        std::vector<explore::Plot> panels = {panel("Weighted mean by deployment", weighted_mean),
                                             panel("Geometric mean", geometric_mean)};
        for (const char* application : kApplications)
            panels.push_back(
                panel(application, [&](const Figures& gains) { return gains.at(application); }));
        return explore::to_svg(
            "TPU v1 with memory bandwidth, clock or matrix scaled, on the model (+: accumulators "
            "too)",
            panels, 2);
    }

    explore::Plot panel(const std::string& title,
                        const std::function<double(const Figures&)>& figure) const {
        explore::Plot plot{
            .title = title,
            .x = {"scale of memory bandwidth, clock or matrix", explore::AxisScale::kLog2},
            .y = {"performance relative to scale 1", explore::AxisScale::kLinear, 0, 3},
            .series = {}};
        for (const KnobText& knob : kKnobs) {
            explore::PlotSeries series{knob.name, {}};
            for (const double scale : kScales)
                series.points.emplace_back(scale, figure(at(knob.knob, scale).gains));
            // Both are often the same line: the dashed one lets the other be seen.
            series.dashed = series.name.ends_with('+');
            plot.series.push_back(series);
        }
        return plot;
    }

    nlohmann::json json() const {
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
        for (const Variant& variant : scaled_) add(variant);
        for (const Variant& variant : upgrades_) add(variant);
        for (const Variant& variant : limits_) add(variant);
        return {{"variants", all}};
    }

    const StudyOptions options_;
    arch::ChipConfig chip_;
    std::map<std::string, workload::Workload> workloads_;
    Results base_;
    Gddr5Study gddr5_;
    std::vector<Variant> scaled_;  ///< by knob, then by scale
    std::vector<Variant> upgrades_;
    std::vector<Variant> limits_;
    std::pair<double, double> ridge_;  ///< MACs per byte, before and after
};

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{
        "What scaling TPU v1 gives its six applications: Figure 11 of ISCA 2017 by the model."};
    StudyOptions options;
    bool check = false;
    add_study_options(app, options);
    app.add_flag("--check", check, "exit with 1 if a bound is missed");
    return run_study(app, argc, argv, [&] { return Study(options).go(check); });
}
