// SPDX-License-Identifier: Apache-2.0
// What firmware or device say of a job that is not done.
#pragma once

#include <string>

#include "firmware/include/tandem/job.h"

namespace tandem::run {

/// `fault` is the CPU's. Empty: the job is done, all `runs` of it.
std::string failure_of(const firmware::Job& job, const std::string& fault, uint32_t runs);

}  // namespace tandem::run
