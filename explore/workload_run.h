// SPDX-License-Identifier: Apache-2.0
// A workload on a whole chip in timing mode: all cores, all arrays, no data, no firmware. Every run
// checks its laws.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "arch/chip_config.h"
#include "workload/workload.h"

namespace tandem::explore {

struct LayerResult {
    std::string name;
    uint64_t cycles = 0;  ///< from the end of the layer before to its own
    uint64_t macs = 0;
};

struct UnitResult {
    std::string name;                        ///< e.g. "core0.mxu1"
    std::map<std::string, uint64_t> causes;  ///< cycles; they add up to the run's
};

struct WorkloadResult {
    std::string chip, workload;
    uint64_t clock_hz = 0;
    uint64_t cycles = 0;  ///< of the longest core
    uint64_t macs = 0;    ///< of the workload
    uint64_t rows = 0;    ///< activation rows that entered an array
    uint64_t tiles = 0;   ///< weight tiles fetched
    uint64_t instructions = 0;
    uint64_t peak_buffer_bytes = 0;  ///< of the core that needs most
    double peak_macs_per_cycle = 0;
    std::map<std::string, uint64_t> traffic_bytes;
    std::vector<LayerResult> layers;
    std::vector<UnitResult> units;

    double seconds() const { return static_cast<double>(cycles) / static_cast<double>(clock_hz); }
    /// Share of the chip's peak.
    double utilization() const {
        return cycles == 0 ? 0
                           : static_cast<double>(macs) /
                                 (static_cast<double>(cycles) * peak_macs_per_cycle);
    }
    /// Cycles of one cause, all units added up whose name ends so (e.g. "mxu").
    uint64_t cause(const std::string& unit, const std::string& name) const;
};

/// Throws UserError for what fits no chip, std::logic_error for a broken law. One call per process:
/// SystemC elaborates once.
/// `progress` is told how many waves of blocks have been issued, and of how many.
WorkloadResult run_workload(const workload::Workload& workload, const arch::ChipConfig& chip,
                            const std::function<void(uint64_t, uint64_t)>& progress = {});

/// The same in a child process, so that a process can do it as often as it likes. Errors come back
/// as they were.
WorkloadResult run_workload_apart(const workload::Workload& workload, const arch::ChipConfig& chip);

void to_json(nlohmann::json& json, const WorkloadResult& result);
void from_json(const nlohmann::json& json, WorkloadResult& result);

}  // namespace tandem::explore
