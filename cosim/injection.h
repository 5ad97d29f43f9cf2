// SPDX-License-Identifier: Apache-2.0
// A deliberate upset of one register bit of the RTL array.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/mxu_engine.h"

namespace tandem::cosim {

/// kSwap and kLoad are the tags that travel with an activation and with a weight beat.
enum class PeRegister : uint8_t { kActivation, kWeight, kShadow, kPsum, kSwap, kLoad };

/// As in `--inject`: "activation", "weight", "shadow", "psum", "swap", "load".
std::string to_string(PeRegister which);
uint32_t bits_of(PeRegister which, arch::Dtype dtype);

struct Injection {
    PeRegister which = PeRegister::kPsum;
    uint32_t pe_row = 0;
    uint32_t pe_col = 0;
    uint32_t bit = 0;
    /// The flip is in the register after this clock edge, counted from the engine's origin.
    uint64_t cycle = 0;
    /// Set: `cycle` is not known yet; the flip is to hit the PE while it works on the activation
    /// row with this number.
    std::optional<uint64_t> at_row;

    /// The form that --inject takes: pe[R][C].psum:bitB@cycle=T
    std::string to_string() const;
};

/// Reads `pe[R][C].psum:bitB@cycle=T` (also .weight, .activation, .shadow, .swap, .load). Throws
/// UserError with the part that is wrong.
Injection parse_injection(const std::string& text, const engine::MxuShape& shape);

/// The number in `seed=N`; nothing: another form. Throws UserError when N is no number.
std::optional<uint64_t> parse_injection_seed(const std::string& text);

/// A random injection into a register that the array has, while its PE works on one of `total_rows`
/// activation rows.
Injection random_injection(uint64_t seed, const engine::MxuShape& shape, uint64_t total_rows);

}  // namespace tandem::cosim
