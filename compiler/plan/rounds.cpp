// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/rounds.h"

#include <algorithm>
#include <array>
#include <limits>

#include "compiler/plan/pieces.h"

namespace tandem::compiler {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

class Mixture {
  public:
    Mixture(const KernelGraph& graph, const arch::ChipConfig& chip, const VisitCost& cost,
            const std::vector<RoundChoice>& choices)
        : graph_(graph),
          chip_(chip),
          cost_(cost),
          choices_(choices),
          across_(graph.kernels.size() + 1) {
        find_across();
        for (const RoundChoice& choice : choices) live_.push_back(live_bytes(choice));
    }

    void fill(Outline& outline) {
        const size_t n = graph_.kernels.size();
        best_.assign(n + 1, {});
        best_[n] = {Step{0}, Step{0}};
        for (size_t begin = n; begin-- > 0;)
            if (is_border(begin))
                for (const bool in_stays : {false, true}) find_best(begin, in_stays);
        outline.segments.clear();
        outline.spilled.assign(graph_.values.size(), false);
        bool stays = true;
        for (size_t begin = 0; begin < n;) {
            const Step& step = best_[begin][stays];
            add(outline.segments, {begin, step.end, choices_[step.choice].rounds});
            if (!step.out_stays)
                for (const size_t v : across_[step.end].values) outline.spilled[v] = true;
            begin = step.end;
            stays = step.out_stays;
        }
    }

  private:
    /// Values that live across the border in front of a kernel.
    struct Across {
        std::vector<size_t> values;
        uint64_t bytes = 0;
        bool once = false;  ///< all of them have room where the batch goes through at once
    };
    /// The best way on from a border.
    struct Step {
        double cycles = kNever;
        size_t choice = 0, end = 0;
        bool out_stays = false;  ///< what lives across the segment's end stays in the buffer
    };

    /// What takes an edge's or a reshape's place belongs to the kernel behind it.
    bool is_border(size_t kernel) const {
        return kernel == 0 || kernel == graph_.kernels.size() ||
               (!graph_.kernels[kernel].is_edge() && !graph_.kernels[kernel].is_alias());
    }

    void find_across() {
        const std::vector<Uses> uses = uses_of(graph_, {{0, graph_.kernels.size(), 1}});
        const auto whole = std::ranges::find(choices_, 1u, &RoundChoice::rounds);
        for (Across& across : across_) across.once = whole != choices_.end();
        for (size_t v = 0; v < uses.size(); ++v)
            for (size_t k = uses[v].maker.value_or(uses[v].last) + 1; k <= uses[v].last; ++k) {
                across_[k].values.push_back(v);
                across_[k].bytes += graph_.values[v].bytes;
                across_[k].once = across_[k].once && whole->plan->values[v].resident;
            }
    }

    /// Bytes of the buffer in use on one core while each kernel runs.
    std::vector<uint64_t> live_bytes(const RoundChoice& choice) const {
        const Plan& plan = *choice.plan;
        const std::vector<Uses> uses = uses_of(graph_, plan.segments);
        std::vector<uint64_t> live(graph_.kernels.size(), plan.params_stay ? plan.params_bytes : 0);
        for (size_t v = 0; v < uses.size(); ++v)
            for (size_t k = uses[v].first; plan.values[v].resident && k <= uses[v].last; ++k)
                live[k] += plan.values[v].place_bytes * plan.values[v].places;
        for (size_t k = 0; k < live.size(); ++k) {
            uint64_t areas = 0;
            for (const CorePlan& share : plan.kernels[k].cores)
                areas = std::max(areas, in_area_bytes(share) + out_area_bytes(share));
            live[k] += areas;
        }
        return live;
    }

    void find_best(size_t begin, bool in_stays) {
        Step& best = best_[begin][in_stays];
        const double in = begin == 0 || in_stays ? 0 : cost_.memory_cycles(across_[begin].bytes);
        for (size_t i = 0; i < choices_.size(); ++i) {
            double own = 0;
            uint64_t peak = 0;
            for (size_t end = begin + 1; end <= graph_.kernels.size(); ++end) {
                own += choices_[i].kernels[end - 1];
                peak = std::max(peak, live_[i][end - 1]);
                if (!is_border(end)) continue;
                for (const bool out_stays : {true, false}) {
                    if (!fits(i, begin, in_stays, end, out_stays, peak)) continue;
                    const double rest = best_[end][out_stays].cycles;
                    double cycles =
                        begin == 0 ? cost_.with_host(*choices_[i].plan, own, choices_[i].kernels[0],
                                                     choices_[i].rounds)
                                   : own + in;
                    if (!out_stays) cycles += cost_.memory_cycles(across_[end].bytes);
                    if (cycles + rest < best.cycles) best = {cycles + rest, i, end, out_stays};
                }
            }
        }
    }

    /// What stays across a border is there for all rounds on both sides of it.
    bool fits(size_t choice, size_t begin, bool in_stays, size_t end, bool out_stays,
              uint64_t peak) const {
        const bool at_once = choices_[choice].rounds == 1;
        if (at_once)
            return (!in_stays || begin == 0 || across_[begin].once) &&
                   (!out_stays || end == graph_.kernels.size() || across_[end].once);
        const uint64_t room = chip_.unified_buffer_bytes, groups = choices_[choice].plan->groups;
        return peak + (in_stays ? across_[begin].bytes / groups : 0) +
                   (out_stays ? across_[end].bytes / groups : 0) <=
               room;
    }

    /// Neighbours that go through at once are one segment.
    static void add(std::vector<Segment>& segments, const Segment& segment) {
        if (!segments.empty() && segment.rounds == 1 && segments.back().rounds == 1)
            segments.back().end = segment.end;
        else
            segments.push_back(segment);
    }

    const KernelGraph& graph_;
    const arch::ChipConfig& chip_;
    const VisitCost& cost_;
    const std::vector<RoundChoice>& choices_;
    std::vector<Across> across_;               ///< by kernel
    std::vector<std::vector<uint64_t>> live_;  ///< by choice and kernel
    std::vector<std::array<Step, 2>> best_;    ///< by kernel: what lives across its border stays
};

}  // namespace

void mix_rounds(const KernelGraph& graph, const arch::ChipConfig& chip, const VisitCost& cost,
                const std::vector<RoundChoice>& choices, Outline& outline) {
    Mixture(graph, chip, cost, choices).fill(outline);
}

}  // namespace tandem::compiler
