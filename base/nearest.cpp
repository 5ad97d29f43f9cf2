// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.h"

#include <algorithm>
#include <utility>

namespace tandem::base {

size_t edit_distance(std::string_view a, std::string_view b) {
    // Three rows of the table are alive: a swap of neighbours looks back two.
    std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= a.size(); ++i) {
        before = std::exchange(last, row);
        row[0] = i;
        for (size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
    }
    return row[b.size()];
}

std::optional<std::string> nearest(std::string_view name,
                                   const std::vector<std::string>& candidates) {
    std::optional<std::string> found;
    size_t least = std::max<size_t>(2, (name.size() + 1) / 2);  // distances below count
    const bool dotted = name.find('.') != std::string_view::npos;
    for (const std::string& candidate : candidates) {
        size_t distance = edit_distance(name, candidate);
        const size_t dot = candidate.rfind('.');
        if (!dotted && dot != std::string::npos)
            distance = std::min(distance, edit_distance(name, candidate.substr(dot + 1)));
        if (distance >= least) continue;
        least = distance;
        found = candidate;
    }
    return found;
}

std::string nearest_hint(std::string_view name, const std::vector<std::string>& candidates) {
    const auto found = nearest(name, candidates);
    return found ? " (nearest: " + *found + ")" : "";
}

}  // namespace tandem::base
