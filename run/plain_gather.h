// SPDX-License-Identifier: Apache-2.0
// Rows of a product from an image, in any element type. Padding is zero.
#pragma once

#include <algorithm>
#include <vector>

#include "run/plain_products.h"

namespace tandem::run {

/// The pixel that a tap reads; below 0: it lies in the padding.
inline ptrdiff_t plain_pixel(const PlainWindow& w, size_t row, size_t tap) {
    const size_t x = row % w.out_width, y = row / w.out_width % w.out_height;
    const size_t image = row / w.out_width / w.out_height;
    // Unsigned on purpose: what lies above or on the left is far beyond the image.
    const size_t h = y * w.stride_h + tap / w.kernel_w * w.dilation_h - w.pad_top;
    const size_t v = x * w.stride_w + tap % w.kernel_w * w.dilation_w - w.pad_left;
    if (h >= w.height || v >= w.width) return -1;
    return static_cast<ptrdiff_t>((image * w.height + h) * w.width + v);
}

/// Rows of the product that are worked on together: few enough for a cache, and enough of them for
/// a weight that is fetched to be worth it.
inline size_t plain_rows_at_once(size_t bytes_of_row) {
    constexpr size_t kCache = size_t{256} << 10;
    return std::clamp<size_t>(kCache / bytes_of_row, 16, 256);
}

/// `count` rows from `first` on, for one group.
template <class T>
void plain_gather(const PlainProduct& p, const std::vector<T>& image, size_t group, size_t first,
                  size_t count, std::vector<T>& rows) {
    const size_t channels = p.channels();
    rows.assign(count * p.k(), T{});
    auto to = rows.begin();
    for (size_t row = first; row < first + count; ++row)
        for (size_t tap = 0; tap < p.window.taps(); ++tap, to += static_cast<ptrdiff_t>(channels)) {
            const ptrdiff_t pixel = plain_pixel(p.window, row, tap);
            if (pixel < 0) continue;
            const size_t from = static_cast<size_t>(pixel) * p.window.channels + group * channels;
            std::copy_n(image.begin() + static_cast<ptrdiff_t>(from), channels, to);
        }
}

}  // namespace tandem::run
