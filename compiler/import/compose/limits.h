// SPDX-License-Identifier: Apache-2.0
// How large values of an ONNX model may be.
#pragma once

#include <cstdint>

#include "compiler/graph/graph.h"

namespace tandem::compiler {

/// Of a constant that is made here, in elements; of nodes that one node becomes, such as taps of a
/// window or steps of a sequence; of bodies of loops; of nodes.
inline constexpr int64_t kMostMade = 1 << 22, kMostParts = 4096, kMostBodies = 1 << 16,
                         kMostNodes = 1 << 20;

/// At most 2^31 - 1 elements: what is computed with extents then fits into 64 bits.
inline bool fits_onnx_limit(const Shape& shape) {
    constexpr int64_t kMost = INT32_MAX;
    int64_t elements = 1;
    for (const int64_t extent : shape) {
        if (extent < 0 || extent > kMost) return false;
        elements *= extent;
        if (elements > kMost) return false;
    }
    return true;
}

}  // namespace tandem::compiler
