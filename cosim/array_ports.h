// SPDX-License-Identifier: Apache-2.0
// The ports that every array has (rtl/README.md).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/mxu_engine.h"

namespace tandem::cosim {

struct ArrayPort {
    const char* name;
    bool input;
    uint32_t bits;
};

/// In the order of the handshakes.
std::vector<ArrayPort> array_ports(const engine::MxuShape& shape);

/// Of the number of an accumulator row.
uint32_t address_bits(const engine::MxuShape& shape);

}  // namespace tandem::cosim
