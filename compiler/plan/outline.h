// SPDX-License-Identifier: Apache-2.0
// What a plan decides of the graph as a whole, before rooms and pieces: who takes part in a kernel,
// and which kernels the batch goes through in rounds.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "compiler/plan/plan.h"

namespace tandem::compiler {

struct Outline {
    /// Cores that share each kernel. The same for all of a segment with rounds, and for all where
    /// there are groups, so that a round's samples are the same ones in all of its kernels.
    std::vector<uint32_t> cores;
    std::vector<Segment> segments;  ///< one after the other, of all kernels; rounds of a group
    uint32_t groups = 1;            ///< of samples, that go through all segments
    std::vector<bool> spilled;      ///< values that go through memory, though they could stay
};

/// All cores, all of the batch at once.
Outline plain_outline(const KernelGraph& graph, uint32_t cores);

/// Samples that the batch can be split into: every kernel's lines and every value's bytes divide
/// evenly into them, and no kernel mixes them. 1: it cannot be split.
uint64_t samples_of(const KernelGraph& graph);

/// The columns of a product, one weight tile wide each.
std::vector<ColumnTile> column_tiles(const MatmulWork& work, const arch::ChipConfig& chip);

/// Shares, columns, segments and visits of an empty plan.
void share_out(const KernelGraph& graph, const arch::ChipConfig& chip, const Outline& outline,
               Plan& plan);

/// The plan with this outline. Throws UserError naming the kernel that has no room.
Plan plan_of(const KernelGraph& graph, const arch::ChipConfig& chip, const PlanOptions& options,
             const Outline& outline);

/// Between which kernels a value, or what belongs to a kernel, lives in the buffer.
struct Uses {
    std::optional<size_t> maker;                     ///< kernel; none: a graph input
    std::vector<std::pair<size_t, size_t>> readers;  ///< kernel and operand
    size_t first = 0, last = 0;
    bool local = false;  ///< made and read in one segment: a round's part is all there is at a time
};
std::vector<Uses> uses_of(const KernelGraph& graph, const std::vector<Segment>& segments);

/// The segment that a kernel belongs to.
const Segment& segment_of(const std::vector<Segment>& segments, size_t kernel);

}  // namespace tandem::compiler
