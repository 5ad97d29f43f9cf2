// SPDX-License-Identifier: Apache-2.0
// One TPU chip: cores, memory and the host's side. See systemc/README.md for the block diagram.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "systemc/chip/core.h"
#include "systemc/host_interface/host_interface.h"

namespace tandem::sim {

using RequantiserFactory =
    std::function<std::unique_ptr<engine::RequantiseEngine>(uint32_t core, uint32_t array)>;

struct ChipOptions {
    bool functional = true;  ///< false: time only
    uint32_t cores = 0;      ///< the first so many; 0: all
    uint32_t arrays = 0;     ///< of each core, the first so many; 0: all
    Connect connect;         ///< of the sockets inside; empty: directly
    Level level = Level::kAt;
    RequantiserFactory make_requantiser{};  ///< empty: the model behind every array
};

class TpuChip : public sc_core::sc_module {
  public:
    using EngineFactory =
        std::function<std::unique_ptr<engine::MxuEngine>(uint32_t core, uint32_t array)>;

    /// The engines' shape must be that of the configuration.
    TpuChip(sc_core::sc_module_name name, const arch::ChipConfig& config,
            const ChipOptions& options, const EngineFactory& make_engine);

    // To the outside: bind registers and host memory, connect the interrupt.
    auto& registers_in() { return host_interface_.registers_in; }
    auto& host_out() { return link_.host.memory_out; }
    auto& irq_out() { return host_interface_.irq_out; }

    DeviceMemory& device_memory() { return device_memory_; }
    HostLink& link() { return link_; }
    size_t cores() const { return cores_.size(); }
    Core& core(size_t index = 0) { return *cores_[index]; }
    /// Programs for several cores; what the host interface uses for its commands.
    ProgramRunner& runner() { return runner_; }

    // The first core's parts.
    ChipServices& services() { return core().services(); }
    UnifiedBuffer& unified_buffer() { return core().unified_buffer(); }
    Mxu& mxu() { return core().mxu(); }
    WeightFetcher& weights() { return core().weights(); }
    Sequencer& sequencer() { return core().sequencer(); }
    const std::vector<Unit*>& units() { return core().units(); }

  private:
    std::vector<std::unique_ptr<Core>> make_cores(const arch::ChipConfig& config,
                                                  const ChipOptions& options,
                                                  const EngineFactory& make_engine);
    std::vector<CoreUnits> core_units() const;

    SharedPaths::Cycles path_cycles() const;

    DeviceMemory device_memory_;
    HostLink link_;
    SharedPaths paths_;  ///< level kLt
    std::vector<std::unique_ptr<Core>> cores_;
    ProgramRunner runner_;
    HostInterface host_interface_;
};

}  // namespace tandem::sim
