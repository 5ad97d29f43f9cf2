// SPDX-License-Identifier: Apache-2.0
// One TPU chip: puts the units together and names what the outside may touch. See systemc/README.md
// for the block diagram.
#pragma once

#include <memory>
#include <vector>

#include "systemc/dma/dma_engine.h"
#include "systemc/host_interface/host_interface.h"
#include "systemc/host_interface/host_link.h"
#include "systemc/memory/device_memory.h"
#include "systemc/memory/unified_buffer.h"
#include "systemc/mxu/mxu.h"
#include "systemc/sequencer/sequencer.h"
#include "systemc/vector/vector_unit.h"
#include "systemc/weights/weight_fetcher.h"

namespace tandem::sim {

struct ChipOptions {
    bool functional = true;  ///< false: time only
};

class TpuChip : public sc_core::sc_module {
  public:
    /// The engine's shape must be that of the configuration.
    TpuChip(sc_core::sc_module_name name, const arch::ChipConfig& config,
            const ChipOptions& options, std::unique_ptr<mxu::MxuEngine> engine);

    // To the outside: bind registers and host memory, connect the interrupt.
    auto& registers_in() { return host_interface_.registers_in; }
    auto& host_out() { return link_.host.memory_out; }
    auto& irq_out() { return host_interface_.irq_out; }

    ChipServices& services() { return services_; }
    UnifiedBuffer& unified_buffer() { return unified_buffer_; }
    DeviceMemory& device_memory() { return device_memory_; }
    HostLink& link() { return link_; }
    Mxu& mxu() { return mxu_; }
    WeightFetcher& weights() { return weights_; }
    Sequencer& sequencer() { return sequencer_; }
    /// The units with queues, in the order of isa::Unit.
    const std::vector<Unit*>& units() const { return units_; }

  private:
    ChipServices services_;
    UnifiedBuffer unified_buffer_;
    DeviceMemory device_memory_;
    HostLink link_;
    Mxu mxu_;
    WeightFetcher weights_;
    VectorUnit vector_;
    DmaEngine dma_in_;
    DmaEngine dma_out_;
    std::vector<Unit*> units_;
    Sequencer sequencer_;
    HostInterface host_interface_;
};

}  // namespace tandem::sim
