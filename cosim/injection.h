// SPDX-License-Identifier: Apache-2.0
// A deliberate upset of one register bit of the RTL array.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tandem::cosim {

enum class PeRegister : uint8_t { kActivation, kWeight, kShadow, kPsum };

/// As in `--inject`: "activation", "weight", "shadow", "psum".
std::string to_string(PeRegister which);

struct Injection {
    PeRegister which = PeRegister::kPsum;
    uint32_t pe_row = 0;
    uint32_t pe_col = 0;
    uint32_t bit = 0;
    /// The flip is in the register after this clock edge (counted since reset).
    uint64_t cycle = 0;
    /// Set: `cycle` is not known yet; the flip is to hit the PE while it works on the activation
    /// row with this number (counted since reset).
    std::optional<uint64_t> at_row;

    /// The form that --inject takes: pe[R][C].psum:bitB@cycle=T
    std::string to_string() const;
};

/// Reads `pe[R][C].psum:bitB@cycle=T` (also .weight, .activation, .shadow). Throws UserError with
/// the part that is wrong.
Injection parse_injection(const std::string& text, uint32_t rows, uint32_t cols);

/// A random injection that hits a PE while it works on one of `total_rows` activation rows.
Injection random_injection(uint64_t seed, uint32_t rows, uint32_t cols, uint64_t total_rows);

}  // namespace tandem::cosim
