// SPDX-License-Identifier: Apache-2.0
#include "run/layer_times.h"

#include <algorithm>
#include <numeric>

namespace tandem::run {

LayerTimes::LayerTimes(size_t nodes, size_t cores)
    : nodes_(nodes), ends_(nodes * cores), cycles_(nodes) {}

void LayerTimes::finish_run(sim::Cycle end) {
    if (nodes_ == 0) return;
    sim::Cycle before = 0;
    for (size_t node = 0; node < nodes_; ++node) {
        sim::Cycle own = before;
        for (size_t at = node; at < ends_.size(); at += nodes_) own = std::max(own, ends_[at]);
        if (node + 1 == nodes_) own = std::max(own, end);
        if (before == 0 && own != 0)
            first_ = node;
        else
            cycles_[node] += own - before;
        before = own;
    }
    std::fill(ends_.begin(), ends_.end(), 0);
}

std::vector<uint64_t> LayerTimes::cycles(uint64_t total) const {
    std::vector<uint64_t> cycles = cycles_;
    if (cycles.empty()) return cycles;
    const uint64_t known = std::accumulate(cycles.begin(), cycles.end(), uint64_t{0});
    cycles[first_] += total - std::min(known, total);
    return cycles;
}

}  // namespace tandem::run
