// SPDX-License-Identifier: Apache-2.0
// The window through which a convolution or a pool reads its images.
#pragma once

#include <cstdint>

namespace tandem::compiler {

/// How a kernel moves over images; every size as the graph has it. A matrix product reads images of
/// one pixel.
struct ImageWindow {
    uint64_t images = 1;
    uint64_t in_h = 1, in_w = 1;
    uint64_t channels = 1;  ///< of a pixel
    uint64_t kernel_h = 1, kernel_w = 1;
    uint64_t stride_h = 1, stride_w = 1;
    uint64_t dilation_h = 1, dilation_w = 1;
    uint64_t pad_top = 0, pad_left = 0;
    uint64_t out_h = 1, out_w = 1;
    uint32_t element_bytes = 1;
    int8_t pad_value = 0;

    /// Output rows of an image are lines; work is shared out in lines.
    uint64_t lines() const { return images * out_h; }
    uint64_t rows() const { return lines() * out_w; }
    uint64_t pixel_bytes() const { return channels * element_bytes; }
    uint64_t in_line_bytes() const { return in_w * pixel_bytes(); }
    uint64_t image_bytes() const { return in_h * in_line_bytes(); }
    /// Every output position reads the pixel at its own place and no other: input and output rows
    /// are the same ones, and K can be cut anywhere.
    bool one_to_one() const {
        return kernel_h == 1 && kernel_w == 1 && stride_h == 1 && stride_w == 1 && pad_top == 0 &&
               pad_left == 0 && in_h == out_h && in_w == out_w;
    }

    /// Windows of one tap that move by more: of the lines (pixels of a line) every stride-th one is
    /// read.
    bool skips_lines() const {
        return kernel_h == 1 && stride_h > 1 && pad_top == 0 && (out_h - 1) * stride_h < in_h;
    }
    bool skips_pixels() const {
        return kernel_w == 1 && stride_w > 1 && pad_left == 0 && (out_w - 1) * stride_w < in_w;
    }
    /// The same work on images without what is skipped.
    ImageWindow gathered() const {
        ImageWindow dense = *this;
        if (skips_lines()) dense.in_h = out_h, dense.stride_h = 1;
        if (skips_pixels()) dense.in_w = out_w, dense.stride_w = 1;
        return dense;
    }
};

}  // namespace tandem::compiler
