// SPDX-License-Identifier: Apache-2.0
#include "systemc/chip/tpu_chip.h"

#include <string>

namespace tandem::sim {

TpuChip::TpuChip(sc_core::sc_module_name name, const arch::ChipConfig& config,
                 const ChipOptions& options, std::unique_ptr<mxu::MxuEngine> engine)
    : TpuChip(name, config, options, single(std::move(engine))) {}

TpuChip::TpuChip(sc_core::sc_module_name name, const arch::ChipConfig& config,
                 const ChipOptions& options, const EngineFactory& make_engine)
    : TpuChip(name, config, options, all(config, make_engine)) {}

TpuChip::TpuChip(sc_core::sc_module_name name, const arch::ChipConfig& config,
                 const ChipOptions& options, CoreEngines engines)
    : sc_module(name),
      device_memory_("device_memory", config),
      link_("link", config.host),
      cores_(make_cores(config, options.functional, std::move(engines))),
      host_interface_("host_interface", services(), link_, sequencer(), mxu()) {
    host_interface_.memory.memory_out.bind(device_memory_.memory_in);
}

TpuChip::CoreEngines TpuChip::single(std::unique_ptr<mxu::MxuEngine> engine) {
    CoreEngines engines(1);
    engines[0].push_back(std::move(engine));
    return engines;
}

TpuChip::CoreEngines TpuChip::all(const arch::ChipConfig& config,
                                  const EngineFactory& make_engine) {
    CoreEngines engines(config.cores);
    for (auto& core : engines)
        for (uint32_t array = 0; array < config.mxu.count; ++array) core.push_back(make_engine());
    return engines;
}

std::vector<std::unique_ptr<Core>> TpuChip::make_cores(const arch::ChipConfig& config,
                                                       bool functional, CoreEngines engines) {
    std::vector<std::unique_ptr<Core>> cores;
    for (uint32_t i = 0; i < engines.size(); ++i)
        cores.push_back(std::make_unique<Core>(("core" + std::to_string(i)).c_str(), i, config,
                                               functional, device_memory_, link_,
                                               std::move(engines[i])));
    return cores;
}

}  // namespace tandem::sim
