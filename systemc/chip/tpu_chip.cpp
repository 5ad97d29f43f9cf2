// SPDX-License-Identifier: Apache-2.0
#include "systemc/chip/tpu_chip.h"

#include <string>

namespace tandem::sim {
namespace {

std::unique_ptr<engine::RequantiseEngine> make_requantiser(const ChipOptions& options,
                                                           uint32_t core, uint32_t array) {
    if (options.make_requantiser) return options.make_requantiser(core, array);
    return std::make_unique<engine::TlmRequantiseEngine>();
}

}  // namespace

TpuChip::TpuChip(sc_core::sc_module_name name, const arch::ChipConfig& config,
                 const ChipOptions& options, const EngineFactory& make_engine)
    : sc_module(name),
      device_memory_("device_memory", config, options.level),
      link_("link", config.host, options.level),
      paths_([this] { return path_cycles(); }),
      cores_(make_cores(config, options, make_engine)),
      runner_("runner", core_units()),
      host_interface_("host_interface", services().config(), link_, runner_) {
    bind_sockets(options.connect, host_interface_.memory.memory_out, device_memory_.memory_in);
    std::vector<ChipServices*> all;
    for (const auto& core : cores_) all.push_back(&core->services());
    for (ChipServices* services : all) services->set_cores(all);
}

/// Device memory, and the bus in each direction.
SharedPaths::Cycles TpuChip::path_cycles() const {
    const arch::ChipConfig& config = cores_.front()->services().config();
    const auto cycles = [&](uint64_t bytes, uint64_t bytes_per_second) {
        return static_cast<Cycle>(static_cast<double>(bytes) *
                                  static_cast<double>(config.clock_hz) /
                                  static_cast<double>(bytes_per_second));
    };
    const uint64_t dram = device_memory_.bytes_read() + device_memory_.bytes_written() -
                          device_memory_.cmem_traffic_bytes();
    return {cycles(dram, config.memory.usable_bytes_per_second()),
            cycles(link_.bytes_from_host(), config.host.bytes_per_second),
            cycles(link_.bytes_to_host(), config.host.bytes_per_second)};
}

std::vector<CoreUnits> TpuChip::core_units() const {
    std::vector<CoreUnits> units;
    for (const auto& core : cores_) {
        CoreUnits& own = units.emplace_back(CoreUnits{&core->services(), &core->sequencer(), {}});
        for (size_t array = 0; array < core->arrays(); ++array)
            own.arrays.push_back(&core->mxu(array));
    }
    return units;
}

std::vector<std::unique_ptr<Core>> TpuChip::make_cores(const arch::ChipConfig& config,
                                                       const ChipOptions& options,
                                                       const EngineFactory& make_engine) {
    const uint32_t count = options.cores == 0 ? config.cores : options.cores;
    const uint32_t arrays = options.arrays == 0 ? config.mxu.count : options.arrays;
    std::vector<std::unique_ptr<Core>> cores;
    for (uint32_t i = 0; i < count; ++i) {
        Core::Engines engines;
        Core::Requantisers requantisers;
        for (uint32_t array = 0; array < arrays; ++array) {
            engines.push_back(make_engine(i, array));
            requantisers.push_back(make_requantiser(options, i, array));
        }
        cores.push_back(std::make_unique<Core>(
            ("core" + std::to_string(i)).c_str(), i, config, options.functional,
            options.level == Level::kLt ? &paths_ : nullptr, device_memory_, link_,
            std::move(engines), std::move(requantisers), options.connect));
    }
    return cores;
}

}  // namespace tandem::sim
