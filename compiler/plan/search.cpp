// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/search.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/error.h"
#include "compiler/plan/core_mixture.h"
#include "compiler/plan/divisions.h"
#include "compiler/plan/outline.h"
#include "compiler/plan/rounds.h"
#include "compiler/plan/visit_cost.h"

namespace tandem::compiler {

namespace {

/// What more cores have to gain: about the closed form's error (docs/plans.md).
constexpr double kMargin = 0.03;
constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr uint32_t kMostRounds = 64;
/// Counts of groups, and of rounds, one after the other that bring nothing: no more are tried.
constexpr uint32_t kGroupPatience = 2, kRoundPatience = 4;

/// A plan that fits, with what it costs.
struct Candidate {
    Outline outline;
    Plan plan;
    std::vector<double> kernels;  ///< cycles of all rounds of each
    double cycles = kNever;
};

class Search {
  public:
    Search(const KernelGraph& graph, const arch::ChipConfig& chip, const PlanOptions& options)
        : graph_(graph), chip_(chip), options_(options), cost_(graph, chip) {}

    SearchedPlan run() {
        if (!graph_.chained) return independent();
        std::optional<Candidate> best;
        for (const uint32_t cores : core_counts()) {
            std::optional<Candidate> found = with_cores(cores);
            if (found && (!best || found->cycles < best->cycles * (1 - kMargin)))
                best = std::move(found);
        }
        if (!best) return planned(plain_outline(graph_, options_.cores));
        if (std::optional<Candidate> mixed = with_mixed_cores();
            mixed && mixed->cycles < best->cycles * (1 - kMargin))
            best = std::move(mixed);
        return {std::move(best->outline), std::move(best->plan)};
    }

  private:
    SearchedPlan planned(const Outline& outline) const {
        return {outline, plan_of(graph_, chip_, options_, outline)};
    }

    /// 1, 2, 4, ... and all.
    std::vector<uint32_t> core_counts() const {
        std::vector<uint32_t> counts;
        for (uint32_t n = 1; n < options_.cores; n *= 2) counts.push_back(n);
        counts.push_back(options_.cores);
        return counts;
    }

    std::optional<Candidate> candidate(Outline outline) const {
        try {
            Candidate made{std::move(outline), {}, {}, 0};
            made.plan = plan_of(graph_, chip_, options_, made.outline);
            made.kernels = cost_.of_kernels(made.plan);
            made.cycles = cost_.of_plan(made.plan, made.kernels);
            return made;
        } catch (const UserError&) {
            return std::nullopt;  // fits nowhere
        }
    }

    // ---- kernels that have nothing to do with one another

    /// Each with the cores that are best for it. Cores that share nothing but memory need no
    /// margin.
    SearchedPlan independent() const {
        std::optional<Candidate> best;
        bool mixed = false;
        for (const uint32_t cores : core_counts()) {
            std::optional<Candidate> found = candidate(plain_outline(graph_, cores));
            if (!found) continue;
            if (!best) {
                best = std::move(found);
                continue;
            }
            for (size_t k = 0; k < graph_.kernels.size(); ++k)
                if (found->kernels[k] < best->kernels[k]) {
                    best->kernels[k] = found->kernels[k];
                    best->outline.cores[k] = cores;
                    mixed = true;
                }
        }
        if (best && !mixed) return {std::move(best->outline), std::move(best->plan)};
        return planned(best ? best->outline : plain_outline(graph_, options_.cores));
    }

    // ---- networks

    std::vector<uint32_t> round_counts(uint64_t most) const {
        if (options_.rounds != 0) return {options_.rounds <= most ? options_.rounds : 1};
        std::vector<uint32_t> counts{1};
        for (uint64_t n = 2; n <= most; n = next_division(n))
            counts.push_back(static_cast<uint32_t>(n));
        return counts;
    }

