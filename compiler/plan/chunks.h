// SPDX-License-Identifier: Apache-2.0
// Lines of a kernel as chunks, each of which one window describes.
#pragma once

#include "compiler/plan/plan.h"

namespace tandem::compiler {

class ChunkMaker {
  public:
    /// Keeps references. A product may see its input gathered.
    ChunkMaker(const Kernel& kernel, const KernelGraph& graph, bool gathers = false)
        : kernel_(kernel), graph_(graph) {
        if (gathers) gathered_ = kernel.matmul()->window.gathered();
    }

    uint64_t lines_per_image() const {
        return kernel_.window() != nullptr ? kernel_.window()->out_h : 1;
    }
    /// A chunk has rows of one image at most: each has weights of its own.
    bool one_image() const {
        return kernel_.matmul() != nullptr && kernel_.matmul()->weights_per_image;
    }
    /// Whether a product is fed by slices: some columns of the operand, for all rows, are some of
    /// its K.
    bool has_slices() const;
    Range input(const Range& lines) const {
        return gathered_ ? input_of_lines(*gathered_, lines)
                         : operand_of_lines(kernel_, graph_, 0, lines);
    }

    /// No chunk is longer than `most` lines; each is of whole images or lies inside of one.
    std::vector<Chunk> chunks(const Range& lines, uint64_t most) const;

    /// An upper bound of what a chunk of so many lines reads of an operand, wherever it begins.
    uint64_t largest_input(uint64_t lines, size_t operand = 0) const;

  private:
    const Kernel& kernel_;
    const KernelGraph& graph_;
    std::optional<ImageWindow> gathered_;
};

}  // namespace tandem::compiler
