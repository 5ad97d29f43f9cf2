// SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/gather.h"

#include <algorithm>

namespace tandem::compiler {

std::vector<Transfer> gathered(ValueId value, const Gather& gather) {
    const ImageWindow& far = gather.window;
    const ImageWindow near = far.gathered();
    const uint64_t line_step = far.skips_lines() ? far.stride_h : 1;
    const uint64_t pixel_step = far.skips_pixels() ? far.stride_w : 1;
    const bool images_join = near.in_h * line_step == far.in_h;
    std::vector<Transfer> transfers;
    uint64_t address = gather.address;
    for (uint64_t at = gather.pixels.begin; at < gather.pixels.end;) {
        const uint64_t line = at / near.in_w, column = at % near.in_w;
        const uint64_t left = gather.pixels.end - at;
        Transfer t;
        t.value = value;
        t.offset = line / near.in_h * far.image_bytes() +
                   line % near.in_h * line_step * far.in_line_bytes() +
                   column * pixel_step * far.pixel_bytes() + gather.offset;
        t.address = static_cast<uint32_t>(address);
        t.bytes = gather.bytes;
        t.stride = pixel_step * far.pixel_bytes();
        t.plane_stride = line_step * far.in_line_bytes();
        t.rows = std::min(left, near.in_w - column);
        if (column == 0 && left >= near.in_w) {
            t.planes = left / near.in_w;
            if (!images_join) t.planes = std::min(t.planes, near.in_h - line % near.in_h);
        }
        const uint64_t pixels = t.rows * t.planes;
        if (t.bytes == t.stride) t.bytes *= t.rows, t.rows = 1;
        if (t.rows == 1) t.rows = t.planes, t.stride = t.plane_stride, t.planes = 1;
        transfers.push_back(t);
        address += pixels * gather.bytes;
        at += pixels;
    }
    return transfers;
}

}  // namespace tandem::compiler
