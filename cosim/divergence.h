// SPDX-License-Identifier: Apache-2.0
// The first place where model and RTL part.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cosim/pe_oracle.h"

namespace tandem::cosim {

struct Divergence {
    std::string what;          ///< "value", "cycle", "order" or "assertion"
    uint64_t block = 0;        ///< matmul whose row it is, counted since reset
    uint32_t row = 0;          ///< row within the block
    uint32_t col = 0;          ///< array column
    mxu::Cycle cycle_tlm = 0;  ///< edge of the row's commit as the model says
    mxu::Cycle cycle_rtl = 0;  ///< the same as the RTL did; 0: it did not
    int64_t expected = 0;
    int64_t actual = 0;
    /// The first PE register that was wrong; nothing: all PEs were right, the fault lies outside
    /// them.
    std::optional<PeMismatch> pe;
    std::string wave;  ///< FST of the window, empty when it could not be made
    mxu::Cycle wave_from = 0, wave_to = 0;
    std::string note;  ///< why something above is missing
};

}  // namespace tandem::cosim
