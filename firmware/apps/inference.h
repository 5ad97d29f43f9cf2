// SPDX-License-Identifier: Apache-2.0
// Runs a compiled network on the TPU, as a job block asks.
#pragma once

#include "firmware/hal/hal.h"
#include "firmware/include/tandem/job.h"

namespace tandem::firmware {

/// Loads the image, runs it `job->runs` times, fills the results of `job`. Returns Job::status (0
/// is good). After a failure other than a time-out the TPU is left as it stopped, for a look at its
/// registers; after a time-out it is reset, so that it no longer writes into memory.
int run_inference_job(Hal& hal, Job* job);

}  // namespace tandem::firmware
