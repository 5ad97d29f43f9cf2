// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/outline.h"

#include <algorithm>
#include <numeric>

#include "base/divide.h"

namespace tandem::compiler {

namespace {

class Sharing {
  public:
    Sharing(const KernelGraph& graph, const arch::ChipConfig& chip, const Outline& outline,
            Plan& plan)
        : graph_(graph), chip_(chip), outline_(outline), plan_(plan), samples_(samples_of(graph)) {}

    void run() {
        plan_.segments = outline_.segments;
        plan_.groups = outline_.groups;
        for (uint32_t group = 0; group < outline_.groups; ++group)
            for (const Segment& segment : outline_.segments) add_visits(group, segment);
        makers_.assign(graph_.values.size(), nullptr);
        for (const Kernel& kernel : graph_.kernels)
            if (!kernel.is_alias()) makers_[kernel.output] = &kernel;
        for (size_t k = 0; k < graph_.kernels.size(); ++k) share_out(k);
    }

  private:
    void add_visits(uint32_t group, const Segment& segment) {
        for (uint32_t round = 0; round < segment.rounds; ++round)
            for (size_t k = segment.begin; k < segment.end; ++k)
                plan_.visits.push_back({static_cast<uint32_t>(k), group * segment.rounds + round});
    }

    void share_out(size_t k) {
        const Kernel& kernel = graph_.kernels[k];
        KernelPlan& plan = plan_.kernels[k];
        plan.rounds = outline_.groups * segment_of(outline_.segments, k).rounds;
        plan.cores.resize(size_t{plan_.cores} * plan.rounds);
        if (kernel.is_alias() || kernel.is_edge()) return;
        cut_columns(kernel, plan);
        const uint64_t lines = lines_of(kernel);
        cores_ = outline_.cores[k];
        const bool columns = plan.rounds == 1 && splits_columns(kernel, plan);
        for (uint32_t round = 0; round < plan.rounds; ++round)
            for (uint32_t c = 0; c < cores_; ++c) {
                CorePlan& share = plan.cores[round * plan_.cores + c];
                share.tiles = {0, plan.tiles.size()};
                share.lines = {0, lines};
                if (columns)
                    share.tiles = {base::part_begin(plan.tiles.size(), cores_, c),
                                   base::part_begin(plan.tiles.size(), cores_, c + 1)};
                else if (plan.rounds == 1)
                    share.lines = lines_of_core(kernel, lines, c);
                else
                    share.lines = lines_of_round(lines, c, round, plan.rounds);
            }
    }

    void cut_columns(const Kernel& kernel, KernelPlan& plan) const {
        const MatmulWork* work = kernel.matmul();
        if (work == nullptr) return;
        plan.tiles = column_tiles(*work, chip_);
        plan.data_tiles = work->weights_per_image ? 0 : tiles_of(plan);
    }

    /// Splitting lines, every core fetches all weights; splitting columns, it reads all lines.
    bool splits_columns(const Kernel& kernel, const KernelPlan& plan) const {
        const MatmulWork* work = kernel.matmul();
        if (cores_ == 1 || work == nullptr || plan.tiles.size() < 2) return false;
        // Weights per image: nobody fetches those of other images.
        if (work->weights_per_image && work->window.images >= cores_) return false;
        uint64_t weights = 0;
        for (const MatmulGroup& group : work->groups) weights += uint64_t{group.k} * group.n;
        return work->window.rows() < cores_ || weights > work->window.images * work->window.in_h *
                                                             work->window.in_w *
                                                             work->window.channels;
    }

    /// Whole images where there are enough of them, so that no core reads another one's.
    Range lines_of_core(const Kernel& kernel, uint64_t lines, uint32_t core) const {
        uint64_t unit = 1;
        if (const ImageWindow* window = kernel.window()) unit = window->out_h;
        if (unit == 1 && kernel.matmul() == nullptr) unit = elements_of_image(kernel, lines);
        if (lines / unit < cores_) unit = 1;
        const uint64_t count = lines / unit;
        return {base::part_begin(count, cores_, core) * unit,
                base::part_begin(count, cores_, core + 1) * unit};
    }

    /// Elementwise kernels are shared out like the tensor's first dimension.
    uint64_t elements_of_image(const Kernel& kernel, uint64_t lines) const {
        const Kernel* maker = makers_[kernel.inputs[0]];
        if (maker == nullptr) return 1;
        const MatmulWork* work = maker->matmul();
        const uint64_t images = work == nullptr ? 0 : work->window.images;
        return images != 0 && lines % images == 0 ? lines / images : 1;
    }

    /// Some of the samples of a core, which are those that it has without rounds.
    Range lines_of_round(uint64_t lines, uint32_t core, uint32_t round, uint32_t rounds) const {
        const uint64_t begin = base::part_begin(samples_, cores_, core);
        const uint64_t count = base::part(samples_, cores_, core), sample = lines / samples_;
        return {(begin + base::part_begin(count, rounds, round)) * sample,
                (begin + base::part_begin(count, rounds, round + 1)) * sample};
    }

