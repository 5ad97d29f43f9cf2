// SPDX-License-Identifier: Apache-2.0
// Listens to a core that runs an image: what all cores' observers do, progress, the ends of runs,
// and the outputs of layers.
#pragma once

#include "run/core_observer.h"
#include "run/layer_check.h"
#include "run/run.h"

namespace tandem::run {

/// What the observers of all cores share. A run ends when the last of its cores has halted.
class ImageProgress {
  public:
    ImageProgress(const ImageJob& job, const RunOptions& options, LayerTimes& layers,
                  LayerCheck& check)
        : program_(job.program),
          options_(options),
          layers_(layers),
          check_(check),
          total_(arch::instructions_of(job.program) * job.runs) {}

    void retired(uint32_t core, uint32_t index, sim::Cycle end) {
        if (options_.progress) options_.progress(++retired_, total_);
        const auto& code = program_.cores[core].instructions;
        if (index >= code.size()) return;
        if (first_run_) check_.retired(core, index);
        if (isa::opcode_of(code[index]) != static_cast<uint32_t>(isa::Opcode::kHalt)) return;
        if (++halted_ < program_.cores.size()) return;
        halted_ = 0;
        first_run_ = false;
        layers_.finish_run(end);
    }

  private:
    const arch::Program& program_;
    const RunOptions& options_;
    LayerTimes& layers_;
    LayerCheck& check_;
    const uint64_t total_;
    uint64_t retired_ = 0;
    size_t halted_ = 0;
    bool first_run_ = true;
};

class ImageObserver final : public CoreObserver {
  public:
    ImageObserver(uint32_t core, const arch::CoreProgram& program, const Watchers& watchers,
                  ImageProgress& progress)
        : CoreObserver(core, view_, watchers), core_(core), view_(program), progress_(progress) {}

    void on_retire(isa::Unit unit, uint32_t index, sim::Cycle start, sim::Cycle end) override {
        CoreObserver::on_retire(unit, index, start, end);
        progress_.retired(core_, index, end);
    }
    const ProgramView& view() const { return view_; }

  private:
    const uint32_t core_;
    const ImageView view_;
    ImageProgress& progress_;
};

}  // namespace tandem::run
