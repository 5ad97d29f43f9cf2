// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "compiler/plan/buffer.h"
#include "compiler/plan/cmem_layout.h"
#include "compiler/plan/memory_layout.h"
#include "compiler/plan/outline.h"
#include "compiler/plan/packing.h"
#include "compiler/plan/parts.h"
#include "compiler/plan/pieces.h"
#include "compiler/plan/product_search.h"
#include "compiler/plan/search.h"
#include "compiler/plan/tensor_sizes.h"

namespace tandem::compiler {

namespace {

constexpr uint32_t kPrefetchChoices[] = {2, 1, 0};

class Planner {
  public:
    Planner(const KernelGraph& graph, const arch::ChipConfig& chip, const PlanOptions& options,
            const Outline& outline)
        : graph_(graph), chip_(chip), options_(options), outline_(outline) {
        plan_.mode = options.mode;
        plan_.cores = options.cores;
        plan_.values.resize(graph.values.size());
        plan_.kernels.resize(graph.kernels.size());
        share_out(graph, chip, outline, plan_);
        uses_ = uses_of(graph, plan_.segments);
        plan_.weights_in_cmem = weights_lie_in_cmem(graph, chip, options, plan_);
    }

    Plan run() {
        can_stay_ = find_parts(graph_, options_, outline_, uses_, plan_);
        lay_out_params();
        choose_residents();
        lay_out_memory(graph_, chip_, options_, plan_);
        return std::move(plan_);
    }

  private:
    size_t kernels() const { return graph_.kernels.size(); }
    uint64_t available() const {
        return std::min<uint64_t>(chip_.unified_buffer_bytes, uint64_t{1} << 32);
    }

    uint64_t bytes_in_buffer(size_t v) const {
        return plan_.values[v].place_bytes * plan_.values[v].places;
    }

    // ---- what does stay

    void lay_out_params() {
        for (size_t k = 0; k < kernels(); ++k) {
            plan_.kernels[k].params_offset = plan_.params_bytes;
            plan_.params_bytes += buffer_aligned(graph_.kernels[k].params_bytes);
        }
    }

    /// Everything that can stay does, if there is room; else in program order as much as leaves a
    /// quarter of the buffer to what does not, or whatever part finds a way.
    void choose_residents() {
        for (size_t v = 0; v < graph_.values.size(); ++v) {
            ValuePlan& value = plan_.values[v];
            value.resident = can_stay_[v];
            value.places = graph_.values[v].is_input && value.rounds > plan_.groups ? 2 : 1;
        }
        if (place_all()) return;
        for (const uint64_t quarters : {1, 0, 2, 3}) {
            choose_in_order(available() - available() / 4 * quarters);
            do {
                if (place_all()) return;
            } while (give_one_up());
        }
        refuse();
    }

    /// An edge's output begins where its input ends.
    size_t begin_of(size_t v) const {
        const Uses& uses = uses_[v];
        const bool of_edge = uses.maker && graph_.kernels[*uses.maker].is_edge();
        return of_edge && options_.mode == PlanMode::kSearch && uses.first == *uses.maker &&
                       uses.last > uses.first
                   ? uses.first + 1
                   : uses.first;
    }

    /// In the rules' plan an edge's output takes the place of its input, which nobody else reads.
    void unite_edges(std::vector<BufferItem>& items) const {
        for (const Kernel& kernel : graph_.kernels) {
            if (!kernel.is_edge() || !shares_place(kernel)) continue;
            BufferItem& in = items[kernel.inputs[0]];
            BufferItem& out = items[kernel.output];
            in.bytes = std::max(in.bytes, out.bytes);
            in.last = std::max(in.last, out.last);
            out.bytes = 0;
        }
    }
    bool shares_place(const Kernel& kernel) const {
        const ValuePlan &in = plan_.values[kernel.inputs[0]], &out = plan_.values[kernel.output];
        return options_.mode == PlanMode::kRules && in.resident && out.resident &&
               in.rounds == out.rounds && in.places == out.places &&
               uses_[kernel.inputs[0]].readers.size() == 1;
    }

    void choose_in_order(uint64_t room) {
        std::vector<uint64_t> live(kernels() + 1);
        for (size_t v = 0; v < graph_.values.size(); ++v) {
            ValuePlan& value = plan_.values[v];
            if (!can_stay_[v]) continue;
            const uint64_t bytes = bytes_in_buffer(v);
            bool fits = bytes != 0;
            for (size_t k = uses_[v].first; k <= uses_[v].last; ++k)
                fits = fits && live[k] + bytes <= room;
            value.resident = fits;
            if (!fits) continue;
            for (size_t k = uses_[v].first; k <= uses_[v].last; ++k) live[k] += bytes;
        }
    }

