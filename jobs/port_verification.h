// SPDX-License-Identifier: Apache-2.0
// One stream at the ports of an array against the port contract (cosim/port_bench.h); a failure is
// made small, kept as a file, and looked into.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "cosim/divergence.h"
#include "cosim/port_bench.h"
#include "cosim/port_coverage.h"
#include "jobs/whole_wave.h"
#include "run/arrays.h"

namespace tandem::jobs {

/// A failure of the ports, small.
struct PortFailure {
    cosim::Divergence divergence;  ///< of kind "port" or "assertion"
    std::string stream;            ///< file that --replay takes; empty: it could not be written
};

/// The stream of a seed; adds to counters and coverage. `waves`: for the wave and the file of a
/// failure; none: neither.
std::optional<PortFailure> verify_ports(const run::LoadedArray& array, uint64_t seed,
                                        const std::optional<WavePlace>& waves,
                                        cosim::PortCounters& counters,
                                        cosim::PortCoverage& coverage);

/// A stream from a file, as it is. Throws UserError naming the line that is wrong.
std::optional<PortFailure> replay_ports(const run::LoadedArray& array,
                                        const std::filesystem::path& file,
                                        const std::optional<WavePlace>& waves);

/// The stream of a seed, or, where `replay` names one, that of a file, as vectors for benches in
/// other simulators. Throws UserError for a file that cannot be read or written.
void write_vectors(const engine::MxuShape& shape, uint64_t seed,
                   const std::filesystem::path& replay, const std::filesystem::path& file);

}  // namespace tandem::jobs
