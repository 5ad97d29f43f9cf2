// SPDX-License-Identifier: Apache-2.0
// How long the vector unit takes, in cycles, as pure functions of shape and configuration. Every
// operation streams `lanes` elements per cycle; the unit's latency is added once per instruction.
#pragma once

#include <cstdint>

namespace tandem::sim {

constexpr uint64_t ceil_div(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

struct VectorTiming {
    uint32_t lanes;
    uint32_t latency_cycles;

    /// Cycles between accumulator rows of `cols` used columns.
    constexpr uint32_t activate_interval(uint32_t cols) const {
        return static_cast<uint32_t>(ceil_div(cols, lanes));
    }
    constexpr uint64_t add(uint64_t elements) const {
        return ceil_div(elements, lanes) + latency_cycles;
    }
    /// Every output reads each tap of its window once.
    constexpr uint64_t pool(uint64_t outputs, uint64_t channels, uint64_t taps) const {
        return outputs * taps * ceil_div(channels, lanes) + latency_cycles;
    }
    /// Four passes over a row (maximum, exponential and sum, inverse, scale), each with its
    /// latency.
    constexpr uint64_t softmax(uint64_t rows, uint64_t cols) const {
        return rows * 4 * (ceil_div(cols, lanes) + latency_cycles);
    }
};

}  // namespace tandem::sim
