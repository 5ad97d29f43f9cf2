// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/plan/miss_cause.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tandem::benchmarks {
namespace {

constexpr double kMuch = 1.15;
constexpr double kFull = 0.85;  ///< of its time a unit that leaves no room for more

/// Largest share of the run that a unit of a kind is busy.
double busiest(const run::RunResult& result, std::string_view kind) {
    double most = 0;
    for (const run::UnitResult& unit : result.units)
        if (unit.name.find(kind) != std::string::npos)
            most = std::max(most, static_cast<double>(unit.cause("busy")));
    return most / static_cast<double>(result.cycles);
}

}  // namespace

std::string miss_cause(const Measured& run, const arch::ChipConfig& chip) {
    const run::RunResult& result = *run.result;
    const double cycles = run.cycles();
    const auto moved =
        static_cast<double>(result.traffic.memory_read + result.traffic.memory_write);
    const double moving =
        run.bound.least_bytes == 0
            ? 0
            : run.bound.traffic * moved / static_cast<double>(run.bound.least_bytes);
    if (moving > kFull * cycles) return "moves more bytes than the least";
    const double busy = static_cast<double>(result.cause("mxu", "busy"));
    const double most = busiest(result, "mxu");
    if (most > kFull)
        return busy > kMuch * run.bound.compute * chip.arrays() ? "rows pass the arrays again"
                                                                : "arrays share the work unevenly";
    if (busiest(result, "vector") > kFull) return "the vector unit drains all the time";
    if (busiest(result, "dma_in") > kFull) return "the input engine moves all the time";
    if (busiest(result, "dma_out") > kFull) return "the output engine moves all the time";
    const std::array waits = {
        std::pair{"wait_weights", "arrays wait for weights"},
        std::pair{"wait_shift", "tiles are shifted in"},
        std::pair{"wait_port", "a port of the buffer is taken"},
        std::pair{"wait_flag", "arrays wait for input, or for room for results"},
        std::pair{"idle", chip.sequencer.layer_sync
                              ? "the sequencer waits: start, end, results"
                              : "arrays have no work: start, end, few tiles"}};
    const auto* worst = std::ranges::max_element(
        waits, {}, [&](const auto& wait) { return result.cause("mxu", wait.first); });
    return worst->second;
}

}  // namespace tandem::benchmarks
