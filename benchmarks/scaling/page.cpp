// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/scaling/page.h"

#include <fmt/format.h>

#include <cmath>

namespace tandem::benchmarks {

namespace {

class Page {
  public:
    Page(const ScalingRuns& runs, const StudyOptions& options, const std::string& command)
        : runs_(runs), options_(options), command_(command) {}

    std::string text() const {
        return "# What scaling TPU v1 gives\n\n" + method() + predictions() + upgrades() +
               causes() + limits() + comparison();
    }

  private:
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
            command_);
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
                   runs_.chip.sequencer.sync_latency_ps / 1000,
                   runs_.chip.buffer_ports.read_bytes_per_cycle, runs_.chip.mxu.weight_fifo_tiles);
    }

    std::string predictions() const {
        std::string text = "## Prediction of the model\n\n";
        text += picture(options_, "scaling_study.svg",
                        "Performance against scale: means and six applications");
        std::vector<Row> rows;
        for (const KnobText& knob : kKnobs)
            for (const double scale : kScales) {
                if (scale == 1) continue;
                const Variant& variant = runs_.at(knob.knob, scale);
                rows.push_back(gains_row(variant.name, variant));
            }
        return text + table(gains_heading("scaled"), rows);
    }

    std::string upgrades() const {
        std::vector<Row> rows;
        for (const Variant& variant : runs_.upgrades)
            rows.push_back(gains_row(variant.name + ": " + variant.what, variant));
        return fmt::format(
                   R"(## GDDR5 upgrade

The paper's alternative with the memory of a K80: isca17 says more than five times the
bandwidth, taken here as 180 GB/s (5.3 times). The ridge point moves from {:.0f} to {:.0f}
multiply-accumulates per byte of weights.

)",
                   runs_.ridge.first, runs_.ridge.second) +
               table(gains_heading("upgrade"), rows) + runs_.gddr5.text();
    }

    /// Where the array's time goes, and what the synchronisation of layers is of it.
    std::string causes() const {
        std::vector<Row> rows;
        const auto add = [&](const std::string& name, uint32_t side, const Results& results) {
            for (const char* application : kApplications)
                rows.push_back(causes_row(name, side, application, results.at(application)));
        };
        const uint32_t side = runs_.chip.mxu.rows;
        add("as it is", side, runs_.base);
        add("memory 4x", side, runs_.at(Knob::kMemory, 4).results);
        add("clock 4x", side, runs_.at(Knob::kClock, 4).results);
        add("clock+ 4x", side, runs_.at(Knob::kClockPlus, 4).results);
        add("matrix 2x", 2 * side, runs_.at(Knob::kMatrix, 2).results);
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
        const Contents contents = contents_of(runs_.workloads.at(application), side);
        const double sync = static_cast<double>(contents.products) *
                            static_cast<double>(runs_.chip.sequencer.sync_latency_ps) * 1e-12 /
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

    std::string limits() const {
        std::vector<Row> rows;
        for (const Variant& variant : runs_.limits)
            rows.push_back(gains_row(variant.name, variant));
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
        const Variant& clock = runs_.at(Knob::kClock, 4);
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
        add("memory 4x", "3 on average (weighted in the figure)", runs_.at(Knob::kMemory, 4),
            means);
        add("clock 4x, MLPs and LSTMs", "almost no impact", clock, small);
        add("clock 4x, CNNs", "about 2", clock, large);
        add("clock 4x with accumulators, CNNs", "about 2", runs_.at(Knob::kClockPlus, 4), large);
        add("clock 4x with accumulators", "little benefit on average",
            runs_.at(Knob::kClockPlus, 4), means);
        add("matrix 2x", "slightly worse on average", runs_.at(Knob::kMatrix, 2), means);
        add("matrix 2x with accumulators", "slightly worse on average",
            runs_.at(Knob::kMatrixPlus, 2), means);
        add("GDDR5", "3.9 weighted, 2.6 geometric", runs_.upgrades[0], means);
        add("1050 MHz", "little change", runs_.upgrades[1], means);
        add("GDDR5 and 1050 MHz", "no better weighted, 2.9 geometric", runs_.upgrades[2], means);
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
        const double memory = gain(runs_.at(Knob::kMemory, 4)),
                     clock = gain(runs_.at(Knob::kClock, 4));
        const double matrix = gain(runs_.at(Knob::kMatrix, 2));
        return fmt::format(
            "The paper's order, memory before clock and a larger matrix without use: {} (weighted "
            "{:.2f}, {:.2f},\n{:.2f}). With GDDR5 the clock still adds {:.0f} % weighted and "
            "{:.0f} % geometric here, in the paper nothing and 12 %.\n\n",
            memory > clock && clock >= matrix && matrix <= 1.05 ? "the model has it"
                                                                : "the model does NOT have it",
            memory, clock, matrix, 100 * (gain(runs_.upgrades[2]) / gain(runs_.upgrades[0]) - 1),
            100 *
                (geometric_mean(runs_.upgrades[2].gains) / geometric_mean(runs_.upgrades[0].gains) -
                 1));
    }

    /// In figures: what the model has that holds its gains back.
    std::string differences() const {
        const auto gain = [](const Variant& variant) {
            return fmt::format("{:.2f} weighted and {:.2f} geometric", weighted_mean(variant.gains),
                               geometric_mean(variant.gains));
        };
        const run::RunResult& fast = runs_.at(Knob::kClock, 4).results.at("CNN0");
        const auto tiles = contents_of(runs_.workloads.at("CNN0"), runs_.chip.mxu.rows).tiles;
        return fmt::format(
            R"(*Memory.* Transfers over the host's bus, which the first layer waits for and the
run ends with, and the layers' synchronisation do not become faster with the memory: without both GDDR5 would
give {}, without the transfers alone {}. The model runs one batch by itself; no other one is
computed while its data come and go.

*Clock.* A layer of CNN0 has {} rows, the array {} accumulator rows; at four times the clock each
tile is fetched {:.2f} times, and the array waits for weights for {:.0f} % of the time.

)",
            gain(runs_.limits[3]), gain(runs_.limits[1]),
            runs_.workloads.at("CNN0").layers.front().m, runs_.chip.mxu.accumulator_rows,
            static_cast<double>(fast.tiles) / static_cast<double>(tiles),
            100 * static_cast<double>(fast.cause("mxu", "wait_weights")) /
                static_cast<double>(fast.cycles));
    }

    /// The paper explains larger arrays by one matrix of LSTM1.
    std::string tile_note() const {
        const auto microseconds = [&](double side) {
            const double tiles = std::pow(std::ceil(600 / side), 2);
            return tiles * side * side / static_cast<double>(runs_.chip.memory.bytes_per_second) *
                   1e6;
        };
        return fmt::format(
            "For a 600x600 matrix the paper counts 18 us in nine tiles of 256x256 and 32 us in "
            "four of "
            "512x512; fetched at {:.0f} GB/s these take {:.1f} and {:.1f} us.\n",
            static_cast<double>(runs_.chip.memory.bytes_per_second) / 1e9, microseconds(256),
            microseconds(512));
    }

    const ScalingRuns& runs_;
    const StudyOptions& options_;
    const std::string& command_;
};

}  // namespace

std::string scaling_page(const ScalingRuns& runs, const StudyOptions& options,
                         const std::string& command) {
    return Page(runs, options, command).text();
}

}  // namespace tandem::benchmarks
