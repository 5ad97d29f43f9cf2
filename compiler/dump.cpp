// SPDX-License-Identifier: Apache-2.0
#include "compiler/dump.h"

#include "compiler/plan/search.h"

#include <fmt/format.h>

#include <algorithm>

namespace tandem::compiler {

namespace {

std::string text_of(const ImageWindow& w) {
    return fmt::format("{} images {}x{}x{}, kernel {}x{}, stride {}x{}, padding {} {}, out {}x{}",
                       w.images, w.in_h, w.in_w, w.channels, w.kernel_h, w.kernel_w, w.stride_h,
                       w.stride_w, w.pad_top, w.pad_left, w.out_h, w.out_w);
}

std::string text_of(const VectorRef& ref) {
    constexpr std::string_view kTypes[] = {"int8", "int32", "bf16", "fp32"};
    constexpr std::string_view kPlaces[] = {"in", "out", "params", "scratch"};
    return fmt::format("{}{}:{}", kPlaces[static_cast<size_t>(ref.place)], ref.index,
                       kTypes[static_cast<size_t>(ref.view.type)]);
}

/// E.g. "in0:int8, in1:int8 -> map to_float mul_f round -> out0:int8".
std::string text_of(const VectorStep& step) {
    constexpr std::string_view kKinds[] = {"map", "reduce", "lookup", "move"};
    constexpr std::string_view kReductions[] = {"sum", "largest", "smallest", "place of largest"};
    std::string text;
    for (const VectorRef& ref : step.in) text += (text.empty() ? "" : ", ") + text_of(ref);
    text += fmt::format(" -> {}", kKinds[static_cast<size_t>(step.kind)]);
    if (step.kind == VectorStep::Kind::kReduce)
        text += fmt::format(" {}", kReductions[static_cast<size_t>(step.reduction)]);
    for (const arch::ChainStep& link : step.chain.steps)
        text += fmt::format(
            " {}", std::ranges::find(isa::kChainOps, link.op, &isa::ChainOpInfo::op)->name);
    return text + " -> " + text_of(step.out);
}

struct WorkText {
    std::string operator()(const MatmulWork& w) const {
        return fmt::format("matmul of {} group{} k {} n {}, {}{}", w.groups.size(),
                           w.groups.size() == 1 ? "" : "s", w.groups.front().k, w.groups.front().n,
                           text_of(w.window),
                           w.passes == 1 ? "" : fmt::format(", {} passes", w.passes)) +
               (w.weights_per_image ? ", weights of each image" : "");
    }
    std::string operator()(const VectorWork& w) const {
        std::string text = fmt::format("vector, {} lines", w.lines);
        if (w.window) text += ", " + text_of(*w.window);
        for (const VectorStep& step : w.steps) text += "\n  " + text_of(step);
        return text;
    }
    std::string operator()(const EdgeWork&) const { return "edge"; }
    std::string operator()(const AliasWork&) const { return "alias"; }
};

}  // namespace

std::string_view name_of(Way way) {
    switch (way) {
        case Way::kStays:
            return "stays";
        case Way::kWhole:
            return "whole";
        case Way::kChunks:
            return "chunks";
        case Way::kSlices:
            return "slices of K";
        case Way::kWaves:
            return "waves";
    }
    return "";
}

std::string kernels_text(const KernelGraph& graph) {
    std::string text;
    for (size_t v = 0; v < graph.values.size(); ++v)
        text += fmt::format("value %{} '{}' {} bytes{}{}\n", v, graph.values[v].name,
                            graph.values[v].bytes, graph.values[v].is_input ? ", input" : "",
                            graph.values[v].is_output ? ", output" : "");
    for (const Kernel& kernel : graph.kernels) {
        text += fmt::format("kernel #{} {} '{}':", kernel.index, kernel.op, kernel.name);
        for (const ValueId id : kernel.inputs) text += fmt::format(" %{}", id);
        text += fmt::format(" -> %{}: {}{}\n", kernel.output, std::visit(WorkText{}, kernel.work),
                            kernel.repeat == 1 ? "" : fmt::format(", {} times", kernel.repeat));
    }
    return text;
}

std::string plan_text(const Planned& planned) {
    std::string text;
    const Plan& plan = planned.plan;
    for (size_t v = 0; v < plan.values.size(); ++v) {
        const ValuePlan& value = plan.values[v];
        text += fmt::format("value %{} {}\n", v,
                            value.resident
                                ? fmt::format("in the buffer at {}", value.address)
                                : fmt::format("in {} at {}", value.in_cmem ? "CMEM" : "memory",
                                              value.memory_offset));
    }
    if (plan.groups > 1) text += fmt::format("{} groups of samples, each:\n", plan.groups);
    for (const Segment& segment : plan.segments)
        text += fmt::format("kernels {} to {} in {} round{}\n", segment.begin, segment.end - 1,
                            segment.rounds, segment.rounds == 1 ? "" : "s");
    text += fmt::format("predicted cycles {:.0f}\n",
                        predicted_cycles(planned.kernels, planned.chip, plan));
    for (const Kernel& kernel : planned.kernels.kernels)
        if (kernel.matmul() != nullptr && kernel.matmul()->packed_pixels > 1)
            text += fmt::format("kernel #{}: {} pixels in a row, {}\n", kernel.index,
                                kernel.matmul()->packed_pixels, WorkText{}(*kernel.matmul()));
    for (const auto& [k, round] : plan.visits)
        for (uint32_t c = 0; c < plan.cores; ++c) {
            const CorePlan& share = plan.kernels[k].share(c, round);
            if (share.chunks.empty()) continue;
            text += fmt::format(
                "kernel #{} round {} core {}: lines {} to {}, column tiles {} to {}, {} chunk{}, "
                "in {}, out {}, blocks of {} rows on {} array{}{}\n",
                planned.kernels.kernels[k].index, round, c, share.lines.begin, share.lines.end,
                share.tiles.begin, share.tiles.end, share.chunks.size(),
                share.chunks.size() == 1 ? "" : "s", name_of(share.in), name_of(share.out),
                share.dealing.block_rows, share.dealing.arrays,
                share.dealing.arrays == 1 ? "" : "s",
                share.paced ? fmt::format(", {:.0f} cycles expected", share.cycles) : "");
        }
    return text;
}

}  // namespace tandem::compiler
