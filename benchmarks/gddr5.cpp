// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gddr5.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <tuple>

#include "benchmarks/scaled_chip.h"
#include "benchmarks/study.h"
#include "benchmarks/tpu_v1/baselines.h"
#include "run/graph_run.h"

namespace tandem::benchmarks {
namespace {

constexpr uint64_t kFree = 1000;  ///< times as fast: no time any more

double host_share(const std::string& application) {
    for (const auto& paper : tpu_v1::kPaper)
        if (paper.name == application) return paper.host_percent / 100;
    throw std::invalid_argument(application + " is not in Table 5");
}

arch::ChipConfig without_host(arch::ChipConfig chip) {
    chip.host.bytes_per_second *= kFree;
    chip.host.latency_ps = 0;
    return chip;
}

Seconds model(compiler::PlanMode plan) {
    return [plan](const tables::Workload& workload, const arch::ChipConfig& chip) {
        return run::time_list_apart(workload, chip, plan).seconds();
    };
}

Seconds formula(tpu_v1::Formula by) {
    return [by](const tables::Workload& workload, const arch::ChipConfig& chip) {
        return by(workload, chip).seconds;
    };
}

/// Places in the study's lines.
constexpr size_t kModel = 0, kModelAlone = 1, kNapkin = 2, kNapkinAlone = 3, kRoof = 4;

constexpr const char* kMethod =
    R"(Published are two pairs of means: without the host's time, and with it: Table 5's share of each application's time on the chip
as it is, added to both. The host's time holds the transfers over the bus too, and the counters have the array waiting for
input; so both readings of "without" stand here: with the bus in the time, and with the bus for nothing.

)";

double error_percent(const std::array<double, 4>& means, size_t i) {
    return 100 * (means[i] / kGddr5Published[i] - 1);
}

std::string two(double figure) { return fmt::format("{:.2f}", figure); }

}  // namespace

std::array<double, 4> Gddr5Gain::means() const {
    return {weighted_mean(gains), geometric_mean(gains), weighted_mean(with_host),
            geometric_mean(with_host)};
}

double Gddr5Gain::mean_error_percent() const {
    double sum = 0;
    for (size_t i = 0; i < kGddr5Published.size(); ++i) sum += std::abs(error_percent(means(), i));
    return sum / static_cast<double>(kGddr5Published.size());
}

Gddr5Gain gddr5_gain(const std::map<std::string, tables::Workload>& workloads,
                     const arch::ChipConfig& chip, const Seconds& seconds) {
    arch::ChipConfig upgraded = chip;
    upgraded.memory.bytes_per_second = static_cast<uint64_t>(kGddr5BytesPerSecond);
    Gddr5Gain result;
    for (const auto& [name, workload] : workloads) {
        const double gain = seconds(workload, chip) / seconds(workload, upgraded);
        const double host = host_share(name);
        result.gains[name] = gain;
        result.with_host[name] = (1 + host) / (1 / gain + host);
    }
    return result;
}

Gddr5Study::Gddr5Study(const std::map<std::string, tables::Workload>& workloads,
                       const arch::ChipConfig& chip) {
    const auto gain = [&](const arch::ChipConfig& on, const Seconds& seconds) {
        return gddr5_gain(workloads, on, seconds);
    };
    const Seconds of_2015 = model(compiler::PlanMode::kRules);
    const arch::ChipConfig alone = without_host(chip);
    lines_ = {{"model", gain(chip, of_2015)},
              {"model, bus for nothing", gain(alone, of_2015)},
              {"napkin", gain(chip, formula(tpu_v1::napkin))},
              {"napkin, bus for nothing", gain(alone, formula(tpu_v1::napkin))},
              {"roofline", gain(chip, formula(tpu_v1::roofline))},
              {"model, searched plan", gain(chip, model(compiler::PlanMode::kSearch))}};
}

bool Gddr5Study::passes() const {
    const auto means = lines_[kModelAlone].gain.means();
    for (const size_t without_host : {0, 1})
        if (std::abs(error_percent(means, without_host)) > kGddr5BoundPercent) return false;
    return true;
}

std::string Gddr5Study::text() const { return by_application() + kMethod + means() + verdict(); }

std::string Gddr5Study::by_application() const {
    Row heading = {"gain"};
    std::vector<Row> rows;
    for (const auto& [name, gain] : lines_.front().gain.gains) heading.push_back(name);
    for (const Line& line : lines_) {
        Row row = {line.name};
        for (const auto& [name, gain] : line.gain.gains) row.push_back(two(gain));
        rows.push_back(row);
    }
    return table(heading, rows);
}

std::string Gddr5Study::means() const {
    Row published = {"published"};
    for (const double figure : kGddr5Published) {
        published.push_back(fmt::format("{}", figure));
        published.emplace_back("");
    }
    std::vector<Row> rows = {published};
    for (const Line& line : lines_) {
        const auto means = line.gain.means();
        Row row = {line.name};
        for (size_t i = 0; i < means.size(); ++i) {
            row.push_back(two(means[i]));
            row.push_back(fmt::format("{:+.0f} %", error_percent(means, i)));
        }
        row.push_back(fmt::format("{:.0f} %", line.gain.mean_error_percent()));
        rows.push_back(row);
    }
    return table({"means", "weighted, without host", "error", "geometric, without host", "error",
                  "weighted, with host", "error", "geometric, with host", "error", "mean error"},
                 rows);
}

std::string Gddr5Study::verdict() const {
    std::string text = fmt::format(
        "Bound of the model, bus for nothing, in both means without the host: {:.0f} %: {}.\n",
        kGddr5BoundPercent, passes() ? "PASS" : "FAIL");
    for (const auto& [model, napkin, reading] :
         {std::tuple{kModel, kNapkin, "with the bus in the time"},
          std::tuple{kModelAlone, kNapkinAlone, "with the bus for nothing"}}) {
        const double ours = lines_[model].gain.mean_error_percent();
        const double other = lines_[napkin].gain.mean_error_percent();
        text += fmt::format("Mean error {}: model {:.0f} %, napkin {:.0f} %: {}.\n", reading, ours,
                            other,
                            other <= ours ? "the napkin is as good as the model or better"
                                          : "the model is nearer than the napkin");
    }
    const double roof = lines_[kRoof].gain.means()[2];
    if (roof < kGddr5Published[2])
        text += fmt::format(
            "With the host not even the roofline's gains reach the published weighted mean ({:.2f} "
            "of {}): it does not\nfollow from Table 5 with weights split evenly inside a type.\n",
            roof, kGddr5Published[2]);
    return text + "\n";
}

}  // namespace tandem::benchmarks
