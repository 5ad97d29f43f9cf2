// SPDX-License-Identifier: Apache-2.0
#include "systemc/host/placed_job.h"

#include <algorithm>
#include <new>
#include <string>

#include "arch/generated/registers.h"
#include "base/error.h"
#include "firmware/include/tandem/platform.h"

namespace tandem::host {

namespace {

constexpr uint32_t kRingEntries = 16;
// Everything starts on a page: nothing that the TPU transfers shares one with something else.
constexpr uint64_t kPlacementBytes = 4096;

/// Hands out memory above the firmware, front to back.
class Placement {
  public:
    explicit Placement(HostRam& memory) : memory_(memory) {}

    /// Bus address of `bytes` fresh bytes.
    uint64_t take(uint64_t bytes, const char* what) {
        const uint64_t address = next_;
        const uint64_t left = memory_.base() + memory_.bytes().size() - next_;
        if (bytes > left) {
            throw UserError("host memory: " + std::string(what) + " needs " +
                            std::to_string(bytes) + " bytes, " + std::to_string(left) +
                            " are left; use a larger memory or fewer samples");
        }
        const uint64_t rounded = (bytes + kPlacementBytes - 1) / kPlacementBytes * kPlacementBytes;
        next_ += std::min(rounded, left);
        return address;
    }

    uint64_t put(std::span<const uint8_t> bytes, const char* what) {
        const uint64_t address = take(bytes.size(), what);
        std::copy(bytes.begin(), bytes.end(), memory_.at(address, bytes.size()).begin());
        return address;
    }

  private:
    HostRam& memory_;
    uint64_t next_ = platform::kRamBase + platform::kFirmwareBytes;
};

void check(const JobRequest& request) {
    if (request.runs == 0 || request.inputs.size() % request.runs != 0) {
        throw UserError("job: expected inputs of equal size for " + std::to_string(request.runs) +
                        " runs, found " + std::to_string(request.inputs.size()) + " bytes");
    }
    if (request.output_bytes > platform::kRamMaxBytes / request.runs) {
        throw UserError("job: outputs of " + std::to_string(request.runs) + " runs of " +
                        std::to_string(request.output_bytes) + " bytes exceed any host memory");
    }
}

}  // namespace

PlacedJob::PlacedJob(HostRam& memory, const JobRequest& request) {
    check(request);
    const uint64_t output_bytes = request.output_bytes * request.runs;
    Placement placement(memory);
    address_ = static_cast<uint32_t>(placement.take(sizeof(firmware::Job), "job block"));
    job_ = new (memory.at(address_, sizeof(firmware::Job)).data()) firmware::Job;
    job_->ring_address = placement.take(kRingEntries * TANDEM_COMMAND_BYTES, "command ring");
    job_->ring_entries = kRingEntries;
    job_->image_address = placement.put(request.image, "program image");
    job_->image_bytes = request.image.size();
    job_->runs = request.runs;
    job_->input_address = placement.put(request.inputs, "inputs");
    job_->input_bytes = request.inputs.size() / request.runs;
    job_->output_address = placement.take(output_bytes, "outputs");
    job_->output_bytes = request.output_bytes;
    job_->timeout_us = request.timeout_us;
    outputs_ = memory.at(job_->output_address, output_bytes);
}

}  // namespace tandem::host
