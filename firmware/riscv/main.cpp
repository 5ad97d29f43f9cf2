// SPDX-License-Identifier: Apache-2.0
// The firmware: runs the job that the loader left in memory, then ends the CPU with its status.
#include "firmware/apps/inference.h"
#include "firmware/hal/hal_riscv.h"

int main() {
    using namespace tandem::firmware;
    HalRiscv hal;
    const uint64_t address = hal.job_address();
    void* job = address % alignof(Job) == 0 ? hal.pointer(address, sizeof(Job)) : nullptr;
    hal.exit(static_cast<uint32_t>(run_inference_job(hal, static_cast<Job*>(job))));
    for (;;) {
    }
}
