// SPDX-License-Identifier: Apache-2.0
// How time is modelled (docs/decisions/0029-loosely-timed-runs.md).
#pragma once

#include <cstdint>

namespace tandem::sim {

enum class Level : uint8_t {
    kAt,  ///< approximately timed: every unit waits in simulated time, shared paths are contended
    kLt,  ///< loosely timed: instructions take effect at once, with local times, each by itself
};

}  // namespace tandem::sim
