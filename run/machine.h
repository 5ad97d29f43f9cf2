// SPDX-License-Identifier: Apache-2.0
// A system with everything that watches a run of it; what image and stream runs have in common.
#pragma once

#include <memory>
#include <vector>

#include "cosim/gtkw.h"
#include "cosim/pe_probes.h"
#include "run/chip_probes.h"
#include "run/core_observer.h"
#include "run/engines.h"
#include "run/layer_bytes.h"
#include "run/layer_times.h"
#include "run/requantisers.h"
#include "run/run.h"
#include "run/system.h"
#include "run/timeline.h"

namespace tandem::run {

class Machine {
  public:
    struct Setup {
        SystemOptions system;
        std::vector<RunNode> nodes;
        uint64_t rows_to_inject = 0;  ///< of the first array with RTL, for an injection by seed
    };

    /// `options` must outlive it.
    Machine(const arch::ChipConfig& config, const RunOptions& options, Setup setup);

    System& system() { return *system_; }
    sim::TpuChip& chip() { return system_->chip(); }
    WaveWindow& wave() { return wave_; }
    LayerTimes& layers() { return *layers_; }
    /// Whose first array with RTL is recorded and injected into.
    uint32_t wave_core() const { return options_.rtl_arrays.first().core; }
    Watchers watchers() {
        const auto on_program = [this](sim::Cycle start) { begin_program(start); };
        return {*layers_, *bytes_, timeline_, wave_, on_program, wave_core()};
    }
    /// What runs on a core; null: nothing. Sets its observer.
    void watch(uint32_t core, const ProgramView* view, sim::ChipObserver* observer);
    /// Right before the simulation starts.
    void begin();
    /// Everything but outputs and failures of the program; `runs` of the same program were done.
    void collect(RunResult& result, uint64_t runs);

  private:
    void begin_program(sim::Cycle start);
    bool all_pes() const;
    std::vector<TandemProbe> all_probes();
    cosim::SaveFileRequest save_file(const std::string& wave, uint32_t core);
    void collect_core(uint32_t index, RunResult& result);
    void collect_layers(RunResult& result, uint64_t runs) const;
    void collect_cosim(RunResult& result);
    void collect_divergence(RunResult& result);
    void collect_requantise(RunResult& result);
    void collect_wave(RunResult& result);

    const arch::ChipConfig config_;
    const RunOptions& options_;
    const std::vector<RunNode> nodes_;
    WaveWindow wave_;
    Timeline timeline_;
    Engines engines_;
    Requantisers requantisers_;
    std::unique_ptr<System> system_;
    std::unique_ptr<ChipProbes> probes_;
    std::unique_ptr<LayerTimes> layers_;
    std::unique_ptr<LayerBytes> bytes_;
    cosim::PeProbes pe_probes_;
    std::vector<const ProgramView*> views_;
    bool program_begun_ = false;
};

}  // namespace tandem::run
