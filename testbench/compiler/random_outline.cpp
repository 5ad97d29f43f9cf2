// SPDX-License-Identifier: Apache-2.0
#include "testbench/compiler/random_outline.h"

#include <algorithm>
#include <random>

namespace tandem::testbench {

compiler::Outline random_outline(const compiler::KernelGraph& graph, uint32_t cores,
                                 uint32_t seed) {
    std::mt19937 random(seed);
    const auto pick = [&](uint64_t low, uint64_t high) {
        return low + static_cast<uint64_t>(random()) % (high - low + 1);
    };
    const auto most = static_cast<uint32_t>(pick(1, cores));
    compiler::Outline outline = compiler::plain_outline(graph, most);
    const uint64_t samples = compiler::samples_of(graph);
    if (pick(0, 2) == 0)
        outline.groups = static_cast<uint32_t>(pick(1, std::clamp<uint64_t>(samples / most, 1, 4)));
    const auto rounds = [&] {
        return static_cast<uint32_t>(
            pick(1, std::clamp<uint64_t>(samples / most / outline.groups, 1, 6)));
    };
    outline.segments = {{0, graph.kernels.size(), rounds()}};
    for (size_t k = 1; k < graph.kernels.size(); ++k) {
        // Edges and aliases belong to the kernel before them.
        if (graph.kernels[k].is_edge() || graph.kernels[k].is_alias() || pick(0, 2) != 0) continue;
        outline.segments.back().end = k;
        outline.segments.push_back({k, graph.kernels.size(), rounds()});
    }
    // Now and then other cores from segment to segment, or from kernel to kernel.
    if (outline.groups == 1 && pick(0, 3) == 0)
        for (const compiler::Segment& segment : outline.segments) {
            auto count = static_cast<uint32_t>(pick(1, most));
            for (size_t k = segment.begin; k < segment.end; ++k) {
                if (segment.rounds == 1) count = static_cast<uint32_t>(pick(1, most));
                outline.cores[k] = count;
            }
        }
    for (size_t v = 0; v < outline.spilled.size(); ++v) outline.spilled[v] = pick(0, 5) == 0;
    return outline;
}

}  // namespace tandem::testbench
