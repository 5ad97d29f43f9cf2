// SPDX-License-Identifier: Apache-2.0
// The numbers of parts that a search tries: two for each doubling, so that a larger problem has
// only a few more of them.
#pragma once

#include <bit>
#include <cstdint>

namespace tandem::compiler {

/// The next one of 1, 2, 3, 4, 6, 8, 12, ...; behind a number of that row, or 0.
constexpr uint64_t next_division(uint64_t n) {
    if (n < 2) return n + 1;
    const uint64_t power = std::bit_floor(n);
    return n == power ? power + power / 2 : power * 2;
}

/// The first one that is not less.
constexpr uint64_t division_from(uint64_t least) {
    uint64_t n = 1;
    while (n < least) n = next_division(n);
    return n;
}

}  // namespace tandem::compiler
