// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/tpu_v1/host_time.h"

#include <cmath>

namespace tandem::tpu_v1 {

HostTime host_time(const Measured& measured, const arch::ChipConfig& chip) {
    HostTime time;
    const auto& traffic = measured.result.traffic;
    time.bytes_in = static_cast<double>(traffic.host_to_chip);
    time.bytes_out = static_cast<double>(traffic.chip_to_host);
    const double bytes = time.bytes_in + time.bytes_out + kEntryBytes + kStatusBytes;
    time.transfer_seconds = bytes / static_cast<double>(chip.host.bytes_per_second);
    // Input comes in as many pieces as its rows fill halves of the accumulators.
    const uint32_t half = chip.mxu.accumulator_rows / 2;
    const double pieces = std::ceil(static_cast<double>(measured.workload.layers.front().m) /
                                    static_cast<double>(half));
    const double accesses = pieces + 1 + kCommandAccesses;
    time.access_seconds = accesses * static_cast<double>(chip.host.latency_ps) * 1e-12;
    time.percent = 100 * (time.transfer_seconds + time.access_seconds) / measured.result.seconds();
    return time;
}

}  // namespace tandem::tpu_v1
