// SPDX-License-Identifier: Apache-2.0
// Listens to a core during a run: ends of layers, timeline, window of the wave. Called for every
// instruction: no look-ups, no memory.
#pragma once

#include <functional>

#include "run/layer_bytes.h"
#include "run/layer_times.h"
#include "run/program_view.h"
#include "run/timeline.h"
#include "run/wave_window.h"
#include "systemc/kernel/chip_services.h"

namespace tandem::run {

/// What all cores' observers share.
struct Watchers {
    LayerTimes& layers;
    LayerBytes& bytes;
    Timeline& timeline;
    WaveWindow& wave;
    std::function<void(sim::Cycle)> on_program;  ///< some core begins with a program
    uint32_t wave_core = 0;                      ///< whose array is recorded
};

class CoreObserver : public sim::ChipObserver {
  public:
    CoreObserver(uint32_t core, const ProgramView& program, const Watchers& watchers)
        : core_(core), program_(program), watchers_(watchers) {}

    void on_program(sim::Cycle start) override { watchers_.on_program(start); }
    void on_start(isa::Unit, uint32_t index, sim::Cycle start) override {
        if (core_ == watchers_.wave_core && watchers_.wave.active())
            watchers_.wave.on_start(index, program_.source(index).node, start);
    }
    void on_retire(isa::Unit unit, uint32_t index, sim::Cycle start, sim::Cycle end) override {
        const arch::InstructionSource source = program_.source(index);
        const int32_t node = source.node;
        watchers_.layers.retired(node, source.round,
                                 unit == isa::Unit::kMxu || unit == isa::Unit::kVector, end);
        if (LayerBytes::moves(unit)) watchers_.bytes.retired(node, program_.words(index));
        if (core_ == watchers_.wave_core && watchers_.wave.active())
            watchers_.wave.on_retire(index, node, end);
        if (watchers_.timeline.open())
            watchers_.timeline.add(core_, unit, index, start, end, program_);
    }

  private:
    const uint32_t core_;
    const ProgramView& program_;
    const Watchers watchers_;
};

}  // namespace tandem::run
