// SPDX-License-Identifier: Apache-2.0
// A planned graph as one program for each core, made while it runs: its length costs no memory.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "arch/program_source.h"
#include "compiler/emit/emitter.h"
#include "compiler/pipeline.h"
#include "compiler/sync/synchroniser.h"

namespace tandem::compiler {

class StreamedProgram {
  public:
    explicit StreamedProgram(Planned planned);
    ~StreamedProgram();

    const Planned& planned() const { return planned_; }
    size_t cores() const { return cores_.size(); }
    /// The program of a core; lives as long as this.
    arch::ProgramSource& core(size_t index);

    /// Told, whenever waves or pieces have been made, how many on the first core, and of how many.
    void set_progress(std::function<void(uint64_t done, uint64_t total)> progress);

  private:
    class Source;

    /// Makes more instructions; false: there are none.
    bool make_more();

    const Planned planned_;
    std::vector<std::unique_ptr<Source>> cores_;
    Synchroniser synchroniser_;
    Emitter emitter_;
    bool finished_ = false;
    std::function<void(uint64_t, uint64_t)> progress_;
    uint64_t total_ = 0;
};

}  // namespace tandem::compiler
