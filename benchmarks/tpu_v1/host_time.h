// SPDX-License-Identifier: Apache-2.0
// What the bus to the host takes of a run (Table 5): transfers and one command. Software on the
// host takes no time here.
#pragma once

#include "arch/chip_config.h"
#include "benchmarks/tpu_v1/counters.h"

namespace tandem::tpu_v1 {

struct HostTime {
    double bytes_in = 0, bytes_out = 0;
    double transfer_seconds = 0;  ///< bytes over the bus, one way after the other
    double access_seconds = 0;    ///< latencies of transfers and of the command
    double percent = 0;           ///< of the run
};
HostTime host_time(const Measured& measured, const arch::ChipConfig& chip);

/// Bus accesses of one command (systemc/host_interface): doorbell, entry read, status written,
/// interrupt acknowledged.
inline constexpr double kCommandAccesses = 4;
inline constexpr double kEntryBytes = 64, kStatusBytes = 8;

}  // namespace tandem::tpu_v1
