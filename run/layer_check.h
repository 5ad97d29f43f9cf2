// SPDX-License-Identifier: Apache-2.0
// Compares the outputs of operators with expected ones, each when it is complete: in unified
// buffers, in device memory or among the outputs in host memory.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "arch/program.h"
#include "run/run_result.h"

namespace tandem::run {

class LayerCheck {
  public:
    using Place = arch::ProgramNode::Place;
    /// What ProgramNode::output_address counts in; `core` of kBuffer.
    using Bytes = std::function<std::span<const uint8_t>(Place place, uint32_t core)>;

    /// `expected`: outputs of all operators of the first sample, in operator order; empty: nothing
    /// is compared. `keep`: kept() has the outputs of the first run. Keeps references.
    LayerCheck(const arch::Program& program, const std::vector<uint8_t>& expected, bool keep,
               Bytes bytes);

    /// Instruction `index` of a core has retired, in the first run. Throws UserError when there are
    /// too few expected bytes.
    void retired(uint32_t core, uint32_t index);

    uint64_t bytes_compared() const { return bytes_compared_; }
    const std::optional<LayerMismatch>& mismatch() const { return mismatch_; }
    /// By node, of the whole batch; empty: nothing computes it.
    const std::vector<std::vector<uint8_t>>& kept() const { return kept_; }

  private:
    struct Completed {
        uint32_t node;
        const arch::NodePart* part;
    };

    void complete(uint32_t node, const arch::NodePart& part);
    void compare(uint32_t node, const arch::NodePart& part);

    const arch::Program& program_;
    const std::vector<uint8_t>& expected_;
    const Bytes bytes_;
    std::vector<std::vector<std::vector<Completed>>> completed_at_;  ///< by core and instruction
    std::vector<size_t> parts_left_;                                 ///< by node
    std::vector<std::vector<uint8_t>> kept_;
    uint64_t bytes_compared_ = 0;
    std::optional<LayerMismatch> mismatch_;
};

}  // namespace tandem::run
