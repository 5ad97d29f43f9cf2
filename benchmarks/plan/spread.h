// SPDX-License-Identifier: Apache-2.0
// What many figures have in common.
#pragma once

#include <vector>

namespace tandem::benchmarks {

/// What lies `share` (0 to 1) of the way up in `values`, which are not empty.
double quantile(std::vector<double> values, double share);

/// Spearman's: 1 where both have the same order, -1 where one is the other's reverse; 0 where all
/// of either are equal. As many of both.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace tandem::benchmarks
