// SPDX-License-Identifier: Apache-2.0
// How long the vector unit takes, in cycles, and what it moves through the buffer's ports, as pure
// functions of instruction, state and configuration. Elements stream in vectors of up to `lanes`
// along the trailing axes that lie one behind the other for all operands; the unit's latency is
// added once per instruction. Sums that pass 64 bits stay at the largest number.
#pragma once

#include <cstdint>

#include "arch/chip_config.h"
#include "arch/vector_state.h"
#include "base/divide.h"

namespace tandem::engine {

struct VectorTiming {
    arch::ChipConfig::Vector unit;
    uint32_t drain_lanes = unit.lanes;  ///< that the drain of one array takes

    /// Cycles between accumulator rows of `cols` used columns.
    constexpr uint32_t drain_interval(uint32_t cols) const {
        return static_cast<uint32_t>(base::divide_up(cols, drain_lanes));
    }

    uint64_t map(const isa::Map& op, const arch::VectorState& state) const;
    /// All elements (or taps) once; then, unless the pipeline is fixed, the chain over the results.
    /// Where lanes are reduced, a tree over them for each result.
    uint64_t reduce(const isa::Reduce& op, const arch::VectorState& state) const;
    uint64_t lookup(const isa::Lookup& op, const arch::VectorState& state) const;
    uint64_t move(const isa::Move& op, const arch::VectorState& state) const;
};

struct BufferBytes {
    uint64_t read = 0, written = 0;
};

/// Through the buffer's ports: an element that an axis of stride 0 repeats is read once, with taps
/// every tap that the shape has; indices count, the table of lookup stays in the unit.
BufferBytes buffer_bytes(const isa::Map& op, const arch::VectorState& state);
BufferBytes buffer_bytes(const isa::Reduce& op, const arch::VectorState& state);
BufferBytes buffer_bytes(const isa::Lookup& op, const arch::VectorState& state);
BufferBytes buffer_bytes(const isa::Move& op, const arch::VectorState& state);

}  // namespace tandem::engine
