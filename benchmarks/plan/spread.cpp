// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/plan/spread.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace tandem::benchmarks {
namespace {

/// Places in order, ties sharing the middle of theirs.
std::vector<double> ranks(const std::vector<double>& values) {
    std::vector<size_t> order(values.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::sort(order, {}, [&](size_t i) { return values[i]; });
    std::vector<double> ranks(values.size());
    for (size_t first = 0; first < order.size();) {
        size_t last = first;
        while (last + 1 < order.size() && values[order[last + 1]] == values[order[first]]) ++last;
        for (size_t i = first; i <= last; ++i)
            ranks[order[i]] = static_cast<double>(first + last) / 2;
        first = last + 1;
    }
    return ranks;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
    const auto count = static_cast<double>(a.size());
    const double mean_a = std::accumulate(a.begin(), a.end(), 0.0) / count;
    const double mean_b = std::accumulate(b.begin(), b.end(), 0.0) / count;
    double ab = 0, aa = 0, bb = 0;
    for (size_t i = 0; i < a.size(); ++i) {
        ab += (a[i] - mean_a) * (b[i] - mean_b);
        aa += (a[i] - mean_a) * (a[i] - mean_a);
        bb += (b[i] - mean_b) * (b[i] - mean_b);
    }
    return aa == 0 || bb == 0 ? 0 : ab / std::sqrt(aa * bb);
}

}  // namespace

double quantile(std::vector<double> values, double share) {
    const auto place = static_cast<ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::ranges::nth_element(values, values.begin() + place);
    return values[static_cast<size_t>(place)];
}

double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
    return correlation(ranks(a), ranks(b));
}

}  // namespace tandem::benchmarks
