// SPDX-License-Identifier: Apache-2.0
// How long the vector unit takes, in cycles, as pure functions of shape and configuration. Every
// operation streams `lanes` elements per cycle; the unit's latency is added once per instruction.
#pragma once

#include <cstdint>

#include "base/divide.h"

namespace tandem::engine {

struct VectorTiming {
    uint32_t lanes;
    uint32_t latency_cycles;

    /// Cycles between accumulator rows of `cols` used columns.
    constexpr uint32_t drain_interval(uint32_t cols) const {
        return static_cast<uint32_t>(base::divide_up(cols, lanes));
    }
    constexpr uint64_t add(uint64_t elements) const {
        return base::divide_up(elements, lanes) + latency_cycles;
    }
    /// Every output reads each tap of its window once.
    constexpr uint64_t pool(uint64_t outputs, uint64_t channels, uint64_t taps) const {
        return outputs * taps * base::divide_up(channels, lanes) + latency_cycles;
    }
    /// Four passes over a row (maximum, exponential and sum, inverse, scale), each with its
    /// latency.
    constexpr uint64_t softmax(uint64_t rows, uint64_t cols) const {
        return rows * 4 * (base::divide_up(cols, lanes) + latency_cycles);
    }
};

}  // namespace tandem::engine