    /// The largest value that stays at the kernel that has no room.
    bool give_one_up() {
        ValuePlan* largest = nullptr;
        uint64_t bytes = 0;
        for (const bool here : {true, false}) {
            for (size_t v = 0; v < graph_.values.size(); ++v) {
                if (!plan_.values[v].resident || bytes_in_buffer(v) <= bytes) continue;
                if (here && (failed_ < uses_[v].first || failed_ > uses_[v].last)) continue;
                largest = &plan_.values[v];
                bytes = bytes_in_buffer(v);
            }
            if (largest != nullptr) break;
        }
        if (largest == nullptr) return false;
        largest->resident = false;
        return true;
    }

    bool place_all() {
        if (plan_.params_bytes <= chip_.tile_bytes() && place_with(true, 0)) return true;
        for (const uint32_t prefetch : kPrefetchChoices)
            if (place_with(false, prefetch)) return true;
        return false;
    }

    /// Items: values, parameters, then the areas of what goes through each kernel.
    bool place_with(bool params_stay, uint32_t prefetch) {
        std::vector<BufferItem> items;
        for (size_t v = 0; v < graph_.values.size(); ++v)
            items.push_back(
                {plan_.values[v].resident ? bytes_in_buffer(v) : 0, begin_of(v), uses_[v].last, 0});
        for (size_t k = 0; k < kernels(); ++k)
            items.push_back({params_stay ? 0 : buffer_aligned(graph_.kernels[k].params_bytes),
                             first_round_of(k - std::min<size_t>(k, prefetch)), last_round_of(k),
                             0});
        items.push_back({params_stay ? plan_.params_bytes : 0, 0, kernels(), 0});
        unite_edges(items);
        const BufferPeak staying = peak_of(items, kernels());
        if (staying.bytes > available()) {
            failed_ = staying.kernel;
            needed_ = staying.bytes;
            return false;
        }
        const size_t areas = items.size();
        lay_out_cmem(graph_, chip_, options_, uses_, plan_);
        if (!cut_all(items)) return false;
        if (!place_apart(items, areas) && !place(items, available())) {
            const BufferPeak peak = peak_of(items, kernels());
            failed_ = peak.kernel;
            needed_ = peak.bytes;
            return false;
        }
        take_addresses(items, areas, params_stay, prefetch);
        plan_.peak_buffer_bytes = peak_of(items, kernels()).bytes;
        return true;
    }

    /// With room there, neighbouring kernels' areas lie apart, so that one's input comes while the
    /// other one's results leave.
    bool place_apart(std::vector<BufferItem>& items, size_t areas) const {
        if (options_.mode != PlanMode::kSearch) return false;
        std::vector<BufferItem> apart = items;
        for (size_t i = areas; i < apart.size(); ++i) ++apart[i].last;
        if (!place(apart, available())) return false;
        for (size_t i = 0; i < items.size(); ++i) items[i].address = apart[i].address;
        return true;
    }

    /// Kernels at which what a kernel keeps for all its rounds comes and goes.
    size_t first_round_of(size_t k) const {
        const Segment& segment = segment_of(plan_.segments, k);
        return segment.rounds > 1 ? segment.begin : k;
    }
    size_t last_round_of(size_t k) const {
        const Segment& segment = segment_of(plan_.segments, k);
        return segment.rounds > 1 ? segment.end - 1 : k;
    }

    /// The room of each kernel into pieces; its areas behind the items.
    bool cut_all(std::vector<BufferItem>& items) {
        std::vector<uint64_t> live(kernels() + 1);
        for (const BufferItem& item : items)
            for (size_t k = item.first; item.bytes != 0 && k <= std::min(item.last, kernels() - 1);
                 ++k)
                live[k] += item.bytes;
        for (size_t k = 0; k < kernels(); ++k) {
            Areas areas;
            const uint64_t room = available() - std::min(available(), live[k]);
            if (!cut(k, room, areas)) {
                failed_ = k;
                needed_ = 0;
                left_ = room;
                return false;
            }
            for (const uint64_t bytes : {areas.in, areas.out, areas.scratch})
                items.push_back({buffer_aligned(bytes), k, k, 0});
        }
        return true;
    }

    /// Bytes of what goes through a kernel.
    struct Areas {
        uint64_t in = 0, out = 0, scratch = 0;
        uint64_t all() const {
            return buffer_aligned(in) + buffer_aligned(out) + buffer_aligned(scratch);
        }
    };

