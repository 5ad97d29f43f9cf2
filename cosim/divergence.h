// SPDX-License-Identifier: Apache-2.0
// The first place where model and RTL part.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cosim/pe_oracle.h"
#include "cosim/unit_oracle.h"

namespace tandem::cosim {

/// Cycles are edges of the array, counted from its engine's origin.
struct Divergence {
    std::string what;             ///< "value", "cycle", "order", "port" or "assertion"
    std::string port;             ///< kind "port": the one that is wrong, at edge cycle_rtl
    uint64_t block = 0;           ///< matmul whose row it is, counted since reset
    uint32_t row = 0;             ///< row within the block
    uint32_t col = 0;             ///< array column
    engine::Cycle cycle_tlm = 0;  ///< edge of the row's commit as the model says
    engine::Cycle cycle_rtl = 0;  ///< the same as the RTL did; 0: it did not
    // Sums: a number of int32, or the bits of an fp32. Kind "order": accumulator rows.
    int64_t expected = 0;
    int64_t actual = 0;
    /// The unit of the array that went wrong first ("control", "weight loader", "skew", "PE",
    /// "accumulators") and what of it was wrong: a net, a port, a PE register, or "assertion".
    /// Empty: not known.
    std::string unit, signal;
    /// The first PE register that was wrong; nothing: all PEs were right up to there.
    std::optional<PeMismatch> pe;
    /// The first wrong net or port, when it was wrong before any PE register.
    std::optional<UnitMismatch> net;
    std::string wave;  ///< FST of the window, empty when it could not be made
    engine::Cycle wave_from = 0, wave_to = 0;
    std::string note;  ///< why something above is missing
    /// Kinds "cycle" and "order", and ports of commits: what is late, early, elsewhere or missing;
    /// empty: nothing of that.
    std::string difference;
    std::string hint;  ///< the mistake that explains what was seen (cosim/hint.h); empty: none does
};

/// For people: a number, or the bits and the number of an fp32.
std::string sum_text(arch::Dtype dtype, int64_t sum);
std::string net_text(const UnitMismatch& net);
std::string register_text(arch::Dtype dtype, PeRegister which, int64_t value);

}  // namespace tandem::cosim
