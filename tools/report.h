// SPDX-License-Identifier: Apache-2.0
// What a run says: on the terminal for people, as JSON for tools (docs/report.schema.json).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "arch/chip_config.h"
#include "arch/program.h"
#include "tools/session.h"

namespace tandem::tools {

inline constexpr int kReportVersion = 2;

struct OutputCheck {
    uint64_t samples = 0;
    uint64_t bytes_compared = 0;
    uint64_t mismatches = 0;  ///< bytes that differ
    uint64_t first_sample = 0, first_offset = 0;
    int first_expected = 0, first_actual = 0;
    std::optional<double> accuracy;  ///< share of samples whose largest output is their label
    bool compared = false;
};

struct RunReport {
    std::string backend, mode, host, model, rerun;
    double wall_seconds = 0;
    uint64_t peak_rss_bytes = 0;
    uint32_t samples = 0;
    uint64_t seed = 0;  ///< of random inputs
    OutputCheck check;
    std::string wave, gtkw;
};

nlohmann::json make_report(const arch::ChipConfig& chip, const arch::Program& program,
                           const SessionResult& result, const RunReport& run);

/// Useful multiply-accumulates of all runs: sum of M*N*K over the model's operators.
uint64_t useful_macs(const arch::Program& program, uint64_t runs);

/// Cycles of each unit by cause must add up to the run's cycles, MACs and bytes must be at least
/// the compulsory ones. Returns the laws that are broken; none in a sound simulator.
std::vector<std::string> broken_laws(const arch::ChipConfig& chip, const arch::Program& program,
                                     const SessionResult& result, uint64_t runs);

/// Byte by byte; both have the same size.
OutputCheck compare_outputs(const std::vector<uint8_t>& outputs,
                            const std::vector<uint8_t>& expected, uint64_t sample_bytes);

/// Prints the summary and whatever is wrong, writes the JSON report (unless the path is empty), and
/// returns the exit status of the run.
int conclude(const arch::ChipConfig& chip, const arch::Program& program,
             const SessionResult& result, const RunReport& run, const std::string& json_path);

/// Writes a report as JSON, unless the path is empty.
void write_report(const std::string& path, const nlohmann::json& report);

uint64_t peak_rss_bytes();

}  // namespace tandem::tools
