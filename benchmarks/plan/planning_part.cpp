// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <time.h>

#include <cstdio>
#include <memory>
#include <stdexcept>

#include "base/error.h"
#include "benchmarks/plan/parts.h"
#include "benchmarks/plan/spread.h"
#include "benchmarks/resnet50.h"
#include "benchmarks/study.h"
#include "run/paths.h"

namespace tandem::benchmarks {
namespace {

struct Goal {
    const char* work;
    const char* what;
    double plan_milliseconds, run_milliseconds;  ///< 0: no bound
};
constexpr Goal kGoals[] = {{"resnet50", "ResNet-50", 5, 15},
                           {"bert", "a list like BERT-large", 50, 0}};
/// A busy machine's caches are others', too.
constexpr double kAllowance = 3;
constexpr const char* kRun = "-run";  ///< behind a list's name
constexpr const char* kRunChip = "tpu_v1";
constexpr size_t kTurns = 15, kQuickTurns = 5;

double processor_seconds() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

/// 24 layers of 384 rows: queries, keys, values, output; two layers of four times the width.
tables::Workload bert_like() {
    constexpr uint64_t kLayers = 24, kRows = 384, kWidth = 1024, kInner = 4 * kWidth;
    tables::Workload list;
    list.name = "bert_like";
    list.chained = true;
    const auto add = [&](const char* name, uint64_t k, uint64_t n) {
        tables::Layer layer;
        layer.name = fmt::format("{}[{}]", name, list.layers.size());
        layer.where = list.name;
        layer.m = kRows, layer.k = k, layer.n = n;
        layer.input_elements = kRows * k;
        layer.output_elements = kRows * n;
        list.layers.push_back(layer);
    };
    for (uint64_t i = 0; i < kLayers; ++i) {
        for (const char* name : {"query", "key", "value", "output"}) add(name, kWidth, kWidth);
        add("widen", kWidth, kInner);
        add("narrow", kInner, kWidth);
    }
    return list;
}

/// Processor time in a process of its own, so that nothing is warm.
double seconds_apart(const std::string& self, const std::string& work, const std::string& chip) {
    const std::string command = fmt::format("'{}' --time {} --chips {}", self, work, chip);
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    if (!pipe) throw std::runtime_error("a process to time planning in cannot be started");
    double seconds = 0;
    if (std::fscanf(pipe.get(), "%lf", &seconds) != 1)
        throw std::runtime_error("timing of planning failed: " + command);
    return seconds;
}

std::vector<double> turns(size_t count, const std::string& self, const std::string& work,
                          const std::string& chip) {
    std::vector<double> seconds;
    for (size_t i = 0; i < count; ++i) seconds.push_back(seconds_apart(self, work, chip));
    return seconds;
}

std::string spread(const std::vector<double>& seconds) {
    return fmt::format("{:.2f} ({:.2f} to {:.2f})", 1e3 * quantile(seconds, 0.5),
                       1e3 * quantile(seconds, 0), 1e3 * quantile(seconds, 1));
}

tables::Workload list_of(const std::string& work) {
    return work.starts_with("bert") ? bert_like() : resnet50();
}

bool has_room(const std::string& work, const arch::ChipConfig& chip) {
    try {
        plan_list(list_of(work), chip);
        return true;
    } catch (const UserError&) {
        return false;
    }
}

}  // namespace

void time_here(const std::string& work, const std::string& chip_name) {
    const arch::ChipConfig chip = arch::find_chip(chip_name, run::chips_dir());
    const compiler::Graph graph = graph_of(list_of(work), run::element_type_of(chip));
    const double start = processor_seconds();
    if (work.ends_with(kRun))
        run::time_graph(graph, chip);
    else
        compiler::plan_graph(graph, chip, {});
    fmt::print("{:.9f}\n", processor_seconds() - start);
}

Part planning_part(const Setup& setup, const std::string& self) {
    Part part;
    const size_t count = setup.quick ? kQuickTurns : kTurns;
    std::vector<Row> rows;
    for (const arch::ChipConfig& chip : setup.chips)
        for (const Goal& goal : kGoals) {
            if (!has_room(goal.work, chip)) continue;
            const auto plan = turns(count, self, goal.work, chip.name);
            const auto run = turns(count, self, std::string(goal.work) + kRun, chip.name);
            rows.push_back({goal.what, chip.name, spread(plan), spread(run)});
            part.targets.push_back({fmt::format("planning {} for {}", goal.what, chip.name),
                                    1e3 * quantile(plan, 0.5), Target::Side::kAtMost,
                                    goal.plan_milliseconds, " ms", 2, "", kAllowance});
            if (goal.run_milliseconds == 0 || chip.name != kRunChip) continue;
            part.targets.push_back(
                {fmt::format("planning and timing {} on {}", goal.what, chip.name),
                 1e3 * quantile(run, 0.5), Target::Side::kAtMost, goal.run_milliseconds, " ms", 2,
                 "", kAllowance});
        }
    part.text =
        fmt::format(
            "## Time of planning\n\nProcessor time in milliseconds, median and range of {} "
            "processes, each of which does it once, the list in its memory: nothing is warm. "
            "The run's bound is for {}; arrays of a quarter of the size have four times the "
            "tiles to run.\n\n",
            count, kRunChip) +
        table({"list", "chip", "planning", "planning and timing run"}, rows);
    return part;
}

}  // namespace tandem::benchmarks
