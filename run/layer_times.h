// SPDX-License-Identifier: Apache-2.0
// When layers end, on all cores, and what they take (RunResult's LayerResult says how that counts).
#pragma once

#include <cstdint>
#include <vector>

#include "systemc/kernel/clock.h"

namespace tandem::run {

class LayerTimes {
  public:
    LayerTimes(size_t nodes, size_t cores);

    /// An instruction of a node is done.
    void retired(uint32_t core, int32_t node, sim::Cycle end) {
        if (node < 0 || static_cast<size_t>(node) >= nodes_) return;
        sim::Cycle& last = ends_[core * nodes_ + static_cast<size_t>(node)];
        if (end > last) last = end;
    }
    /// All cores are done with a run of the program.
    void finish_run(sim::Cycle end);
    /// Of each node, all runs; they add up to `total`.
    std::vector<uint64_t> cycles(uint64_t total) const;

  private:
    const size_t nodes_;
    std::vector<sim::Cycle> ends_;  ///< of this run: node by node, core by core; 0: none yet
    std::vector<uint64_t> cycles_;  ///< of finished runs, without what is before the first end
    size_t first_ = 0;              ///< the node that ends first; the beginning belongs to it
};

}  // namespace tandem::run
