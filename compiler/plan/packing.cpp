// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/packing.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "arch/numerics.h"
#include "base/divide.h"
#include "base/error.h"
#include "compiler/plan/outline.h"
#include "compiler/plan/visit_cost.h"

namespace tandem::compiler {

namespace {

using base::divide_up;

/// What packing has to gain: about the closed form's error (docs/plans.md).
constexpr double kMargin = 0.05;
/// Channels that an instruction's window can read.
constexpr uint64_t kWidest = 65535;

bool is_packable(const MatmulWork& work) {
    return work.window.one_to_one() && work.window.element_bytes == 1 &&
           work.out_element_bytes == 1 && work.passes == 1 && !work.weights_per_image &&
           work.groups.size() == 1 && work.packed_pixels == 1;
}

bool rows_are_images(const ImageWindow& window) { return window.out_w == 1 && window.out_h == 1; }

uint64_t weight_tiles(const MatmulGroup& group, uint64_t pixels, const arch::ChipConfig& chip) {
    return divide_up(group.k * pixels, chip.mxu.rows) * divide_up(group.n * pixels, chip.mxu.cols);
}

/// `count` copies of a k x n matrix along the diagonal, zeros elsewhere.
std::vector<uint8_t> block_diagonal(const MatmulGroup& group, size_t count) {
    const size_t n = group.n, wide = n * count;
    std::vector<uint8_t> all(group.weights.size() * count * count);
    for (size_t copy = 0; copy < count; ++copy)
        for (size_t k = 0; k < group.k; ++k)
            std::memcpy(all.data() + (copy * group.k + k) * wide + copy * n,
                        group.weights.data() + k * n, n);
    return all;
}

class Packer {
  public:
    Packer(KernelGraph& graph, const arch::ChipConfig& chip, const PlanOptions& options,
           SearchedPlan plain)
        : graph_(graph),
          chip_(chip),
          options_(options),
          plain_(std::move(plain)),
          cost_(graph, chip),
          cycles_(cost_.of_kernels(plain_.plan)) {}

    Plan run() {
        find_candidates();
        while (!candidates_.empty()) {
            std::optional<Plan> packed = plan();
            if (!packed) break;
            const std::vector<double> cycles = cost_.of_kernels(*packed);
            if (give_up(cycles)) continue;
            if (cost_.of_plan(*packed, cycles) >= cost_.of_plan(plain_.plan, cycles_)) break;
            return std::move(*packed);
        }
        for (Candidate& candidate : candidates_) unpack(candidate);
        return std::move(plain_.plan);
    }

  private:
    struct Candidate {
        size_t kernel;
        Kernel plain;
    };

    void find_candidates() {
        const auto in_rounds = [](const KernelPlan& kernel) { return kernel.rounds > 1; };
        // What a round takes are samples.
        const uint64_t parts = std::ranges::any_of(plain_.plan.kernels, in_rounds)
                                   ? samples_of(graph_)
                                   : options_.cores;
        for (size_t k = 0; k < graph_.kernels.size(); ++k) {
            Kernel& kernel = graph_.kernels[k];
            std::vector<uint32_t> all = pixels_per_row(kernel, chip_, parts);
            if (all.size() == 1) continue;
            if (waits_for_host(kernel))
                std::erase_if(all, [&](uint32_t pixels) { return more_columns(kernel, pixels); });
            const auto cycles = [&](uint32_t pixels) { return array_cycles(k, pixels); };
            const uint32_t pixels = *std::ranges::min_element(all, {}, cycles);
            if (pixels == 1) continue;
            candidates_.push_back({k, kernel});
            pack(kernel, pixels, chip_);
        }
    }

    /// What the host gives comes row by row: only the first column tile is done when it is there.
    bool waits_for_host(const Kernel& kernel) const {
        const Value& value = graph_.values[kernel.inputs[0]];
        return value.is_input && value.home == Memory::kHost;
    }
    bool more_columns(const Kernel& kernel, uint32_t pixels) const {
        const uint64_t n = kernel.matmul()->groups.front().n;
        return divide_up(n * pixels, chip_.mxu.cols) > divide_up(n, chip_.mxu.cols);
    }

