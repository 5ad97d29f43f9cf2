// SPDX-License-Identifier: Apache-2.0
// Division that rounds up, and cutting sizes into near-equal parts.
#pragma once

#include <cstdint>

namespace tandem::base {

constexpr uint64_t divide_up(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

/// Where part `i` begins when `total` is cut into `parts` parts that differ by at most one.
constexpr uint64_t part_begin(uint64_t total, uint64_t parts, uint64_t i) {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(total) * i / parts);
}
/// The size of part `i`.
constexpr uint64_t part(uint64_t total, uint64_t parts, uint64_t i) {
    return part_begin(total, parts, i + 1) - part_begin(total, parts, i);
}

}  // namespace tandem::base
