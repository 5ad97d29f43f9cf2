// SPDX-License-Identifier: Apache-2.0
// Sizes come from products of many numbers of a file: they must not wrap unnoticed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>

namespace tandem::compiler {

/// The largest uint64_t where the product has no room.
inline uint64_t saturating_product(std::initializer_list<uint64_t> factors) {
    if (std::ranges::find(factors, uint64_t{0}) != factors.end()) return 0;
    uint64_t product = 1;
    for (const uint64_t factor : factors)
        if (__builtin_mul_overflow(product, factor, &product))
            return std::numeric_limits<uint64_t>::max();
    return product;
}

}  // namespace tandem::compiler
