// SPDX-License-Identifier: Apache-2.0
// docs/scaling_study.md: the study's tables with their words, beside what the paper says.
#pragma once

#include <string>

#include "benchmarks/scaling/runs.h"
#include "benchmarks/study.h"

namespace tandem::benchmarks {

/// The whole page, without its heading for files; `command` writes it.
std::string scaling_page(const ScalingRuns& runs, const StudyOptions& options,
                         const std::string& command);

}  // namespace tandem::benchmarks
