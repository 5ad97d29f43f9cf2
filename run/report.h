// SPDX-License-Identifier: Apache-2.0
// What a run says: on the terminal for people, as JSON for tools (docs/report.md).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "arch/chip_config.h"
#include "run/output_check.h"
#include "run/run_result.h"

namespace tandem::run {

inline constexpr int kReportVersion = 3;

struct OutputCheck {
    uint64_t samples = 0;
    uint64_t bytes_compared = 0;
    uint64_t mismatches = 0;  ///< bytes that differ
    uint64_t first_sample = 0, first_offset = 0;
    int first_expected = 0, first_actual = 0;
    bool compared = false;
};

/// Byte by byte; both have the same size.
OutputCheck compare_outputs(const std::vector<uint8_t>& outputs,
                            const std::vector<uint8_t>& expected, uint64_t sample_bytes);

/// What the result does not know: how the run was asked for, and what came of its outputs.
struct RunReport {
    std::string backend = "tlm", mode, host = "none", model;
    std::string name;      ///< for people; empty: the model
    std::string rounding;  ///< empty: a source without requantisation
    std::string plan;      ///< search, rules; empty: a program, whose plan is not known
    std::string rerun;
    uint64_t batch = 1, samples = 1;
    uint64_t seed = 0;        ///< of random inputs
    double wall_seconds = 0;  ///< of this machine, without RunResult::array_seconds
    OutputCheck check;
    std::optional<FloatCheck> floats;  ///< of float32 outputs beside expected ones
    std::optional<double> accuracy;    ///< share of samples whose largest output is their label
    /// By layer, where the source says more of them: further keys of the report.
    std::vector<nlohmann::json> layer_details;
    std::vector<std::string> layer_sizes;  ///< by layer, for people; empty: no table of layers
    std::string csv;                       ///< file for layers_csv(); empty: none
    std::string output;                    ///< file for the outputs; empty: none
};

nlohmann::json make_report(const arch::ChipConfig& chip, const RunResult& result,
                           const RunReport& run);
/// The report's first_divergence.
nlohmann::json divergence_json(const RunResult& result, const RunReport& run);

void print_summary(const arch::ChipConfig& chip, const RunResult& result, const RunReport& run);

enum class Verdict { kGood, kMismatch, kFault };

/// Prints whatever is wrong, and says how the run went.
Verdict judge(const RunResult& result, const RunReport& run);

/// Writes outputs, layers and the JSON report (unless the path is empty), prints the summary and
/// whatever is wrong, and says how the run went. Throws UserError at the end when a file that was
/// asked for is not there whole.
Verdict conclude(const arch::ChipConfig& chip, const RunResult& result, const RunReport& run,
                 const std::string& json_path);

/// The report's layers, one row for each under a header that names units; what a layer does not
/// have is empty.
std::string layers_csv(const nlohmann::json& layers);

/// As all JSON of Tandem is written: ASCII alone; what is no UTF-8 in a name is replaced.
std::string json_text(const nlohmann::json& value);
/// Writes a report as JSON, unless the path is empty.
void write_report(const std::string& path, const nlohmann::json& report);

uint64_t peak_rss_bytes();

}  // namespace tandem::run
