// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/visit_cost.h"

#include <algorithm>

#include "arch/vector_rules.h"

namespace tandem::compiler {

namespace {

constexpr double kPicoseconds = 1e12;

}  // namespace

VisitCost::VisitCost(const KernelGraph& graph, const arch::ChipConfig& chip)
    : graph_(graph),
      chip_(chip),
      clock_(static_cast<double>(chip.clock_hz)),
      launch_(static_cast<double>(chip.cycles_in(chip.sequencer.kernel_launch_ps))),
      sync_(chip.sequencer.layer_sync ? static_cast<double>(chip.sync_cycles()) : 0) {}

double VisitCost::host_bytes(const Plan& plan) const {
    uint64_t values = 0, moved = 0;
    for (const ValueId id : graph_.inputs) {
        if (graph_.values[id].home != Memory::kHost) continue;
        values += graph_.values[id].bytes;
        for (const Range& part : plan.values[id].parts) moved += part.size();
    }
    const auto bytes = static_cast<double>(moved);
    return graph_.host_input_bytes == 0 || values == 0
               ? bytes
               : bytes * static_cast<double>(graph_.host_input_bytes) / static_cast<double>(values);
}

double VisitCost::memory_cycles(uint64_t bytes) const {
    return static_cast<double>(bytes) /
           static_cast<double>(chip_.memory.usable_bytes_per_second()) * clock_;
}

double VisitCost::memory_latency() const {
    return static_cast<double>(chip_.memory.latency_ps) / kPicoseconds * clock_;
}

double VisitCost::cmem_cycles(uint64_t bytes) const {
    return bytes == 0 ? 0
                      : static_cast<double>(bytes) /
                            static_cast<double>(chip_.cmem.bytes_per_second) * clock_;
}

double VisitCost::with_host(const Plan& plan, double cycles, double first, uint32_t rounds) const {
    const double bytes = host_bytes(plan);
    if (bytes == 0) return cycles;
    const uint32_t groups = plan.groups;
    const double latency = static_cast<double>(chip_.host.latency_ps) / kPicoseconds * clock_;
    const double transfer =
        bytes / static_cast<double>(chip_.host.bytes_per_second) * clock_ / (rounds * groups);
    const double round_cycles = cycles / (rounds * groups),
                 first_cycles = first / (rounds * groups);
    double arrived = latency, done = 0;
    for (uint32_t round = 0; round < rounds; ++round) {
        arrived += transfer;
        // The first kernel begins with the first of its input.
        done = std::max(done + round_cycles, arrived + round_cycles - first_cycles);
    }
    return done * groups;
}

double VisitCost::of_vector(const Plan& plan, const Kernel& kernel, const CorePlan& share,
                            double sharing) const {
    double cycles = 0;
    for (const VectorStep& step : kernel.vector()->steps) {
        double elements = static_cast<double>(share.lines.size());
        for (size_t axis = 1; axis < arch::kVectorAxes; ++axis)
            elements *= static_cast<double>(step.shape[axis]);
        const double passes =
            chip_.vector.fixed_pipeline ? 1 : static_cast<double>(step.chain.steps.size() + 1);
        cycles += elements / chip_.vector.lanes * passes + chip_.vector.latency_cycles;
    }
    uint64_t memory = 0, cmem = 0;
    const auto at = [&](ValueId id) -> uint64_t& {
        return plan.values[id].in_cmem ? cmem : memory;
    };
    for (size_t i = 0; share.in != Way::kStays && i < kernel.inputs.size(); ++i)
        at(kernel.inputs[i]) += operand_of_lines(kernel, graph_, i, share.lines).size();
    if (share.out != Way::kStays)
        at(kernel.output) += output_of_lines(kernel, graph_, share.lines).size();
    return std::max({cycles, memory_cycles(memory) * sharing, cmem_cycles(cmem) * sharing});
}

double VisitCost::of_visit(const Plan& plan, const Visit& visit) const {
    const Kernel& kernel = graph_.kernels[visit.kernel];
    if (kernel.is_alias() || kernel.is_edge()) return 0;
    double most = 0, sharing = 0;
    for (uint32_t core = 0; core < plan.cores; ++core)
        sharing += plan.kernels[visit.kernel].share(core, visit.round).chunks.empty() ? 0 : 1;
    for (uint32_t core = 0; core < plan.cores; ++core) {
        const CorePlan& share = plan.kernels[visit.kernel].share(core, visit.round);
        if (share.chunks.empty()) continue;
        most = std::max(most, kernel.matmul() != nullptr ? share.cycles
                                                         : of_vector(plan, kernel, share, sharing));
    }
    if (most == 0) return 0;
    return (most + launch_ + sync_) * static_cast<double>(kernel.repeat);
}

std::vector<double> VisitCost::of_kernels(const Plan& plan) const {
    std::vector<double> cycles(graph_.kernels.size());
    for (const Visit& visit : plan.visits) cycles[visit.kernel] += of_visit(plan, visit);
    return cycles;
}

double VisitCost::of_plan(const Plan& plan, const std::vector<double>& kernels) const {
    double cycles = 0;
    for (const Segment& segment : plan.segments) {
        double own = 0;
        for (size_t k = segment.begin; k < segment.end; ++k) own += kernels[k];
        const bool first = segment.begin == 0;
        cycles += first ? with_host(plan, own, kernels[0], segment.rounds) : own;
    }
    return cycles + static_cast<double>(chip_.cycles_in(chip_.sequencer.program_launch_ps));
}

}  // namespace tandem::compiler
