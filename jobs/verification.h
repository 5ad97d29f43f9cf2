// SPDX-License-Identifier: Apache-2.0
// Random command streams into a MAC array, RTL against model, row by row.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cosim/divergence.h"
#include "cosim/injection.h"
#include "cosim/port_coverage.h"
#include "cosim/port_traffic.h"
#include "cosim/random_stream.h"
#include "run/arrays.h"

namespace tandem::jobs {

/// A stream that has run.
struct StreamEnd {
    bool at_ports = false;  ///< else at the seam, as the chip drives an array
    uint64_t seed = 0;
    double seconds = 0;  ///< of this machine; of one that diverged with its diagnosis
    bool good = true;
};

struct VerifyRequest {
    uint32_t streams = 100;
    uint64_t seed = 0;   ///< of the first stream; the others count up
    std::string inject;  ///< into every stream; empty: nothing
    /// Folder of the wave of a divergence and of its save file, "" for the current one; none: no
    /// wave.
    std::optional<std::string> waves = "";
    /// File of the wave (.fst or .vcd), in that folder's place; empty: it gets a name. It is
    /// written without a divergence, too, of a single stream or a replay.
    std::string wave{};
    std::string replay{};  ///< file of a stream at the ports, in place of all streams
    // For the report.
    std::string chip;  ///< empty: the array was named by its parameters
    std::vector<std::string> sets{};
    /// The command line that runs so many streams from this seed on again, or the file of a stream
    /// at the ports.
    std::function<std::string(uint32_t streams, uint64_t seed, const std::string& replay)> rerun;
    std::function<void(const StreamEnd&)> on_stream{};  ///< may be empty
};

/// What the streams did together.
struct Verification {
    cosim::StreamCounters counters;
    cosim::PortCounters ports;
    std::optional<cosim::PortCoverage> coverage;  ///< of the ports; none: no stream ran there
    uint64_t rows_compared = 0;                   ///< of accumulators
    uint32_t streams = 0;                         ///< that ran
    double seconds = 0;
    std::optional<cosim::Injection> injected;
    std::optional<cosim::Divergence> divergence;
    uint64_t seed = 0;       ///< of the stream that diverged
    bool alone = true;       ///< it diverges without the streams before it
    std::string replay;      ///< file of a stream at the ports that diverged; empty: another stream
    std::string gtkw;        ///< save file of its wave, or of `whole_wave`; empty: none
    std::string whole_wave;  ///< of a stream that passed; empty: none was asked for
    std::string not_written;  ///< of that wave, why; empty: it was
};

/// Stops at the first divergence. Throws UserError for an injection that the array cannot have or
/// that no stream reached.
Verification verify_array(const run::LoadedArray& array, const VerifyRequest& request);

/// The command line that shows the divergence again.
std::string rerun(const VerifyRequest& request, const Verification& done);

nlohmann::json verification_report(const run::LoadedArray& array, const VerifyRequest& request,
                                   const Verification& done);

}  // namespace tandem::jobs
