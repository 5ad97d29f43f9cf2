// SPDX-License-Identifier: Apache-2.0
// The model's grid is a femtosecond: sc_time::value() counts them everywhere in it.
#pragma once

#include <cstdint>
#include <systemc>

namespace tandem::sim {

/// Sets SystemC's time resolution to 1 fs where nobody has set it yet. Throws UserError when it is
/// another one and fixed: with the first sc_time of a process SystemC takes 1 ps, and all times
/// would be 1000 times too long.
void require_femtoseconds();

inline sc_core::sc_time from_picoseconds(uint64_t picoseconds) {
    require_femtoseconds();
    return sc_core::sc_time::from_value(picoseconds * 1000);
}

}  // namespace tandem::sim
