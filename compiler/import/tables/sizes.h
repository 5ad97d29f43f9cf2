// SPDX-License-Identifier: Apache-2.0
// Sizes of layers come from products of many cells: they must not wrap unnoticed.
#pragma once

#include <algorithm>
#include <cstdint>

#include "compiler/graph/saturate.h"
#include "compiler/import/tables/layers.h"

namespace tandem::tables {

/// Most MACs, and most elements of each kind, of one layer. Sums over thousands of layers then
/// stay within 64 bits, and a double holds each exactly.
inline constexpr uint64_t kMostPerLayer = compiler::kMostElements;
/// What a layer larger than that is told.
inline constexpr const char* kExpectedSizes = "at most 2^53 MACs and elements in a layer";

using compiler::saturating_product;

/// Whether the layer, whose sizes are saturating products, is within the limit.
inline bool fits(const Layer& layer) {
    const uint64_t macs =
        saturating_product({layer.m, layer.k, layer.n, layer.groups, layer.repeat});
    const uint64_t moved = saturating_product(
        {std::max({layer.input_elements, layer.output_elements, layer.elements}), layer.repeat});
    return macs <= kMostPerLayer && moved <= kMostPerLayer;
}

}  // namespace tandem::tables