    /// Cycles of a round on the first core: each row takes its cycle, each tile its way into the
    /// array.
    uint64_t array_cycles(size_t k, uint64_t pixels) const {
        const MatmulWork& work = *graph_.kernels[k].matmul();
        const uint64_t rows =
            plain_.plan.kernels[k].share(0, 0).lines.size() * work.window.out_w / pixels;
        return weight_tiles(work.groups.front(), pixels, chip_) *
               std::max<uint64_t>(divide_up(rows, chip_.mxu.count), chip_.mxu.rows + 1);
    }

    /// None: it does not fit.
    std::optional<Plan> plan() const {
        try {
            return plan_of(graph_, chip_, options_, plain_.outline);
        } catch (const UserError&) {
            return std::nullopt;
        }
    }

    /// Drops the candidates that gain too little; false: there are none.
    bool give_up(const std::vector<double>& packed) {
        std::vector<Candidate> kept;
        for (Candidate& candidate : candidates_) {
            const size_t k = candidate.kernel;
            if (packed[k] < cycles_[k] * (1 - kMargin))
                kept.push_back(std::move(candidate));
            else
                unpack(candidate);
        }
        std::swap(candidates_, kept);
        return candidates_.size() != kept.size();
    }

    void unpack(Candidate& candidate) {
        graph_.kernels[candidate.kernel] = std::move(candidate.plain);
    }

    KernelGraph& graph_;
    const arch::ChipConfig& chip_;
    const PlanOptions& options_;
    SearchedPlan plain_;
    const VisitCost cost_;
    const std::vector<double> cycles_;  ///< of each kernel, nothing packed
    std::vector<Candidate> candidates_;
};

}  // namespace

std::vector<uint32_t> pixels_per_row(const Kernel& kernel, const arch::ChipConfig& chip,
                                     uint64_t parts) {
    std::vector<uint32_t> all{1};
    const MatmulWork* work = kernel.matmul();
    if (work == nullptr || !is_packable(*work)) return all;
    const ImageWindow& window = work->window;
    const bool by_images = rows_are_images(window);
    const uint64_t pixels = by_images ? window.images : window.out_w;
    const uint64_t unit = by_images ? parts : 1;
    const MatmulGroup& group = work->groups.front();
    // No more than one p-th of a block-diagonal matrix is used, and it has to be more of its tiles
    // than without packing.
    const uint64_t area = uint64_t{chip.mxu.rows} * chip.mxu.cols;
    const uint64_t end =
        divide_up(weight_tiles(group, 1, chip) * area, uint64_t{group.k} * group.n);
    const uint64_t most = std::min(pixels, kWidest / std::max(group.k, group.n));
    for (uint64_t p = 2; p < end && p <= most; ++p)
        if (pixels % (p * unit) == 0) all.push_back(static_cast<uint32_t>(p));
    return all;
}

void pack(Kernel& kernel, uint32_t pixels, const arch::ChipConfig& chip) {
    auto& work = std::get<MatmulWork>(kernel.work);
    MatmulGroup& group = work.groups.front();
    if (!group.weights.empty()) group.weights = block_diagonal(group, pixels);
    group.channels *= pixels;
    group.k *= pixels;
    group.n *= pixels;
    ImageWindow& window = work.window;
    window.channels *= pixels;
    if (rows_are_images(window)) {
        window.images /= pixels;
    } else {
        window.in_w /= pixels;
        window.out_w /= pixels;
    }
    work.out_channels *= pixels;
    work.packed_pixels = pixels;
    const uint64_t channels =
        kernel.params_uniform ? std::min(work.out_channels, chip.mxu.cols) : work.out_channels;
    kernel.params_bytes = channels * sizeof(numerics::ChannelParams);
    if (kernel.params.empty()) return;
    // The same for each pixel.
    std::vector<uint8_t> all(kernel.params_bytes);
    for (size_t at = 0; at < all.size(); ++at) all[at] = kernel.params[at % kernel.params.size()];
    kernel.params = std::move(all);
}

Plan pack_narrow(KernelGraph& graph, const arch::ChipConfig& chip, const PlanOptions& options,
                 SearchedPlan plain) {
    return Packer(graph, chip, options, std::move(plain)).run();
}

void pack_all(KernelGraph& graph, const arch::ChipConfig& chip, uint32_t cores, uint64_t way) {
    for (Kernel& kernel : graph.kernels) {
        const std::vector<uint32_t> all = pixels_per_row(kernel, chip, cores);
        if (all.size() > 1) pack(kernel, all[way % all.size()], chip);
    }
}

}  // namespace tandem::compiler
