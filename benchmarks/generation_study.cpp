// SPDX-License-Identifier: Apache-2.0
// Generations of TPUs against each other, TPU v4i with less CMEM, and TPU v2 with other arrays:
// what publications say, and what model, napkin and roofline make of public lists of layers. What
// is published is printed beside it and used nowhere.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "benchmarks/chip_sources.h"
#include "benchmarks/generations/chips.h"
#include "benchmarks/generations/claims.h"
#include "benchmarks/list_baselines.h"
#include "benchmarks/shape_tables.h"
#include "benchmarks/study.h"
#include "benchmarks/tpu_v1/markdown.h"
#include "run/paths.h"

// The library's main() is not used, but it refers to this.
extern "C" int sc_main(int, char*[]) { return 0; }

namespace {

using namespace tandem;
using namespace tandem::generations;
using benchmarks::Row;
using benchmarks::table;
using tpu_v1::paragraph;

constexpr const char* kCommand =
    "build/release/benchmarks/generation_study --markdown docs/generation_study.md";
/// CMEM of TPU v4i whose performance is published (tpuv4i), in MiB, and what they reach of all.
constexpr std::pair<uint64_t, double> kCmem[] = {{0, 0.69}, {16, 0.82}, {72, 0.90}, {112, 0.98}};
constexpr uint64_t kAllCmem = 128;

/// Arrays of TPU v2's study (cacm20), per core, and the least and most utilisation of its
/// convolutional networks in percent.
struct ArrayStudy {
    uint32_t count, side;
    double least, most;
};
constexpr ArrayStudy kArrays[] = {{1, 256, 22, 30}, {4, 128, 37, 48}, {16, 64, 38, 52}};
constexpr double kGainOfFour = 1.6;

/// Generations and arrays: what the model is claimed to tell of public lists. CMEM and shares of
/// the peak hang on how large and how filled the published applications are: no claim.
constexpr double kBoundPercent = 25;

std::string three(const Figures& figures) {
    return fmt::format("{:.2f} {:.2f} {:.2f}", figures[kModel], figures[kNapkin],
                       figures[kRoofline]);
}

std::string whole(const Figures& figures) {
    return fmt::format("{:.0f} {:.0f} {:.0f}", figures[kModel], figures[kNapkin],
                       figures[kRoofline]);
}

/// A column of means by kind.
struct Column {
    std::string name;
    Means means;
};

/// Kinds of lists as rows; `cell` writes three figures.
std::string kinds_table(const std::vector<Column>& columns, std::string (*cell)(const Figures&)) {
    Row heading = {"model napkin roofline"};
    for (const Column& column : columns) heading.push_back(column.name);
    std::vector<Row> rows;
    const auto add = [&](const std::string& name, const auto& figures_of) {
        Row row = {name};
        for (const Column& column : columns) row.push_back(cell(figures_of(column.means)));
        rows.push_back(row);
    };
    for (const auto& [kind, figures] : columns.front().means.kinds)
        add(kind, [&kind = kind](const Means& means) { return means.kinds.at(kind); });
    add("all kinds", [](const Means& means) { return means.all; });
    return table(heading, rows);
}

class Study {
  public:
    Study(benchmarks::StudyOptions options, const std::filesystem::path& tables, bool quick)
        : options_(std::move(options)),
          quick_(quick),
          batches_(quick ? kOneBatch : kBatches),
          training_(training_lists(tables, batches_)),
          inference_(inference_lists(tables, batches_)),
          convolutional_(convolutional_lists(tables, batches_)) {}

    int go(bool check) {
        // Sections fill ratios_ and utilizations_, which come first on the page.
        std::string sections = training();
        sections += inference();
        sections += cmem();
        sections += arrays();
        const std::string text = head() + summary() + sections + freedom();
        fmt::print("{}", text);
        benchmarks::write_markdown(options_, command(), text);
        if (!options_.json.empty())
            benchmarks::write_file("--json", options_.json, json().dump(1) + "\n");
        return check && !(all_met(ratios_) && all_met(utilizations_)) ? 1 : 0;
    }

  private:
    std::string command() const { return kCommand + std::string(quick_ ? " --quick" : ""); }

    static arch::ChipConfig chip(const std::string& name) {
        return arch::find_chip(name, run::chips_dir());
    }

