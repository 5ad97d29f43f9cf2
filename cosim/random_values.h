// SPDX-License-Identifier: Apache-2.0
// Seeded elements for a MAC array, in styles that reach the corners of its arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>

#include "arch/dtype.h"

namespace tandem::cosim {

enum class ValueStyle : uint8_t {
    kFull,      ///< any bit pattern
    kSmall,     ///< int8: -4 to 3; bf16: about 1, so that sums stay finite
    kExtremes,  ///< int8: ends of the range; bf16: products that overflow or are flushed to zero
    kCorners,   ///< int8: ends, 0, +-1; bf16: small ones with zeros, subnormals, infinities, NaN
    kCancel,    ///< bf16: +-x with few different x: sums cancel; int8: +-127
    kZeros,     ///< bf16: of both signs
};
inline constexpr int kValueStyles = 6;

/// "full", "small", ...
const char* to_string(ValueStyle style);

/// A style, those more often that leave sums with information.
ValueStyle random_style(std::mt19937_64& random);

/// Fills `data` with elements.
void random_values(std::mt19937_64& random, arch::Dtype dtype, ValueStyle style,
                   std::span<std::byte> data);

}  // namespace tandem::cosim
