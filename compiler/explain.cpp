// SPDX-License-Identifier: Apache-2.0
#include "compiler/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/dump.h"
#include "compiler/plan/product_grid.h"
#include "compiler/plan/visit_cost.h"

namespace tandem::compiler {

namespace {

std::string plural(uint64_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

uint64_t blocks_in(const BlockGrid& grid) {
    return (grid.tiles - grid.rest()) * grid.blocks + grid.rest() * grid.rest_blocks;
}

/// Blocks of a product, all chunks of a round.
uint64_t blocks_of(const CorePlan& share, const MatmulWork& work, const arch::ChipConfig& chip) {
    uint64_t blocks = 0;
    for (const Chunk& chunk : share.chunks)
        blocks += blocks_in(grid_of(share, chunk.lines.size() * work.window.out_w, chip));
    return blocks;
}

KernelExplanation explain(const Planned& planned, size_t k) {
    const Kernel& kernel = planned.kernels.kernels[k];
    const KernelPlan& plan = planned.plan.kernels[k];
    KernelExplanation e;
    e.index = kernel.index;
    e.op = kernel.op;
    e.name = kernel.name;
    const CorePlan* most = nullptr;
    for (uint32_t core = 0; core < planned.plan.cores; ++core) {
        const CorePlan& share = plan.share(core, 0);
        if (share.chunks.empty()) continue;
        ++e.cores;
        if (most == nullptr || share.chunks.size() > most->chunks.size()) most = &share;
    }
    if (most == nullptr) return e;
    if (e.cores > 1) e.split = most->tiles.size() < plan.tiles.size() ? "columns" : "lines";
    e.rounds = plan.rounds;
    e.chunks = most->chunks.size();
    e.in = name_of(most->in);
    e.out = name_of(most->out);
    e.gathers = most->gathers;
    e.in_cmem = std::ranges::any_of(
        kernel.operands(), [&](const ValueId id) { return planned.plan.values[id].in_cmem; });
    e.out_cmem = planned.plan.values[kernel.output].in_cmem;
    if (const MatmulWork* work = kernel.matmul()) {
        e.pixels = work->packed_pixels;
        e.blocks = blocks_of(*most, *work, planned.chip);
        e.block_rows = most->dealing.block_rows;
        e.arrays = most->dealing.arrays;
    }
    return e;
}

std::string text_of(const KernelExplanation& e) {
    std::string text =
        fmt::format("#{} {} '{}': {}{}", e.index, e.op, e.name,
                    e.pixels == 1 ? "" : fmt::format("packs {} pixels into a row, ", e.pixels),
                    plural(e.cores, "core"));
    if (!e.split.empty()) text += fmt::format(" by {}", e.split);
    if (e.arrays != 0) text += fmt::format(" with {}", plural(e.arrays, "array"));
    if (e.rounds > 1) text += fmt::format(", {} rounds of", e.rounds);
    text += fmt::format("{} {}", e.rounds > 1 ? "" : ",", plural(e.chunks, "chunk"));
    if (e.blocks != 0)
        text +=
            fmt::format(", {} of up to {}", plural(e.blocks, "block"), plural(e.block_rows, "row"));
    text +=
        fmt::format(", in {}{}{}, out {}{}; ", e.in, e.gathers ? " of pixels that are read" : "",
                    e.in_cmem ? " from CMEM" : "", e.out, e.out_cmem ? " to CMEM" : "");
    if (e.cycles != 0) text += fmt::format("{:.0f} cycles expected, ", std::ceil(e.cycles));
    return text +
           fmt::format("at least {:.0f} for {}\n", std::ceil(e.bounds.cycles()), e.bounds.name());
}

}  // namespace

std::vector<KernelExplanation> explain(const Planned& planned) {
    const std::vector<Bounds> bounds = lower_bounds(planned.kernels, planned.plan, planned.chip);
    const std::vector<double> cycles =
        VisitCost(planned.kernels, planned.chip).of_kernels(planned.plan);
    std::vector<KernelExplanation> kernels;
    for (size_t k = 0; k < planned.kernels.kernels.size(); ++k) {
        KernelExplanation e = explain(planned, k);
        if (e.cores == 0) continue;
        e.bounds = bounds[k];
        if (planned.plan.mode == PlanMode::kSearch) e.cycles = cycles[k];
        kernels.push_back(std::move(e));
    }
    return kernels;
}

std::string explanation_text(const std::vector<KernelExplanation>& kernels) {
    std::string text;
    for (const KernelExplanation& kernel : kernels) text += text_of(kernel);
    return text;
}

}  // namespace tandem::compiler
