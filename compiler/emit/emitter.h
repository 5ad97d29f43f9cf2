// SPDX-License-Identifier: Apache-2.0
// A planned graph as steps, flags not yet set: kernel by kernel, the cores in turns, so that all
// steps stand in one order in which nothing needs what comes later.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "compiler/emit/core_emitter.h"
#include "compiler/emit/matmul_emitter.h"
#include "compiler/emit/vector_emitter.h"

namespace tandem::compiler {

class Emitter {
  public:
    /// Keeps references.
    Emitter(const KernelGraph& graph, const Plan& plan, const arch::ChipConfig& chip,
            const CoreEmitter::Add& add);

    /// Emits some more steps; false: the program is complete, every core's ends with halt.
    /// Throws UserError, naming the kernel, for sizes that an instruction cannot express.
    bool advance();
    /// Waves and pieces of the whole program on the first core.
    uint64_t work() const;
    uint64_t work_done() const { return work_done_; }

  private:
    using Work = std::variant<std::monostate, MatmulEmitter, VectorEmitter>;

    const Kernel& kernel() const { return graph_.kernels[visit().kernel]; }
    const Visit& visit() const { return plan_.visits[visit_]; }
    int32_t node() const { return static_cast<int32_t>(visit().kernel); }
    void begin();
    void begin(CoreEmitter& core);
    void end();
    void end(CoreEmitter& core);
    bool waits_for(ValueId input) const;
    std::optional<Visit> next_work() const;
    void edge(CoreEmitter& core);
    bool emit_some();
    bool has_work(const CoreEmitter& core) const;

    const KernelGraph& graph_;
    const Plan& plan_;
    std::vector<std::unique_ptr<CoreEmitter>> cores_;
    std::vector<Work> work_;
    size_t visit_ = 0;  ///< among the plan's
    uint64_t repeat_ = 0;
    bool begun_ = false, started_ = false, halted_ = false;
    uint64_t work_done_ = 0;
};

}  // namespace tandem::compiler
