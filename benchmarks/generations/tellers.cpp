// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/generations/tellers.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "benchmarks/list_baselines.h"
#include "run/graph_run.h"

namespace tandem::generations {
namespace {

using Function = std::function<double(double)>;

/// The mean of the figures as `to` has them, brought back by `from`.
Figures mean(const std::vector<Figures>& figures, const Function& to, const Function& from) {
    Figures result{};
    for (size_t teller = 0; teller < kTellers; ++teller) {
        double sum = 0;
        for (const Figures& one : figures) sum += to(one[teller]);
        result[teller] = from(sum / static_cast<double>(figures.size()));
    }
    return result;
}

Means means(const Lists& lists, const std::vector<Figures>& figures, const Function& to,
            const Function& from) {
    std::map<std::string, std::vector<Figures>> groups;
    for (size_t i = 0; i < lists.size(); ++i) groups[lists[i].kind].push_back(figures[i]);
    Means result;
    std::vector<Figures> of_kinds;
    for (const auto& [kind, group] : groups) {
        result.kinds[kind] = mean(group, to, from);
        of_kinds.push_back(result.kinds[kind]);
    }
    result.all = mean(of_kinds, to, from);
    for (size_t teller = 0; teller < kTellers; ++teller) {
        const auto less = [teller](const Figures& a, const Figures& b) {
            return a[teller] < b[teller];
        };
        const auto [least, most] = std::ranges::minmax_element(of_kinds, less);
        result.least[teller] = (*least)[teller];
        result.most[teller] = (*most)[teller];
    }
    return result;
}

}  // namespace

std::vector<Figures> time_all(const Lists& lists, const arch::ChipConfig& chip) {
    std::vector<Figures> seconds;
    for (const List& list : lists)
        seconds.push_back({run::time_list_apart(list.workload, chip).seconds(),
                           benchmarks::napkin_seconds(list.workload, chip),
                           benchmarks::roofline_seconds(list.workload, chip)});
    return seconds;
}

std::vector<Figures> utilization_percent(const Lists& lists, const std::vector<Figures>& seconds,
                                         const arch::ChipConfig& chip) {
    std::vector<Figures> result;
    for (size_t i = 0; i < lists.size(); ++i) {
        double macs = 0;
        for (const auto& layer : lists[i].workload.layers)
            macs += static_cast<double>(layer.macs());
        Figures percent{};
        for (size_t teller = 0; teller < kTellers; ++teller)
            percent[teller] = 100 * 2 * macs / chip.peak_ops_per_second() / seconds[i][teller];
        result.push_back(percent);
    }
    return result;
}

std::vector<Figures> speedups(const std::vector<Figures>& before,
                              const std::vector<Figures>& after) {
    std::vector<Figures> result(before.size());
    for (size_t i = 0; i < before.size(); ++i)
        for (size_t teller = 0; teller < kTellers; ++teller)
            result[i][teller] = before[i][teller] / after[i][teller];
    return result;
}

Means geometric(const Lists& lists, const std::vector<Figures>& figures) {
    return means(
        lists, figures, [](double x) { return std::log(x); }, [](double x) { return std::exp(x); });
}

Means arithmetic(const Lists& lists, const std::vector<Figures>& figures) {
    const auto same = [](double x) { return x; };
    return means(lists, figures, same, same);
}

}  // namespace tandem::generations
