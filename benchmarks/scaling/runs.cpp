// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/scaling/runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "benchmarks/tpu_v1/baselines.h"
#include "run/graph_run.h"
#include "run/paths.h"

namespace tandem::benchmarks {

constexpr double kFastClockHz = 1050e6;

Contents contents_of(const tables::Workload& workload, uint64_t side) {
    const auto parts = [side](uint64_t elements) { return (elements + side - 1) / side; };
    Contents contents;
    for (const tables::Layer& layer : workload.layers) {
        if (layer.m == 0) continue;
        contents.products += layer.repeat;
        contents.weights += layer.weights() * layer.repeat;
        contents.tiles += parts(layer.k) * parts(layer.n) * layer.groups * layer.repeat;
    }
    return contents;
}

ScalingRuns::ScalingRuns() {
    for (const std::string name : kApplications) {
        std::string file = name;
        std::ranges::transform(file, file.begin(), [](unsigned char c) { return std::tolower(c); });
        workloads[name] =
            tables::load_application(run::data_dir() / "models/applications" / (file + ".yaml"));
    }
    chip = arch::find_chip("tpu_v1", run::chips_dir());
    base = run(chip);
    gddr5 = Gddr5Study(workloads, chip);
    for (const KnobText& knob : kKnobs)
        for (const double scale : kScales)
            scaled.push_back(measure({fmt::format("{} {}x", knob.name, scale), knob.what},
                                     benchmarks::scaled(chip, knob.knob, scale)));
    upgrade();
    look_for_limits();
}

const Variant& ScalingRuns::at(Knob knob, double scale) const {
    const auto scale_index = std::ranges::find(kScales, scale) - kScales.begin();
    return scaled[static_cast<size_t>(knob) * kScales.size() + static_cast<size_t>(scale_index)];
}

Results ScalingRuns::run(const arch::ChipConfig& scaled_chip) const {
    Results results;
    for (const auto& [name, workload] : workloads)
        results[name] = run::time_list_apart(workload, scaled_chip, tpu_v1::kPlanOf2015);
    return results;
}

Variant ScalingRuns::measure(Variant variant, const arch::ChipConfig& scaled_chip) const {
    return measure(std::move(variant), scaled_chip, base, chip);
}

Variant ScalingRuns::measure(Variant variant, const arch::ChipConfig& scaled_chip,
                             const Results& before, const arch::ChipConfig& original) const {
    variant.results = run(scaled_chip);
    for (const auto& [name, result] : variant.results)
        variant.gains[name] = before.at(name).seconds() / result.seconds();
    const auto by = [&](tpu_v1::Formula formula, Figures& gains) {
        for (const auto& [name, workload] : workloads)
            gains[name] =
                formula(workload, original).seconds / formula(workload, scaled_chip).seconds;
    };
    by(tpu_v1::napkin, variant.napkin);
    by(tpu_v1::roofline, variant.roofline);
    return variant;
}

void ScalingRuns::upgrade() {
    arch::ChipConfig memory = chip, clock = chip;
    memory.memory.bytes_per_second = static_cast<uint64_t>(kGddr5BytesPerSecond);
    clock.clock_hz = static_cast<uint64_t>(kFastClockHz);
    arch::ChipConfig both = memory;
    both.clock_hz = clock.clock_hz;
    ridge = {chip.ridge_ops_per_byte() / 2, memory.ridge_ops_per_byte() / 2};
    upgrades = {measure({"GDDR5", "weight memory of 180 GB/s"}, memory),
                measure({"fast clock", "1050 MHz"}, clock),
                measure({"both", "180 GB/s and 1050 MHz"}, both)};
}

/// The same upgrade of a chip that lacks what does not become faster with the memory.
void ScalingRuns::look_for_limits() {
    const auto add = [&](const std::string& name, bool host, bool sync) {
        arch::ChipConfig before = chip;
        if (host) before.host.bytes_per_second *= kFree;
        if (sync) before.sequencer.sync_latency_ps = 0;
        arch::ChipConfig after = before;
        after.memory.bytes_per_second = static_cast<uint64_t>(kGddr5BytesPerSecond);
        limits.push_back(measure({name, ""}, after, run(before), before));
    };
    add("as it is", false, false);
    add("host bus without end", true, false);
    add("layers without synchronisation latency", false, true);
    add("both", true, true);
}

}  // namespace tandem::benchmarks
