// SPDX-License-Identifier: Apache-2.0
// What a run found wrong, in words: lines for the terminal and for reports. Empty: nothing of that
// kind.
#pragma once

#include <string>

#include "run/report.h"
#include "run/run_result.h"

namespace tandem::run {

/// Of a run that has a divergence: several lines, each with its end.
std::string divergence_text(const RunResult& result, const RunReport& run);

// One line each, without its end.
std::string assertion_text(const RunResult& result);
std::string layer_mismatch_text(const RunResult& result);
std::string output_mismatch_text(const RunReport& run);
std::string float_mismatch_text(const RunReport& run);

}  // namespace tandem::run
