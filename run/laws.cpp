// SPDX-License-Identifier: Apache-2.0
#include "run/laws.h"

#include <fmt/format.h>

#include <numeric>

namespace tandem::run {
namespace {

void check_causes(const RunResult& result, std::vector<std::string>& broken) {
    for (const UnitResult& unit : result.units) {
        const uint64_t sum = std::accumulate(unit.cycles.begin(), unit.cycles.end(), uint64_t{0});
        if (sum != result.core_cycles.at(unit.core))
            broken.push_back(fmt::format("unit {}: its causes add up to {} cycles of {}", unit.name,
                                         sum, result.core_cycles[unit.core]));
    }
}

void check_layers(const RunResult& result, std::vector<std::string>& broken) {
    if (result.layers.empty()) return;
    uint64_t sum = 0;
    for (const LayerResult& layer : result.layers) sum += layer.cycles;
    if (sum != result.cycles)
        broken.push_back(fmt::format("the layers add up to {} cycles of {}", sum, result.cycles));
}

void check_arrays(const RunResult& result, const Needs& needs, std::vector<std::string>& broken) {
    if (result.array_macs < needs.macs || (needs.exact_macs && result.array_macs != needs.macs))
        broken.push_back(
            fmt::format("{} MACs were issued, the model needs {}", result.array_macs, needs.macs));
    const uint64_t busy = result.cause("mxu", "busy");
    if (busy != result.rows)
        broken.push_back(
            fmt::format("arrays were busy for {} cycles, with {} rows", busy, result.rows));
    if (needs.rows && result.rows != *needs.rows)
        broken.push_back(
            fmt::format("arrays took {} rows, the program has {}", result.rows, *needs.rows));
}

void check_traffic(const RunResult& result, const Needs& needs, std::vector<std::string>& broken) {
    const auto at_least = [&](const char* path, uint64_t moved, uint64_t compulsory) {
        if (moved < compulsory)
            broken.push_back(
                fmt::format("{}: {} bytes were moved, {} are compulsory", path, moved, compulsory));
    };
    const Traffic& traffic = result.traffic;
    at_least("memory", traffic.memory_read + traffic.memory_write, needs.memory);
    at_least("memory_read", traffic.memory_read, needs.memory_read);
    at_least("host_to_chip", traffic.host_to_chip, needs.host_to_chip);
    at_least("chip_to_host", traffic.chip_to_host, needs.chip_to_host);
}

/// The clock's period is a whole number of femtoseconds, a bound is not.
void check_time(const RunResult& result, const Needs& needs, std::vector<std::string>& broken) {
    constexpr double kPeriodError = 1e-6;
    if (static_cast<double>(result.cycles) * (1 + kPeriodError) + 1 < needs.cycles)
        broken.push_back(fmt::format("{} cycles, the lower bound of all layers is {:.0f}",
                                     result.cycles, needs.cycles));
}

}  // namespace

std::vector<std::string> broken_laws(const RunResult& result, const Needs& needs) {
    std::vector<std::string> broken;
    if (!result.completed()) return broken;
    check_causes(result, broken);
    check_layers(result, broken);
    check_arrays(result, needs, broken);
    check_traffic(result, needs, broken);
    check_time(result, needs, broken);
    return broken;
}

}  // namespace tandem::run
