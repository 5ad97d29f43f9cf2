// SPDX-License-Identifier: Apache-2.0
// Coverage of the ports for people and for other tools.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "cosim/port_coverage.h"

namespace tandem::jobs {

/// {bins, covered, groups: [{name, points, bins, covered, crosses: [{name, hits}]}]}
nlohmann::json coverage_json(const cosim::PortCoverage& coverage);
/// A line for each group, and a line for each cross that was not seen.
std::string coverage_text(const cosim::PortCoverage& coverage);
/// FILE.json: coverage_json(). FILE.info: lcov's format, whose lines are those of FILE.txt, one for
/// each cross, which is written beside it (genhtml shows it). Throws UserError for another ending
/// or a file that cannot be written.
void write_coverage(const std::filesystem::path& file, const cosim::PortCoverage& coverage);

}  // namespace tandem::jobs
