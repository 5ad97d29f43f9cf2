// SPDX-License-Identifier: Apache-2.0
#include "run/layer_times.h"

#include <algorithm>
#include <numeric>

namespace tandem::run {

LayerTimes::LayerTimes(size_t nodes) : nodes_(nodes), cycles_(nodes) {}

void LayerTimes::finish_run(sim::Cycle end) {
    sim::Cycle before = 0;
    for (size_t i = 0; i < order_.size(); ++i) {
        const size_t node = order_[i] % nodes_;
        sim::Cycle own = std::max(before, ends_[order_[i]].end);
        if (i + 1 == order_.size()) own = std::max(own, end);
        if (i == 0)
            first_ = node;
        else
            cycles_[node] += own - before;
        before = own;
    }
    ends_.clear();
    order_.clear();
}

std::vector<uint64_t> LayerTimes::cycles(uint64_t total) const {
    std::vector<uint64_t> cycles = cycles_;
    if (cycles.empty()) return cycles;
    const uint64_t known = std::accumulate(cycles.begin(), cycles.end(), uint64_t{0});
    cycles[first_] += total - std::min(known, total);
    return cycles;
}

}  // namespace tandem::run
