// SPDX-License-Identifier: Apache-2.0
// A job in the host's memory: job block, command ring, image, inputs, and room for the outputs.
#pragma once

#include <cstdint>
#include <span>

#include "firmware/include/tandem/job.h"
#include "systemc/host/host_ram.h"

namespace tandem::host {

/// A job as the loader has it.
struct JobRequest {
    std::span<const uint8_t> image;   ///< the whole .tpu container
    std::span<const uint8_t> inputs;  ///< of all runs, one after another; a multiple of `runs`
    uint32_t runs = 1;
    uint64_t output_bytes = 0;         ///< per run
    uint64_t timeout_us = 10'000'000;  ///< per command, simulated time
};

class PlacedJob {
  public:
    /// Throws UserError when the job does not fit, or the inputs are not `runs` equal parts.
    PlacedJob(HostRam& memory, const JobRequest& request);

    /// Bus address of the job block.
    uint32_t address() const { return address_; }
    /// As the firmware left it.
    const firmware::Job& job() const { return *job_; }
    /// Of all runs, one after another.
    std::span<const uint8_t> outputs() const { return outputs_; }

  private:
    uint32_t address_ = 0;
    firmware::Job* job_ = nullptr;
    std::span<uint8_t> outputs_;
};

}  // namespace tandem::host