    bool cut(size_t k, uint64_t room, Areas& areas) {
        const Kernel& kernel = graph_.kernels[k];
        if (kernel.is_alias() || kernel.is_edge()) return true;
        PieceRequest request;
        request.mode = options_.mode;
        // The cores of a round begin together.
        request.sharing_cores = 0;
        for (uint32_t core = 0; core < options_.cores; ++core)
            request.sharing_cores += plan_.kernels[k].share(core, 0).lines.empty() ? 0 : 1;
        request.forced = options_.forced;
        request.memo = options_.memo;
        request.in_stays = true;
        for (const ValueId id : kernel.operands())
            request.in_stays = request.in_stays && plan_.values[id].resident;
        request.out_stays = plan_.values[kernel.output].resident;
        const MatmulWork* product = kernel.matmul();
        request.weights_in_cmem =
            plan_.weights_in_cmem && product != nullptr && !product->weights_per_image;
        request.in_cmem = plan_.values[kernel.inputs[0]].in_cmem;
        request.out_cmem = plan_.values[kernel.output].in_cmem;
        // The areas are as large as those of the core that needs most, of what comes and of what
        // leaves, which need not be the same core. Each core's fit into the room that it is given,
        // and a turn gives less than the one before: with none left there are no areas.
        for (request.room = room;;) {
            areas = {};
            for (CorePlan& share : plan_.kernels[k].cores) {
                if (!cut_into_pieces(kernel, graph_, plan_.kernels[k].tiles, chip_, request, share))
                    return false;
                areas.in = std::max(areas.in, in_area_bytes(share));
                areas.out = std::max(areas.out, out_area_bytes(share));
                areas.scratch = std::max(areas.scratch, share.scratch_bytes);
            }
            if (areas.all() <= room) return true;
            request.room -= std::min(request.room, areas.all() - room);
        }
    }

    /// The least into which the kernel's pieces fit, `too_little` being less.
    uint64_t least_room(size_t k, uint64_t too_little) {
        constexpr uint64_t kMost = uint64_t{1} << 40;
        Areas areas;
        uint64_t enough = std::max<uint64_t>(too_little, 1);
        while (enough < kMost && !cut(k, enough, areas)) enough *= 2;
        while (enough - too_little > 1) {
            const uint64_t middle = too_little + (enough - too_little) / 2;
            (cut(k, middle, areas) ? enough : too_little) = middle;
        }
        return enough;
    }

    void take_addresses(const std::vector<BufferItem>& items, size_t areas, bool params_stay,
                        uint32_t prefetch) {
        size_t next = 0;
        const auto address = [&] { return static_cast<uint32_t>(items[next++].address); };
        for (ValuePlan& value : plan_.values) value.address = address();
        for (const Kernel& kernel : graph_.kernels)
            if (kernel.is_edge() && shares_place(kernel))
                plan_.values[kernel.output].address = plan_.values[kernel.inputs[0]].address;
        for (KernelPlan& kernel : plan_.kernels) kernel.params_address = address();
        plan_.params_stay = params_stay;
        plan_.prefetch_kernels = prefetch;
        plan_.params_base = address();
        if (params_stay)
            for (KernelPlan& kernel : plan_.kernels)
                kernel.params_address =
                    plan_.params_base + static_cast<uint32_t>(kernel.params_offset);
        next = areas;
        for (KernelPlan& kernel : plan_.kernels) {
            const uint32_t in = address(), out = address(), scratch = address();
            for (CorePlan& share : kernel.cores)
                share.in_area = in, share.out_area = out, share.scratch_area = scratch;
        }
    }

    [[noreturn]] void refuse() {
        const Kernel& kernel = graph_.kernels[std::min(failed_, kernels() - 1)];
        if (needed_ == 0) needed_ = available() - left_ + least_room(failed_, left_);
        throw UserError(
            kernel.text + (graph_.batch == 1 ? "" : fmt::format(", batch {}", graph_.batch)) +
            fmt::format(": expected activations, parameters and pieces of what goes through that "
                        "fit into the unified buffer of {} bytes ({}), found {}",
                        available(), chip_.name,
                        needed_ > available() ? fmt::format("{} bytes needed", needed_)
                                              : "pieces that find no place side by side") +
            "; " + tensors_text(graph_, kernel));
    }

    const KernelGraph& graph_;
    const arch::ChipConfig& chip_;
    const PlanOptions& options_;
    const Outline& outline_;
    Plan plan_;
    std::vector<Uses> uses_;
    std::vector<bool> can_stay_;
    size_t failed_ = 0;    ///< kernel that had no room, and what it needed
    uint64_t needed_ = 0;  ///< 0: more than is left_ for its pieces
    uint64_t left_ = 0;
};

}  // namespace

Plan plan_of(const KernelGraph& graph, const arch::ChipConfig& chip, const PlanOptions& options,
             const Outline& outline) {
    return Planner(graph, chip, options, outline).run();
}

Plan make_plan(KernelGraph& graph, const arch::ChipConfig& chip, const PlanOptions& options) {
    if (options.mode == PlanMode::kRules)
        return plan_of(graph, chip, options, plain_outline(graph, options.cores));
    ProductMemo memo;
    PlanOptions how = options;
    how.memo = &memo;
    return pack_narrow(graph, chip, how, search_plan(graph, chip, how));
}

}  // namespace tandem::compiler
