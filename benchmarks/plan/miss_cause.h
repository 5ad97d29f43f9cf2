// SPDX-License-Identifier: Apache-2.0
// Why a kernel takes longer than its bound, from where its units' cycles went.
#pragma once

#include <string>

#include "benchmarks/plan/setup.h"

namespace tandem::benchmarks {

/// A few words, the same for kernels that miss for the same reason.
std::string miss_cause(const Measured& run, const arch::ChipConfig& chip);

}  // namespace tandem::benchmarks