    Outline mixture(const std::vector<Candidate>& uniform) const {
        std::vector<RoundChoice> choices;
        for (const Candidate& made : uniform)
            choices.push_back({made.plan.segments.front().rounds, made.kernels, &made.plan});
        Outline outline = uniform.front().outline;
        mix_rounds(graph_, chip_, cost_, choices, outline);
        return outline;
    }

    /// All samples at once, each kernel with the cores that are best for it.
    std::optional<Candidate> with_mixed_cores() const {
        if (options_.cores == 1 || options_.rounds != 0) return std::nullopt;
        std::vector<CoreChoice> choices;
        for (const Candidate& made : at_once_)
            choices.push_back({made.outline.cores.front(), made.kernels, &made.plan});
        Outline outline = plain_outline(graph_, options_.cores);
        if (choices.empty() || !mix_cores(graph_, cost_, choices, outline)) return std::nullopt;
        return candidate(std::move(outline));
    }

    /// Puts into `least` what the candidate takes less of: each kernel's cycles, then all of them.
    /// False: of none.
    static bool lower(std::vector<double>& least, const Candidate& made) {
        bool any = made.cycles < least.back();
        if (any) least.back() = made.cycles;
        for (size_t k = 0; k < made.kernels.size(); ++k) {
            if (made.kernels[k] >= least[k]) continue;
            least[k] = made.kernels[k];
            any = true;
        }
        return any;
    }

    /// In groups, as long as more of them are better.
    std::optional<Candidate> with_cores(uint32_t cores) {
        const uint64_t samples = samples_ / cores;
        std::optional<Candidate> best = with_groups(cores, 1);
        uint32_t worse = 0;
        for (uint64_t groups = 2;
             groups <= samples && options_.rounds == 0 && worse < kGroupPatience;
             groups = next_division(groups)) {
            std::optional<Candidate> found = with_groups(cores, static_cast<uint32_t>(groups));
            const bool better = found && (!best || found->cycles < best->cycles);
            worse = better ? 0 : worse + 1;
            if (better) best = std::move(found);
        }
        return best;
    }

    /// The samples of a group in so many rounds through all kernels; then the best mixture of
    /// these.
    std::optional<Candidate> with_groups(uint32_t cores, uint32_t groups) {
        std::vector<Candidate> uniform;
        const uint64_t most = std::min<uint64_t>(kMostRounds, samples_ / cores / groups);
        std::vector<double> least(graph_.kernels.size() + 1, kNever);
        uint32_t worse = 0;
        for (const uint32_t rounds : round_counts(std::max<uint64_t>(most, 1))) {
            Outline outline = plain_outline(graph_, cores);
            outline.groups = groups;
            outline.segments.front().rounds = rounds;
            auto made = candidate(std::move(outline));
            if (!made) continue;
            worse = lower(least, *made) ? 0 : worse + 1;
            if (rounds * groups == 1 && options_.cores > 1) at_once_.push_back(*made);
            uniform.push_back(std::move(*made));
            if (worse == kRoundPatience) break;
        }
        if (uniform.empty()) return std::nullopt;
        std::optional<Candidate> mixed;
        if (uniform.size() > 1) mixed = candidate(mixture(uniform));
        auto best = std::ranges::min_element(uniform, {}, &Candidate::cycles);
        if (mixed && mixed->cycles < best->cycles) return mixed;
        return std::move(*best);
    }

    const KernelGraph& graph_;
    const arch::ChipConfig& chip_;
    const PlanOptions& options_;
    const VisitCost cost_;
    std::vector<Candidate> at_once_;  ///< all samples at once, the same cores for all kernels
    const uint64_t samples_ = samples_of(graph_);
};

}  // namespace

SearchedPlan search_plan(const KernelGraph& graph, const arch::ChipConfig& chip,
                         const PlanOptions& options) {
    return Search(graph, chip, options).run();
}

double predicted_cycles(const KernelGraph& graph, const arch::ChipConfig& chip, const Plan& plan) {
    return VisitCost(graph, chip).of_plan(plan);
}

}  // namespace tandem::compiler
