// SPDX-License-Identifier: Apache-2.0
// Ports and nets of the MAC array that carry a value per row or per column of it, from bit 0 up
// (rtl/README.md).
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/mxu_engine.h"

namespace tandem::cosim {

/// Bits of one of them; 0: the signal has no lanes.
inline uint32_t lane_bits(std::string_view signal, const engine::MxuShape& shape) {
    for (const char* name : {"act_skewed", "wgt_skewed", "act_data_i", "wgt_data_i"})
        if (signal == name) return 8 * arch::element_bytes(shape.dtype);
    for (const char* name : {"swap_skewed", "load_skewed"})
        if (signal == name) return 1;
    for (const char* name : {"bottom", "row", "cmt_data_o", "res_data_o"})
        if (signal == name) return 32;
    return 0;
}

/// It is judged as it stands before an edge; false: after it.
inline bool stands_before_edge(std::string_view signal) {
    return !signal.starts_with("cmt_") && !signal.starts_with("res_") && signal != "busy_o" &&
           signal != "assertion";
}

}  // namespace tandem::cosim
