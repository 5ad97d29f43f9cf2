// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/contest.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>

namespace tandem::benchmarks {
namespace {

double least(const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); }
double most(const std::vector<double>& v) { return *std::max_element(v.begin(), v.end()); }

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

nlohmann::json spread(const std::vector<double>& values) {
    return {{"min", least(values)}, {"median", median(values)}, {"max", most(values)}};
}

}  // namespace

double seconds_of(const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void require(bool same, const std::string& name) {
    if (!same) throw std::runtime_error(name + ": not what plain loops give");
}

Contest::Contest(uint32_t size) : macs_(std::pow(static_cast<double>(size), 3)) {}

void Contest::run(int turns) {
    for (int turn = 0; turn <= turns; ++turn)
        for (Contender& c : contenders_) {
            const double taken = c.turn();
            if (turn == 0)
                c.check();  // and a warm-up
            else
                c.seconds.push_back(taken);
        }
}

nlohmann::json Contest::report() const {
    nlohmann::json out = nlohmann::json::array();
    for (const Contender& c : contenders_) out.push_back(report(c));
    return out;
}

nlohmann::json Contest::report(const Contender& c) const {
    std::vector<double> rates;
    for (const double seconds : c.seconds) rates.push_back(macs_ / seconds / 1e9);
    nlohmann::json out = {{"name", c.name}, {"gmac_per_second", spread(rates)}};
    std::string text = fmt::format("{:<34} {:7.1f} GMAC/s ({:.1f} to {:.1f})", c.name,
                                   median(rates), least(rates), most(rates));
    if (const Contender* best = best_of(c.against)) {
        std::vector<double> ratios;
        for (size_t i = 0; i < c.seconds.size(); ++i)
            ratios.push_back(best->seconds[i] / c.seconds[i]);
        out["against"] = best->name;
        out["ratio"] = spread(ratios);
        text += fmt::format("  {:.3f} of {} ({:.3f} to {:.3f})", median(ratios), best->name,
                            least(ratios), most(ratios));
    }
    fmt::print(stderr, "{}\n", text);
    return out;
}

const Contender* Contest::best_of(const std::vector<std::string>& names) const {
    const Contender* best = nullptr;
    for (const Contender& c : contenders_)
        if (std::ranges::find(names, c.name) != names.end() &&
            (best == nullptr || median(c.seconds) < median(best->seconds)))
            best = &c;
    return best;
}

}  // namespace tandem::benchmarks
