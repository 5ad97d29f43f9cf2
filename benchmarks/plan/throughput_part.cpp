// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "benchmarks/efficiency.h"
#include "benchmarks/plan/parts.h"
#include "benchmarks/study.h"
#include "run/paths.h"

namespace tandem::benchmarks {
namespace {

constexpr const char* kResnet = "scalesim_conv_nets_Resnet50.csv";
constexpr double kRisePercent = 1;

struct BatchGoal {
    const char* chip;
    uint64_t batch;
    double percent;
};
constexpr BatchGoal kBatchGoals[] = {{"tpu_v1", 8, 27},  {"tpu_v1", 16, 35}, {"tpu_v1", 32, 39},
                                     {"tpu_v1", 64, 41}, {"tpu_v4", 32, 60}, {"tpu_v5e", 32, 60}};

struct ProductGoal {
    uint64_t side;
    double percent;
};
constexpr ProductGoal kProductGoals[] = {{4096, 70}, {8192, 85}, {16384, 78}};

using ByBatch = std::map<uint64_t, run::RunResult>;

double per_image(const ByBatch::value_type& entry) {
    return static_cast<double>(entry.second.cycles) / static_cast<double>(entry.first);
}

std::vector<uint64_t> batches(bool quick) {
    if (quick) return {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 17, 24, 32, 48, 64, 128, 256};
    std::vector<uint64_t> all;
    for (uint64_t batch = 1; batch <= 64; ++batch) all.push_back(batch);
    for (const uint64_t batch : {96, 128, 192, 256}) all.push_back(batch);
    return all;
}

ByBatch run_batches(const std::vector<uint64_t>& sizes, const arch::ChipConfig& chip,
                    uint32_t jobs) {
    std::vector<run::RunResult> results(sizes.size());
    do_all(sizes.size(), jobs, [&](size_t i) {
        results[i] =
            run::time_list_apart(tables::load_table(shapes_dir() / kResnet, sizes[i]), chip);
    });
    ByBatch by_batch;
    for (size_t i = 0; i < sizes.size(); ++i) by_batch[sizes[i]] = std::move(results[i]);
    return by_batch;
}

/// What is worst of per-image times: of a power of two against the one before, and of any batch
/// against the best of the smaller ones.
void add_rises(const ByBatch& runs, Targets& targets) {
    double power_rise = -100, any_rise = -100, best = 0, power_before = 0;
    uint64_t power_where = 0, any_where = 0;
    for (const auto& entry : runs) {
        const double time = per_image(entry);
        const uint64_t batch = entry.first;
        if (best > 0 && 100 * (time / best - 1) > any_rise)
            any_rise = 100 * (time / best - 1), any_where = batch;
        best = best > 0 ? std::min(best, time) : time;
        if ((batch & (batch - 1)) != 0) continue;
        if (power_before > 0 && 100 * (time / power_before - 1) > power_rise)
            power_rise = 100 * (time / power_before - 1), power_where = batch;
        power_before = time;
    }
    targets.push_back({"ResNet-50 on tpu_v1, time per image over batch 1, 2, 4 ..., worst rise",
                       power_rise, Target::Side::kAtMost, 0, " %", 2,
                       fmt::format("batch {}", power_where)});
    targets.push_back(
        {"ResNet-50 on tpu_v1, time per image of any batch over the best of smaller ones", any_rise,
         Target::Side::kAtMost, kRisePercent, " %", 2, fmt::format("batch {}", any_where)});
}

std::string batch_table(const ByBatch& runs) {
    std::vector<Row> rows;
    for (const auto& entry : runs)
        rows.push_back({std::to_string(entry.first), std::to_string(entry.second.cycles),
                        fmt::format("{:.0f}", per_image(entry)),
                        fmt::format("{:.1f}", 100 * entry.second.utilization())});
    return table({"batch", "cycles", "cycles per image", "of the array, %"}, rows);
}

}  // namespace

Part throughput_part(const Setup& setup) {
    Part part;
    part.text = fmt::format(
        "## ResNet-50 by batch\n\nSCALE-Sim's table (`{}`), input and output over the host's bus."
        "\n\n",
        kResnet);
    std::map<std::string, ByBatch> runs;
    for (const arch::ChipConfig& chip : setup.chips) {
        const bool swept = chip.name == "tpu_v1";
        std::vector<uint64_t> sizes;
        for (const BatchGoal& goal : kBatchGoals)
            if (goal.chip == chip.name) sizes.push_back(goal.batch);
        if (swept) sizes = batches(setup.quick);
        if (!sizes.empty()) runs[chip.name] = run_batches(sizes, chip, setup.jobs);
        if (!sizes.empty())
            part.text += fmt::format("On {}:\n\n{}", chip.name, batch_table(runs[chip.name]));
    }
    for (const BatchGoal& goal : kBatchGoals)
        if (runs.contains(goal.chip))
            part.targets.push_back(
                {fmt::format("ResNet-50 on {}, batch {}, of the arrays", goal.chip, goal.batch),
                 100 * runs[goal.chip].at(goal.batch).utilization(), Target::Side::kAtLeast,
                 goal.percent, " %"});
    if (!runs.contains("tpu_v1")) return part;
    add_rises(runs["tpu_v1"], part.targets);
    std::vector<Row> rows;
    const arch::ChipConfig chip = arch::find_chip("tpu_v1", run::chips_dir());
    for (const auto& [side, percent] : kProductGoals) {
        const run::RunResult result = run::time_list_apart(gemm(side, side, side), chip);
        part.targets.push_back({fmt::format("{0}x{0}x{0} on tpu_v1, of the array", side),
                                100 * result.utilization(), Target::Side::kAtLeast, percent, " %"});
        rows.push_back({fmt::format("{0}x{0}x{0}", side), std::to_string(result.cycles),
                        fmt::format("{:.1f}", 100 * result.utilization())});
    }
    part.text +=
        "## Products on tpu_v1\n\n" + table({"product", "cycles", "of the array, %"}, rows);
    return part;
}

}  // namespace tandem::benchmarks
