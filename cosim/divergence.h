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
    std::string port;             ///< the one that is wrong, at edge cycle_rtl; empty: see the kind
    bool of_ports = false;        ///< of a port's behaviour: streams at the ports say it better
    uint64_t block = 0;           ///< matmul whose row it is, counted since reset
    uint32_t row = 0;             ///< row within the block
    uint32_t col = 0;             ///< array column
    engine::Cycle cycle_tlm = 0;  ///< edge of the row's commit as the model says
    engine::Cycle cycle_rtl = 0;  ///< the same as the RTL did; 0: it did not
    // Sums: a number of int32, or the bits of an fp32. Kind "order": accumulator rows.
    int64_t expected = 0;
    int64_t actual = 0;
    /// The unit of the array that went wrong first ("control", "weight loader", "skew", "PE",
    /// "accumulators") and what of it was wrong: a net, a port, a PE register, "assertion", or
    /// the rule of the port contract.
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

/// What went wrong first, and the unit and signal with which it is called.
void blame(Divergence& divergence, const PeMismatch& pe);
/// A net below a PE blames that PE as well.
void blame(Divergence& divergence, const UnitMismatch& net, const engine::MxuShape& shape);

/// For people: a number, or the bits and the number of an fp32.
std::string sum_text(arch::Dtype dtype, int64_t sum);
std::string net_text(const UnitMismatch& net);
std::string register_text(arch::Dtype dtype, PeRegister which, int64_t value);

}  // namespace tandem::cosim
