// SPDX-License-Identifier: Apache-2.0
// Sizes of layers come from products of many cells: they must not wrap unnoticed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>

#include "workload/workload.h"

namespace tandem::workload {

/// Of the MACs, and of each number of elements, of one layer. Sums over thousands of layers then
/// stay within 64 bits, and a double holds each exactly.
inline constexpr uint64_t kMostPerLayer = uint64_t{1} << 53;
/// What a layer larger than that is told.
inline constexpr const char* kExpectedSizes = "at most 2^53 MACs and elements in a layer";

/// The largest uint64_t where the product has no room.
inline uint64_t saturating_product(std::initializer_list<uint64_t> factors) {
    uint64_t product = 1;
    for (const uint64_t factor : factors)
        if (__builtin_mul_overflow(product, factor, &product))
            product = std::numeric_limits<uint64_t>::max();
    return std::find(factors.begin(), factors.end(), 0) == factors.end() ? product : 0;
}

/// Whether the layer, whose sizes are saturating products, is within the limit.
inline bool fits(const Layer& layer) {
    const uint64_t macs =
        saturating_product({layer.m, layer.k, layer.n, layer.groups, layer.repeat});
    const uint64_t moved = saturating_product(
        {std::max({layer.input_elements, layer.output_elements, layer.elements}), layer.repeat});
    return macs <= kMostPerLayer && moved <= kMostPerLayer;
}

}  // namespace tandem::workload