    std::string head() const {
        std::string text = "# Generations of TPUs\n\n";
        if (quick_) text += "**Reduced form (`--quick`): one batch.**\n\n";
        text += fmt::format(
            R"(Repeat with `TANDEM_SHAPES=DIRECTORY {}` ([public tables](workloads.md#public-tables)).

Publications compare TPUs by production applications that nobody else has. Here public lists of layers stand for their kinds: none of them is
one of those applications, so an agreement below is one of trends, and a miss may be the list's fault as well as the model's. Nothing was fitted
to a published ratio. Whole chips in timing mode, each with the plan that the compiler finds (`--plan search`).

)",
            command());
        std::vector<Row> rows;
        const auto add = [&](const char* use, const Lists& lists, const char* kind,
                             const char* stands_for) {
            std::set<std::string> names;
            for (const List& list : lists)
                if (list.kind == kind) {
                    const std::string& name = list.name;
                    const bool row = name.find("lstm") != std::string::npos;
                    names.insert(row ? "deepbench_rnn, its rows of lstm"
                                     : name.substr(0, name.find(',')));
                }
            rows.push_back({use, kind, fmt::format("{}", fmt::join(names, "; ")), stands_for});
        };
        add("training", training_, "convolutional", "CNNs");
        add("training", training_, "transformer", "BERT");
        add("training", training_, "translation", "RNNs, translation");
        add("training", training_, "recurrent", "RNNs");
        add("training", training_, "recommendation", "MLPs, DLRM");
        add("inference", inference_, "convolutional", "CNN0, CNN1");
        add("inference", inference_, "transformer", "BERT0, BERT1");
        add("inference", inference_, "recurrent", "RNN0, RNN1");
        add("inference", inference_, "recommendation", "MLP0, MLP1");
        text += table({"for", "kind", "lists", "stands for"}, rows);
        return text +
               fmt::format(
                   R"(*Training*: kernels by themselves, operands and results in device memory; forward passes, and gradients where a table has them with its batch.
*Inference*: each layer reads what the one before has written, weights may stay in CMEM. Batches are not chosen: a list that has one keeps it, the
others run with {} sample(s), all alike. Steps of a recurrent network are cut to two. The mean of a kind is that of its lists, the mean of all that of
the kinds.

*Roofline*: layer by layer the longer of multiplying at peak and moving every operand once. *Napkin*: 1 us per layer + multiplying, partly used
tiles whole, + moving every operand once. In inference only weights move, the first input and the last result. Both take peaks and bandwidths in
full; weights come from CMEM as far as they have room there.

)",
                   fmt::join(batches_, ", "));
    }

    std::string summary() const {
        return "## Published and computed\n\nRatios of performance, and how far each is off. A "
               "bound stands where the model is claimed to be right.\n\n" +
               claims_table(ratios_) + verdict(ratios_) +
               "Share of the peak that is used, percent.\n\n" + claims_table(utilizations_) +
               verdict(utilizations_);
    }

    std::string training() {
        const auto v2 = time_all(training_, chip("tpu_v2"));
        const auto v3 = time_all(training_, chip("tpu_v3"));
        const auto v4 = time_all(training_, chip("tpu_v4"));
        const Means first = geometric(training_, speedups(v2, v3));
        const Means second = geometric(training_, speedups(v3, v4));
        ratios_.push_back(
            {"v3 over v2, training", "1.8 of 1.6 to 2.3 (cacm20)", 1.8, first.all, kBoundPercent});
        ratios_.push_back({"v4 over v3, training", "2.1 (isca23)", 2.1, second.all, kBoundPercent});
        return "## Training: v3 over v2, v4 over v3\n\nGeometric means. Published for v3 over v2 "
               "are 1.6 to 2.3 by application, for v4 over v3 the mean alone.\n\n" +
               kinds_table({{"v3 over v2", first}, {"v4 over v3", second}}, three);
    }

    std::string inference() {
        const auto time = [&](const char* name) { return time_all(inference_, chip(name)); };
        const auto v1 = time("tpu_v1"), v2 = time("tpu_v2"), v3 = time("tpu_v3"),
                   v4i = time("tpu_v4i");
        std::vector<Column> columns;
        const auto compare = [&](const char* name, const std::vector<Figures>& seconds,
                                 double published, double bound_percent) {
            columns.push_back({name, geometric(inference_, speedups(v2, seconds))});
            ratios_.push_back({fmt::format("{}, inference", name),
                               fmt::format("{} (tpuv4i)", published), published,
                               columns.back().means.all, bound_percent});
        };
        // The one ratio between two types and two kinds of software: no claim.
        compare("v1 (int8) over v2", v1, 0.7, 0);
        compare("v3 over v2", v3, 1.9, kBoundPercent);
        compare("v4i over v2", v4i, 1.9, kBoundPercent);
        return "## Inference: v1, v3 and v4i over v2\n\nGeometric means. TPU v1 computes in int8, "
               "the others in bf16.\n\n" +
               kinds_table(columns, three) + utilization({v1, v2, v3, v4i});
    }

    /// Table 7 of tpuv4i.
    std::string utilization(const std::array<std::vector<Figures>, 4>& seconds) {
        constexpr std::pair<const char*, double> kPublished[] = {
            {"tpu_v1", 20}, {"tpu_v2", 51}, {"tpu_v3", 38}, {"tpu_v4i", 33}};
        std::vector<Column> columns;
        for (size_t i = 0; i < seconds.size(); ++i) {
            const auto& [name, published] = kPublished[i];
            add_utilization(columns, name, chip(name), seconds[i], published);
        }
        const arch::ChipConfig none = with_cmem(chip("tpu_v4i"), 0);
        add_utilization(columns, "tpu_v4i without CMEM", none, time_all(inference_, none), 22);
        return "Share of the peak, percent, arithmetic means:\n\n" + kinds_table(columns, whole);
    }

    void add_utilization(std::vector<Column>& columns, const std::string& name,
                         const arch::ChipConfig& chip, const std::vector<Figures>& seconds,
                         double published) {
        columns.push_back(
            {name, arithmetic(inference_, utilization_percent(inference_, seconds, chip))});
        utilizations_.push_back({fmt::format("{}, inference", name),
                                 fmt::format("{} % (tpuv4i)", published), published,
                                 columns.back().means.all});
    }

    std::string cmem() {
        const arch::ChipConfig v4i = chip("tpu_v4i");
        const auto all = time_all(inference_, with_cmem(v4i, kAllCmem));
        std::vector<Column> columns;
        for (const auto& [mib, published] : kCmem) {
            const auto seconds = time_all(inference_, with_cmem(v4i, mib));
            columns.push_back(
                {fmt::format("{} MiB", mib), geometric(inference_, speedups(all, seconds))});
            ratios_.push_back({fmt::format("v4i, {} MiB of CMEM for {}", mib, kAllCmem),
                               fmt::format("{:.2f} (tpuv4i)", published), published,
                               columns.back().means.all});
        }
        std::vector<Row> rows;
        for (const List& list : inference_) {
            uint64_t weights = 0;
            for (const auto& layer : list.workload.layers) weights += layer.weights();
            const bool later_batch = list.workload.batch != 1 && !quick_;
            if (!later_batch && list.kind != "recurrent")
                rows.push_back({list.name.substr(0, list.name.find(',')),
                                fmt::format("{:.1f}", static_cast<double>(weights) * 2 / 1e6)});
        }
        return "## TPU v4i with less CMEM\n\n" +
               paragraph(fmt::format(
                   "Performance relative to {} MiB, geometric means. "
                   "Of {} lists {} have more weights than 72 MiB and {} more than 16 MiB: less "
                   "CMEM "
                   "can only matter to those, and the published applications are not told by "
                   "their "
                   "size.\n\n",
                   kAllCmem, inference_.size(), lists_above(72), lists_above(16))) +
               kinds_table(columns, three) + table({"list", "weights in bf16, MB"}, rows);
    }

    /// Inference lists with more weights, in bf16.
    size_t lists_above(uint64_t mib) const {
        return static_cast<size_t>(std::ranges::count_if(inference_, [mib](const List& list) {
            uint64_t weights = 0;
            for (const auto& layer : list.workload.layers) weights += layer.weights();
            return 2 * weights > mib << 20;
        }));
    }

    std::string arrays() {
        std::vector<Column> columns;
        std::vector<Row> rows;
        for (const ArrayStudy& study : kArrays) {
            const arch::ChipConfig varied = with_arrays(chip("tpu_v2"), study.count, study.side);
            const auto percent =
                utilization_percent(convolutional_, time_all(convolutional_, varied), varied);
            const std::string name =
                fmt::format("{} of {}x{}", study.count, study.side, study.side);
            columns.push_back({name, arithmetic(convolutional_, percent)});
            const Means& means = columns.back().means;
            const double middle = (study.least + study.most) / 2;
            utilizations_.push_back(
                {fmt::format("v2 with {}, middle of networks", name),
                 fmt::format("{:.0f} to {:.0f} % (cacm20)", study.least, study.most), middle,
                 middle_of(means)});
            Row row = {name, fmt::format("{:.0f} to {:.0f}", study.least, study.most)};
            for (size_t teller = 0; teller < kTellers; ++teller)
                row.push_back(
                    fmt::format("{:.0f} to {:.0f}", means.least[teller], means.most[teller]));
            rows.push_back(row);
        }
        Figures gain{};
        for (size_t teller = 0; teller < kTellers; ++teller)
            gain[teller] = columns[1].means.all[teller] / columns[0].means.all[teller];
        ratios_.push_back({"v2, four arrays of 128x128 over one of 256x256",
                           fmt::format("{} (cacm20)", kGainOfFour), kGainOfFour, gain,
                           kBoundPercent});
        return "## TPU v2 with other arrays\n\n" +
               paragraph(
                   "Arrays per core of equal peak, all else as in "
                   "`tpu_v2` (as many bytes of sums for a PE). The publication has convolutional "
                   "networks "
                   "without names and says nothing of memory or batch; here all of "
                   "`scalesim_conv_nets` but MobileNet "
                   "(its depthwise layers are written as one filter over all channels) and U-Net "
                   "(a "
                   "batch does not fit the memory). Utilisation in percent, by "
                   "network and its range over the networks:") +
               kinds_table(columns, whole) +
               table({"arrays per core", "published", "model", "napkin", "roofline"}, rows);
    }

    static Figures middle_of(const Means& means) {
        Figures middle{};
        for (size_t teller = 0; teller < kTellers; ++teller)
            middle[teller] = (means.least[teller] + means.most[teller]) / 2;
        return middle;
    }

    std::string freedom() const {
        std::vector<Row> rows;
        for (const char* name : {"tpu_v1", "tpu_v2", "tpu_v3", "tpu_v4", "tpu_v4i"}) {
            const auto sources =
                benchmarks::sources_of(run::chips_dir() / fmt::format("{}.yaml", name));
            rows.push_back({name, std::to_string(sources.published.size()),
                            std::to_string(sources.derived.size()),
                            std::to_string(sources.assumed.size()),
                            std::to_string(sources.calibrated.size()),
                            std::to_string(sources.defaulted.size())});
        }
        return "## Degrees of freedom\n\n" +
               paragraph(fmt::format(
                   "Figures of the chip files by source. The calibrated ones looked at Table 3 of "
                   "TPU v1 ([validation](validation.md)), none at this page. Compared are {} "
                   "ratios "
                   "and {} utilisations, which are not independent: they follow from the times of "
                   "the same lists. The roofline has two figures of a chip (with CMEM four), the "
                   "napkin one constant and the sizes of the arrays more.",
                   ratios_.size(), utilizations_.size())) +
               table({"chip", "published", "derived", "assumed", "calibrated", "default"}, rows);
    }

    nlohmann::json json() const {
        nlohmann::json all;
        for (const Claims* claims : {&ratios_, &utilizations_})
            for (const Claim& claim : *claims) {
                nlohmann::json one = {{"what", claim.what}, {"published", claim.published}};
                for (size_t teller = 0; teller < kTellers; ++teller)
                    one[kTellerNames[teller]] = claim.told[teller];
                all.push_back(one);
            }
        return {{"quick", quick_}, {"claims", all}};
    }

    const benchmarks::StudyOptions options_;
    const bool quick_;
    const std::vector<uint64_t> batches_;
    const Lists training_, inference_, convolutional_;
    Claims ratios_, utilizations_;
};

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{
        "Generations of TPUs against each other, by model, napkin and roofline, beside what is "
        "published.\nReads tables from TANDEM_SHAPES; without it nothing is run.\n"
        "Exit status 1 with --check: a bound is missed."};
    benchmarks::StudyOptions options;
    bool quick = false, check = false;
    benchmarks::add_study_options(app, options);
    app.add_flag("--quick", quick, "one batch");
    app.add_flag("--check", check, "exit with 1 if a bound is missed");
    return benchmarks::run_study(app, argc, argv, [&] {
        const auto tables = benchmarks::shape_tables();
        if (!tables) {
            fmt::print(stderr, "NOT RUN: set TANDEM_SHAPES to the folder of the tables\n");
            return 0;
        }
        return Study(options, *tables, quick).go(check);
    });
}
