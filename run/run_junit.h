// SPDX-License-Identifier: Apache-2.0
// What `tandem run --junit` writes: a test case for everything that a run checks.
#pragma once

#include <cstdint>
#include <string>

#include "arch/chip_config.h"
#include "run/junit.h"
#include "run/report.h"
#include "run/run_result.h"

namespace tandem::run {

/// Before the run: name and what is known of it.
JunitSuite run_suite(const arch::ChipConfig& chip, const std::string& model,
                     const std::string& mode, const std::string& backend, uint64_t seed);

/// What was checked; what there was nothing to compare with is skipped, and so is what a run that
/// ended early did not come to.
void add_cases(JunitFile& file, const RunResult& result, const RunReport& run);

}  // namespace tandem::run
