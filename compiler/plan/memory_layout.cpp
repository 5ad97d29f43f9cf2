// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/memory_layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "compiler/plan/cmem_layout.h"
#include "compiler/plan/tensor_sizes.h"

namespace tandem::compiler {

namespace {

class MemoryLayout {
  public:
    MemoryLayout(const KernelGraph& graph, const arch::ChipConfig& chip, const PlanOptions& options,
                 Plan& plan)
        : graph_(graph), chip_(chip), options_(options), plan_(plan) {}

    /// Parameters, weights, then values that go through device memory or live there.
    void run() {
        lay_out_host();
        find_copies();
        if (lay_out_apart()) return;
        if (!graph_.chained && !graph_.has_data) {
            lay_out_shared();
            return;
        }
        const Kernel& kernel = first_without_memory();
        throw UserError(
            kernel.text +
            fmt::format(": expected weights, parameters and activations of all layers that fit "
                        "into the {} bytes of device memory of {}, found {} bytes needed; {}",
                        chip_.memory.bytes, chip_.name, plan_.memory_bytes + options_.memory_base,
                        tensors_text(graph_, kernel)));
    }

  private:
    size_t kernels() const { return graph_.kernels.size(); }

    uint64_t room_for_data() const { return compiler::room_for_data(chip_, options_); }

    bool lay_out_apart() {
        uint64_t next = plan_.params_bytes;
        uint64_t cmem = room_for_data();  // behind the end of device memory
        for (size_t k = 0; k < kernels(); ++k) {
            uint64_t& at = plan_.weights_in_cmem ? cmem : next;
            at = memory_aligned(at);
            plan_.kernels[k].weight_offset = at;
            at += plan_.kernels[k].data_tiles * chip_.tile_bytes();
        }
        plan_.data_bytes = next;
        for (size_t v = 0; v < graph_.values.size(); ++v) add_value(v, next);
        plan_.memory_bytes = next;
        return next <= room_for_data();
    }

    /// In the order of the kernels, each with its weights and the values that it is the first to
    /// read or write.
    const Kernel& first_without_memory() const {
        uint64_t next = plan_.params_bytes;
        std::vector<bool> counted(graph_.values.size());
        const auto count = [&](ValueId id) {
            if (!counted[id] && lies_in_memory(id)) next += graph_.values[id].bytes;
            counted[id] = true;
        };
        for (size_t k = 0; k < kernels(); ++k) {
            if (!plan_.weights_in_cmem) next += plan_.kernels[k].data_tiles * chip_.tile_bytes();
            std::ranges::for_each(graph_.kernels[k].inputs, count);
            count(graph_.kernels[k].output);
            if (next > room_for_data()) return graph_.kernels[k];
        }
        return graph_.kernels.back();
    }

    bool lies_in_memory(size_t v) const {
        const Value& value = graph_.values[v];
        if ((value.is_input || value.is_output) && value.home == Memory::kDevice) return true;
        if (plan_.values[v].resident || plan_.values[v].in_cmem || value.is_input) return false;
        return !value.is_output || plan_.values[v].copied;
    }

    /// What has gone to the host does not come back from there.
    void find_copies() {
        for (const Kernel& kernel : graph_.kernels)
            for (const ValueId id : kernel.inputs) {
                const Value& value = graph_.values[id];
                if (value.is_output && value.home == Memory::kHost && !kernel.is_alias())
                    plan_.values[id].copied = !plan_.values[id].resident;
            }
    }

    void add_value(size_t v, uint64_t& next) {
        if (!lies_in_memory(v)) return;
        plan_.values[v].memory_offset = next = memory_aligned(next);
        next += graph_.values[v].bytes;
    }

    /// Kernels that have nothing to do with one another do not run at the same time: each may have
    /// the memory for itself, as long as no data have to lie there.
    void lay_out_shared() {
        plan_.memory_bytes = 0;
        for (size_t k = 0; k < kernels(); ++k) {
            uint64_t next = memory_aligned(plan_.params_bytes);
            plan_.kernels[k].weight_offset = next;
            next += plan_.kernels[k].data_tiles * chip_.tile_bytes();
            for (const ValueId id : graph_.kernels[k].inputs) add_value(id, next);
            add_value(graph_.kernels[k].output, next);
            plan_.memory_bytes = std::max(plan_.memory_bytes, next);
            if (next > room_for_data())
                throw UserError(graph_.kernels[k].text +
                                fmt::format(": expected weights and activations that fit into the "
                                            "{} bytes of device memory of {}, found {} bytes; {}",
                                            chip_.memory.bytes, chip_.name, next,
                                            tensors_text(graph_, graph_.kernels[k])));
        }
        plan_.data_bytes = plan_.memory_bytes;
    }

    void lay_out_host() {
        for (const ValueId id : graph_.inputs) {
            if (graph_.values[id].home != Memory::kHost) continue;
            plan_.values[id].host_offset = plan_.host_input_bytes;
            plan_.host_input_bytes += graph_.values[id].bytes;
        }
        for (const ValueId id : graph_.outputs) {
            if (graph_.values[id].home != Memory::kHost) continue;
            plan_.values[id].host_offset = plan_.host_output_bytes;
            plan_.host_output_bytes += graph_.values[id].bytes;
        }
    }

    const KernelGraph& graph_;
    const arch::ChipConfig& chip_;
    const PlanOptions& options_;
    Plan& plan_;
};

}  // namespace

void lay_out_memory(const KernelGraph& graph, const arch::ChipConfig& chip,
                    const PlanOptions& options, Plan& plan) {
    MemoryLayout(graph, chip, options, plan).run();
}

}  // namespace tandem::compiler
