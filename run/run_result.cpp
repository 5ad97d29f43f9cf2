// SPDX-License-Identifier: Apache-2.0
#include "run/run_result.h"

#include <stdexcept>

namespace tandem::run {
namespace {

size_t index_of(std::string_view cause) {
    const auto at = std::find(sim::kCauseNames.begin(), sim::kCauseNames.end(), cause);
    if (at == sim::kCauseNames.end())
        throw std::logic_error("no cause of this name: " + std::string(cause));
    return static_cast<size_t>(at - sim::kCauseNames.begin());
}

/// "core0.mxu1": mxu
std::string_view kind_of(std::string_view unit) {
    unit.remove_prefix(unit.find('.') + 1);
    while (!unit.empty() && unit.back() >= '0' && unit.back() <= '9') unit.remove_suffix(1);
    return unit;
}

}  // namespace

void LayerResult::add(const LayerResult& inner) {
    cycles += inner.cycles;
    macs += inner.macs;
    moved_bytes += inner.moved_bytes;
    if (bounds && inner.bounds) *bounds += *inner.bounds;
}

uint64_t UnitResult::cause(std::string_view name) const { return cycles[index_of(name)]; }

uint64_t RunResult::cause(std::string_view kind, std::string_view name) const {
    const size_t index = index_of(name);
    uint64_t cycles = 0;
    for (const UnitResult& unit : units)
        if (kind_of(unit.name) == kind) cycles += unit.cycles[index];
    return cycles;
}

}  // namespace tandem::run
