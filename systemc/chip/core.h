// SPDX-License-Identifier: Apache-2.0
// One core of a chip: a sequencer, its units, its arrays and its unified buffer. The cores of a
// chip share device memory and the host bus.
#pragma once

#include <memory>
#include <vector>

#include "systemc/dma/dma_engine.h"
#include "systemc/host_interface/host_link.h"
#include "systemc/kernel/connect.h"
#include "systemc/memory/device_memory.h"
#include "systemc/memory/unified_buffer.h"
#include "systemc/mxu/mxu.h"
#include "systemc/sequencer/sequencer.h"
#include "systemc/sequencer/shared_paths.h"
#include "systemc/vector/vector_unit.h"
#include "systemc/weights/weight_fetcher.h"

namespace tandem::sim {

class Core : public sc_core::sc_module {
  public:
    using Engines = std::vector<std::unique_ptr<engine::MxuEngine>>;
    using Requantisers = VectorUnit::Requantisers;

    /// One array for each engine, and a requantiser for each of these. Loosely timed with `paths`:
    /// functional, and with engines that know their next event.
    Core(sc_core::sc_module_name name, uint32_t index, const arch::ChipConfig& config,
         bool functional, SharedPaths* paths, DeviceMemory& memory, HostLink& link, Engines engines,
         Requantisers requantisers, const Connect& connect = {});

    ChipServices& services() { return services_; }
    UnifiedBuffer& unified_buffer() { return unified_buffer_; }
    Mxu& mxu(size_t array = 0) { return *mxus_[array]; }
    WeightFetcher& weights(size_t array = 0) { return *weights_[array]; }
    size_t arrays() const { return mxus_.size(); }
    Sequencer& sequencer() { return *sequencer_; }
    /// The units with queues: dma_in, dma_out, then weights and mxu of each array, vector.
    const std::vector<Unit*>& units() const { return units_; }

  private:
    std::vector<Mxu*> mxu_pointers() const;
    std::vector<Unit*> all_units();

    ChipServices services_;
    UnifiedBuffer unified_buffer_;
    std::vector<std::unique_ptr<Mxu>> mxus_;
    std::vector<std::unique_ptr<WeightFetcher>> weights_;
    VectorUnit vector_;
    DmaEngine dma_in_;
    DmaEngine dma_out_;
    std::vector<Unit*> units_;
    std::unique_ptr<Sequencer> sequencer_;
};

}  // namespace tandem::sim
