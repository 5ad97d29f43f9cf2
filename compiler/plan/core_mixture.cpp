// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/core_mixture.h"

#include <algorithm>

namespace tandem::compiler {

namespace {

class CoreMixture {
  public:
    CoreMixture(const KernelGraph& graph, const VisitCost& cost,
                const std::vector<CoreChoice>& choices)
        : graph_(graph), cost_(cost), choices_(choices) {
        for (const CoreChoice& choice : choices) crossing_.push_back(crossing(*choice.plan));
    }

    bool fill(Outline& outline) {
        const size_t n = graph_.kernels.size();
        cycles_.assign(choices_.size(), 0);
        from_.assign(n, std::vector<size_t>(choices_.size()));
        for (size_t k = 0; k < n; ++k) step(k);
        auto last = static_cast<size_t>(std::ranges::min_element(cycles_) - cycles_.begin());
        bool same = true;
        for (size_t k = n; k-- > 0;) {
            outline.cores[k] = choices_[last].cores;
            same = same && from_[k][last] == last;
            last = from_[k][last];
        }
        return !same;
    }

  private:
    /// Cycles of storing, or loading, what lives across the border in front of each kernel and
    /// stays in that plan.
    std::vector<double> crossing(const Plan& plan) const {
        const size_t n = graph_.kernels.size();
        std::vector<uint64_t> bytes(n);
        const std::vector<Uses> uses = uses_of(graph_, {{0, n, 1}});
        for (size_t v = 0; v < uses.size(); ++v)
            for (size_t k = uses[v].maker.value_or(uses[v].last) + 1; k <= uses[v].last; ++k)
                if (plan.values[v].resident) bytes[k] += graph_.values[v].bytes;
        std::vector<double> cycles;
        for (const uint64_t count : bytes)
            cycles.push_back(count == 0 ? 0 : cost_.memory_cycles(count) + cost_.memory_latency());
        return cycles;
    }

    void step(size_t k) {
        std::vector<double> next(choices_.size());
        for (size_t to = 0; to < choices_.size(); ++to) {
            const auto before = [&](size_t from) {
                // What takes an edge's or a reshape's place belongs to the kernel in front of it.
                const Kernel& kernel = graph_.kernels[k];
                const bool moves = from != to && k != 0 && !kernel.is_alias() && !kernel.is_edge();
                return cycles_[from] + (moves ? crossing_[from][k] + crossing_[to][k] : 0);
            };
            size_t best = to;
            for (size_t from = 0; from < choices_.size(); ++from)
                if (before(from) < before(best)) best = from;
            from_[k][to] = best;
            next[to] = before(best) + choices_[to].kernels[k];
        }
        cycles_ = std::move(next);
    }

    const KernelGraph& graph_;
    const VisitCost& cost_;
    const std::vector<CoreChoice>& choices_;
    std::vector<std::vector<double>> crossing_;  ///< by choice and kernel
    std::vector<double> cycles_;                 ///< up to the kernel at hand, by its choice
    std::vector<std::vector<size_t>> from_;      ///< by kernel and its choice: the one before it
};

}  // namespace

bool mix_cores(const KernelGraph& graph, const VisitCost& cost,
               const std::vector<CoreChoice>& choices, Outline& outline) {
    return CoreMixture(graph, cost, choices).fill(outline);
}

}  // namespace tandem::compiler