    const KernelGraph& graph_;
    const arch::ChipConfig& chip_;
    const Outline& outline_;
    Plan& plan_;
    const uint64_t samples_;
    uint32_t cores_ = 1;  ///< of the kernel at hand
    std::vector<const Kernel*> makers_;
};

}  // namespace

Outline plain_outline(const KernelGraph& graph, uint32_t cores) {
    Outline outline;
    outline.cores.assign(graph.kernels.size(), cores);
    outline.segments = {{0, graph.kernels.size(), 1}};
    outline.spilled.assign(graph.values.size(), false);
    return outline;
}

uint64_t samples_of(const KernelGraph& graph) {
    uint64_t samples = 0;
    for (const Kernel& kernel : graph.kernels) {
        if (kernel.repeat != 1) return 1;
        if (kernel.is_alias() || kernel.is_edge()) continue;
        if (kernel.matmul() != nullptr && kernel.matmul()->weights_per_image) return 1;
        const ImageWindow* window = kernel.window();
        samples = std::gcd(samples, window != nullptr ? window->images : lines_of(kernel));
    }
    if (samples == 0) return 1;
    for (const Value& value : graph.values) samples = std::gcd(samples, value.bytes);
    for (const Kernel& kernel : graph.kernels) {
        if (kernel.is_alias() || kernel.is_edge()) continue;
        const uint64_t lines = lines_of(kernel) / samples;
        // What a sample's lines read and write has to be the sample's.
        for (size_t i = 0; i < kernel.operands().size(); ++i) {
            const uint64_t bytes = graph.values[kernel.inputs[i]].bytes / samples;
            if (operand_of_lines(kernel, graph, i, {lines, 2 * lines}) != Range{bytes, 2 * bytes})
                return 1;
        }
        const uint64_t bytes = graph.values[kernel.output].bytes / samples;
        if (output_of_lines(kernel, graph, {lines, 2 * lines}) != Range{bytes, 2 * bytes}) return 1;
    }
    return samples;
}

std::vector<ColumnTile> column_tiles(const MatmulWork& work, const arch::ChipConfig& chip) {
    std::vector<ColumnTile> tiles;
    uint32_t next = 0;
    for (uint32_t g = 0; g < work.groups.size(); ++g) {
        const MatmulGroup& group = work.groups[g];
        const auto k_tiles = static_cast<uint32_t>(base::divide_up(group.k, chip.mxu.rows));
        for (uint32_t n = 0; n < group.n; n += chip.mxu.cols) {
            tiles.push_back({g, n, std::min(chip.mxu.cols, group.n - n), next, k_tiles});
            next += k_tiles;
        }
    }
    return tiles;
}

void share_out(const KernelGraph& graph, const arch::ChipConfig& chip, const Outline& outline,
               Plan& plan) {
    Sharing(graph, chip, outline, plan).run();
}

const Segment& segment_of(const std::vector<Segment>& segments, size_t kernel) {
    return *std::ranges::find_if(segments, [&](const Segment& s) { return kernel < s.end; });
}

std::vector<Uses> uses_of(const KernelGraph& graph, const std::vector<Segment>& segments) {
    std::vector<Uses> all(graph.values.size());
    for (size_t k = 0; k < graph.kernels.size(); ++k) {
        const Kernel& kernel = graph.kernels[k];
        for (size_t i = 0; i < kernel.inputs.size(); ++i)
            all[kernel.inputs[i]].readers.push_back({k, i});
        // An alias is no maker: its value is its input.
        if (!kernel.is_alias()) all[kernel.output].maker = k;
    }
    for (size_t v = 0; v < all.size(); ++v) {
        Uses& uses = all[v];
        const Value& value = graph.values[v];
        uses.first = uses.last = uses.maker.value_or(0);
        for (const auto& [k, i] : uses.readers) uses.last = std::max(uses.last, k);
        if (!uses.maker && !uses.readers.empty()) uses.first = uses.readers.front().first;
        const Segment& segment = segment_of(segments, uses.first);
        uses.local = segment.rounds > 1 && uses.last < segment.end;
        if (!uses.local) {
            // Rounds come back to it.
            if (segment.rounds > 1) uses.first = segment.begin;
            const Segment& end = segment_of(segments, uses.last);
            if (end.rounds > 1) uses.last = end.end - 1;
        }
        // Inputs of the next rounds come while this one runs; what the host gives is on its way
        // from the start.
        if (value.is_input && uses.local) {
            uses.first = segment.begin;
            uses.last = segment.end - 1;
        }
        if (value.is_input && value.home == Memory::kHost) uses.first = 0;
    }
    return all;
}

}  // namespace tandem::compiler
