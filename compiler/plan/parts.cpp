// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/parts.h"

#include <algorithm>

#include "compiler/plan/buffer.h"

namespace tandem::compiler {

namespace {

Range joined(const Range& a, const Range& b) {
    if (a.empty()) return b;
    return b.empty() ? a : Range{std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

class Parts {
  public:
    Parts(const KernelGraph& graph, const PlanOptions& options, const Outline& outline,
          const std::vector<Uses>& uses, Plan& plan)
        : graph_(graph), options_(options), outline_(outline), uses_(uses), plan_(plan) {}

    bool find(size_t v) {
        const Uses& uses = uses_[v];
        const Value& value = graph_.values[v];
        ValuePlan& plan = plan_.values[v];
        // An alias reads nothing.
        const auto reads = [&](const auto& reader) {
            return !graph_.kernels[reader.first].is_alias();
        };
        const auto first = std::ranges::find_if(uses.readers, reads);
        if (first != uses.readers.end()) plan.first_reader = first->first;
        plan.rounds =
            plan_.groups * (uses.local ? segment_of(plan_.segments, uses.last).rounds : 1);
        bool has_what_it_reads = true;
        for (uint32_t round = 0; round < plan.rounds; ++round)
            for (uint32_t core = 0; core < options_.cores; ++core) {
                const Range need = needed(v, core, round);
                plan.parts.push_back(part(v, core, round, need));
                has_what_it_reads = has_what_it_reads && plan.parts.back().contains(need);
            }
        plan.place_bytes = bytes_of_place(v);
        const bool leaves = value.is_output && value.home == Memory::kDevice;
        return has_what_it_reads && !value.is_tiles && !leaves && !outline_.spilled[v] &&
               !(is_made(v) && splits(*uses.maker)) && value.bytes != 0 && !comes_paced(v);
    }

  private:
    bool is_made(size_t v) const {
        return uses_[v].maker && !graph_.kernels[*uses_[v].maker].is_edge();
    }

    Range made_by(size_t k, const CorePlan& share) const {
        if (share.tiles.size() != plan_.kernels[k].tiles.size()) return {};
        return output_of_lines(graph_.kernels[k], graph_, share.lines);
    }
    Range read_by(size_t k, size_t operand, const CorePlan& share) const {
        if (plan_.kernels[k].tiles.size() != 0 && share.tiles.empty()) return {};
        return operand_of_lines(graph_.kernels[k], graph_, operand, share.lines);
    }

    /// What `range_of` gives for the shares of a core in one of the value's rounds, as one piece.
    template <class RangeOf>
    Range in_rounds(size_t v, size_t k, uint32_t core, uint32_t round,
                    const RangeOf& range_of) const {
        const KernelPlan& kernel = plan_.kernels[k];
        const uint32_t of_round = kernel.rounds / plan_.values[v].rounds;
        Range all;
        for (uint32_t r = round * of_round; r < (round + 1) * of_round; ++r)
            all = joined(all, range_of(kernel.share(core, r)));
        return all;
    }

    Range needed(size_t v, uint32_t core, uint32_t round) const {
        Range need;
        for (const auto& reader : uses_[v].readers) {
            const size_t k = reader.first, operand = reader.second;
            if (graph_.kernels[k].is_alias() || graph_.kernels[k].is_edge()) continue;
            need = joined(need, in_rounds(v, k, core, round, [&](const CorePlan& share) {
                              return read_by(k, operand, share);
                          }));
        }
        return need;
    }

    Range part(size_t v, uint32_t core, uint32_t round, const Range& need) const {
        // A single core takes all that the host gives, also what nobody reads.
        const Value& value = graph_.values[v];
        if (value.is_input && options_.cores == 1 && plan_.values[v].rounds == 1)
            return {0, value.bytes};
        if (!is_made(v)) return need;
        const size_t maker = *uses_[v].maker;
        return in_rounds(v, maker, core, round,
                         [&](const CorePlan& share) { return made_by(maker, share); });
    }

    /// The only product that reads an input from device memory has it come as it wants it.
    bool comes_paced(size_t v) const {
        const Value& value = graph_.values[v];
        if (options_.mode != PlanMode::kSearch || !value.is_input ||
            value.home != Memory::kDevice || uses_[v].readers.size() != 1)
            return false;
        const auto& [k, operand] = uses_[v].readers.front();
        const Kernel& kernel = graph_.kernels[k];
        return kernel.matmul() != nullptr && operand == 0 && kernel.repeat == 1;
    }

    bool splits(size_t k) const {
        return std::ranges::any_of(plan_.kernels[k].cores, [&](const CorePlan& share) {
            return !share.lines.empty() && share.tiles.size() != plan_.kernels[k].tiles.size();
        });
    }

    uint64_t bytes_of_place(size_t v) const {
        uint64_t bytes = 0;
        for (const Range& part : plan_.values[v].parts) bytes = std::max(bytes, part.size());
        // A pass over more lines than it leaves needs room for all of them.
        if (uses_[v].maker && graph_.kernels[*uses_[v].maker].vector() != nullptr)
            for (const CorePlan& share : plan_.kernels[*uses_[v].maker].cores)
                bytes = std::max(bytes,
                                 result_room(graph_.kernels[*uses_[v].maker], graph_, share.lines));
        return buffer_aligned(bytes);
    }

    const KernelGraph& graph_;
    const PlanOptions& options_;
    const Outline& outline_;
    const std::vector<Uses>& uses_;
    Plan& plan_;
};

}  // namespace

std::vector<bool> find_parts(const KernelGraph& graph, const PlanOptions& options,
                             const Outline& outline, const std::vector<Uses>& uses, Plan& plan) {
    Parts parts(graph, options, outline, uses, plan);
    std::vector<bool> can_stay(graph.values.size());
    for (size_t v = 0; v < can_stay.size(); ++v) can_stay[v] = parts.find(v);
    return can_stay;
}

}  // namespace tandem::compiler
