// SPDX-License-Identifier: Apache-2.0
// Random traffic at the ports of a requantisation unit, RTL against the contract.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cosim/requantise_bench.h"
#include "jobs/verification.h"
#include "run/requantisers.h"

namespace tandem::jobs {

struct RequantiseRequest {
    cosim::RequantiseShape shape;
    run::RequantiseChoice rtl;
    uint32_t streams = 100;
    uint64_t seed = 0;  ///< of the first stream; the others count up
    std::function<void(const StreamEnd&)> on_stream{};  ///< may be empty
};

struct RequantiseVerification {
    cosim::RequantiseCounters counters;
    std::optional<cosim::RequantiseMismatch> found;
    uint32_t streams = 0;  ///< that ran
    uint64_t seed = 0;     ///< of the stream that failed
    double seconds = 0;    ///< of this machine
};

/// Edges of a stream.
inline constexpr uint64_t kRequantiseEdges = 2000;

/// Stops at the first stream that fails. Every stream begins with registers of its own seed, and in
/// reset. Throws UserError for a unit that cannot be built.
RequantiseVerification verify_requantise(const RequantiseRequest& request);

/// `rerun`: the command line that runs the failed stream again.
nlohmann::json requantise_report(const RequantiseRequest& request,
                                 const RequantiseVerification& done, const std::string& rerun);

}  // namespace tandem::jobs
