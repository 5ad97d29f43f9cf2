// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compiler/import/tables/layers.h"

namespace tandem::tables {

/// As many windows as strides fit into the image: half of what they reach beyond it, rounded down,
/// lies above and on the left.
inline void pad_as_same(Convolution& image) {
    compiler::WindowAttributes& w = image.window;
    const int64_t h = compiler::same_padding(static_cast<int64_t>(image.height), w.kernel_h,
                                             w.stride_h, w.dilation_h);
    const int64_t v = compiler::same_padding(static_cast<int64_t>(image.width), w.kernel_w,
                                             w.stride_w, w.dilation_w);
    w.pad_top = h / 2, w.pad_bottom = h - h / 2;
    w.pad_left = v / 2, w.pad_right = v - v / 2;
}

}  // namespace tandem::tables
