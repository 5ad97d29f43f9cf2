// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/cmem_layout.h"

#include <algorithm>
#include <functional>

#include "compiler/plan/buffer.h"

namespace tandem::compiler {

namespace {

/// Kernel by kernel.
uint64_t weight_bytes(const Plan& plan, const arch::ChipConfig& chip) {
    uint64_t bytes = 0;
    for (const KernelPlan& kernel : plan.kernels)
        bytes += memory_aligned(kernel.data_tiles * chip.tile_bytes());
    return bytes;
}

class CmemLayout {
  public:
    CmemLayout(const KernelGraph& graph, const arch::ChipConfig& chip,
               const std::vector<Uses>& uses, Plan& plan)
        : graph_(graph), chip_(chip), uses_(uses), plan_(plan), loads_(graph.kernels.size()) {}

    void run(uint64_t begin) {
        const uint64_t weights = plan_.weights_in_cmem ? weight_bytes(plan_, chip_) : 0;
        begin += weights;
        room_ = chip_.cmem.bytes - std::min(chip_.cmem.bytes, weights);
        find_loads();
        uint64_t end = 0;
        for (const size_t v : by_bytes_moved()) {
            if (gain(v) <= 0 || !find_place(v)) continue;
            move(v);
            const BufferItem& item = placed_.back().item;
            plan_.values[v].in_cmem = true;
            plan_.values[v].memory_offset = begin + item.address;
            end = std::max(end, item.address + item.bytes);
        }
        for (const Placed& a : placed_)
            for (const Placed& b : placed_)
                if (a.value != b.value && a.item.address < b.item.address + b.item.bytes &&
                    b.item.address < a.item.address + a.item.bytes)
                    plan_.values[a.value].shares_place = true;
        plan_.cmem = {begin, begin + end};
    }

  private:
    /// Bytes that a kernel moves, each once.
    struct Load {
        double memory = 0, cmem = 0;
    };
    /// A value in CMEM, addresses from behind the weights on.
    struct Placed {
        BufferItem item;
        size_t value = 0;
    };

    void find_loads() {
        for (size_t k = 0; k < loads_.size(); ++k) {
            const auto weights =
                static_cast<double>(plan_.kernels[k].data_tiles * chip_.tile_bytes());
            (plan_.weights_in_cmem ? loads_[k].cmem : loads_[k].memory) += weights;
        }
        for (size_t v = 0; v < plan_.values.size(); ++v)
            if (goes_through_memory(v)) for_users(v, [&](Load& load) { load.memory += bytes(v); });
    }

    template <class Visit>
    void for_users(size_t v, const Visit& visit) {
        if (uses_[v].maker) visit(loads_[*uses_[v].maker]);
        for (const auto& [k, operand] : uses_[v].readers)
            if (!graph_.kernels[k].is_alias() && !graph_.kernels[k].is_edge()) visit(loads_[k]);
    }

    double bytes(size_t v) const { return static_cast<double>(graph_.values[v].bytes); }

    /// Seconds of the busier memory.
    double seconds(const Load& load) const {
        return std::max(load.memory / static_cast<double>(chip_.memory.usable_bytes_per_second()),
                        load.cmem / static_cast<double>(chip_.cmem.bytes_per_second));
    }
    /// Seconds gained by all kernels that write or read the value, if it lay in CMEM.
    double gain(size_t v) {
        double gained = 0;
        for_users(v, [&](const Load& load) {
            gained += seconds(load) - seconds({load.memory - bytes(v), load.cmem + bytes(v)});
        });
        return gained;
    }
    void move(size_t v) {
        for_users(v, [&](Load& load) {
            load.memory -= bytes(v);
            load.cmem += bytes(v);
        });
    }

    std::vector<size_t> by_bytes_moved() {
        std::vector<size_t> values;
        std::vector<double> moved(plan_.values.size());
        for (size_t v = 0; v < plan_.values.size(); ++v) {
            if (!goes_through_memory(v) || !is_made(v)) continue;
            values.push_back(v);
            for_users(v, [&](const Load&) { moved[v] += bytes(v); });
        }
        std::ranges::stable_sort(values, std::greater{}, [&](size_t v) { return moved[v]; });
        return values;
    }

    /// Values that leave for the host, too: what other kernels read comes from memory.
    bool goes_through_memory(size_t v) const {
        const Value& value = graph_.values[v];
        if (plan_.values[v].resident || value.is_input || value.bytes == 0) return false;
        const bool is_read = std::ranges::any_of(uses_[v].readers, [&](const auto& reader) {
            return !graph_.kernels[reader.first].is_alias();
        });
        return !value.is_output || (value.home == Memory::kHost && is_read);
    }
    /// By a kernel of ours; what an edge gives, and weight tiles, stay in device memory.
    bool is_made(size_t v) const {
        return uses_[v].maker && !graph_.kernels[*uses_[v].maker].is_edge() &&
               !graph_.values[v].is_tiles;
    }

    /// The lowest place that is free while the value lives.
    bool find_place(size_t v) {
        BufferItem item{memory_aligned(graph_.values[v].bytes), uses_[v].first, uses_[v].last, 0};
        // Its writers are in no order, or somebody looks at it when all is over.
        if (!in_rows(v) || goes_over_edge(v)) item.first = 0, item.last = graph_.kernels.size();
        std::vector<const BufferItem*> others;
        for (const Placed& other : placed_) others.push_back(&other.item);
        std::ranges::sort(others, {}, &BufferItem::address);
        const std::optional<uint64_t> address = free_address(item, others, room_);
        if (!address) return false;
        item.address = *address;
        placed_.push_back({item, v});
        return true;
    }

    /// No two cores write to the same row.
    bool in_rows(size_t v) const {
        const KernelPlan& maker = plan_.kernels[*uses_[v].maker];
        return std::ranges::all_of(maker.cores, [&](const CorePlan& share) {
            return share.lines.empty() || share.tiles.size() == maker.tiles.size();
        });
    }
    bool goes_over_edge(size_t v) const {
        return std::ranges::any_of(uses_[v].readers, [&](const auto& reader) {
            return graph_.kernels[reader.first].is_edge();
        });
    }

    const KernelGraph& graph_;
    const arch::ChipConfig& chip_;
    const std::vector<Uses>& uses_;
    Plan& plan_;
    uint64_t room_ = 0;
    std::vector<Load> loads_;  ///< by kernel
    std::vector<Placed> placed_;
};

}  // namespace

uint64_t room_for_data(const arch::ChipConfig& chip, const PlanOptions& options) {
    return chip.memory.bytes - std::min(chip.memory.bytes, options.memory_base);
}

bool weights_lie_in_cmem(const KernelGraph& graph, const arch::ChipConfig& chip,
                         const PlanOptions& options, const Plan& plan) {
    const uint64_t bytes = weight_bytes(plan, chip);
    return options.use_cmem && graph.chained && bytes != 0 && bytes <= chip.cmem.bytes;
}

void lay_out_cmem(const KernelGraph& graph, const arch::ChipConfig& chip,
                  const PlanOptions& options, const std::vector<Uses>& uses, Plan& plan) {
    for (ValuePlan& value : plan.values) value.in_cmem = value.shares_place = false;
    plan.cmem = {};
    if (!options.use_cmem || options.mode != PlanMode::kSearch || !graph.chained) return;
    CmemLayout(graph, chip, uses, plan).run(room_for_data(chip, options));
}

}  // namespace tandem::compiler
