// SPDX-License-Identifier: Apache-2.0
// When layers end, on all cores, and what they take (RunResult's LayerResult says how that counts).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "systemc/kernel/clock.h"

namespace tandem::run {

class LayerTimes {
  public:
    explicit LayerTimes(size_t nodes);

    /// An instruction of a node is done. `works`: one that takes the node's place in the order of
    /// what runs, a product or the vector unit's, not one that was asked for ahead.
    void retired(int32_t node, uint32_t round, bool works, sim::Cycle end) {
        if (node < 0 || static_cast<size_t>(node) >= nodes_) return;
        const size_t visit = size_t{round} * nodes_ + static_cast<size_t>(node);
        if (visit >= ends_.size()) ends_.resize(visit + 1);
        Visit& known = ends_[visit];
        if (works && !known.works) order_.push_back(visit);
        known.works = known.works || works;
        known.end = std::max(known.end, end);
    }
    /// All cores are done with a run of the program.
    void finish_run(sim::Cycle end);
    /// Cycles of each node, all runs; they add up to `total`.
    std::vector<uint64_t> cycles(uint64_t total) const;

  private:
    struct Visit {
        sim::Cycle end = 0;
        bool works = false;
    };
    const size_t nodes_;
    // Ends in this run: round by round, node by node, and which of them worked in which order.
    std::vector<Visit> ends_;
    std::vector<size_t> order_;
    std::vector<uint64_t> cycles_;  ///< of finished runs, without what is before the first end
    size_t first_ = 0;              ///< the node that ends first; the beginning belongs to it
};

}  // namespace tandem::run
