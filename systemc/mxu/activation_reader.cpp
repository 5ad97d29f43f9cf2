// SPDX-License-Identifier: Apache-2.0
#include "systemc/mxu/activation_reader.h"

#include <algorithm>
#include <cstring>

namespace tandem::sim {

bool ActivationReader::valid(const isa::Geometry& g) {
    return g.in_height != 0 && g.in_width != 0 && g.channels != 0 && g.kernel_h != 0 &&
           g.kernel_w != 0 && g.stride_h != 0 && g.stride_w != 0 && g.dilation_h != 0 &&
           g.dilation_w != 0 && g.out_height != 0 && g.out_width != 0;
}

bool ActivationReader::inside_buffer(const isa::Matmul& matmul) const {
    const isa::Geometry& g = geometry_;
    const uint64_t last_position = uint64_t{matmul.row_start} + matmul.rows - 1;
    const uint64_t last_image = last_position / (uint64_t{g.out_height} * g.out_width);
    const uint64_t last_pixel = uint64_t{g.in_height} * g.in_width - 1;
    // 128 bits: last_image * image_stride can exceed 64.
    const auto end = static_cast<unsigned __int128>(last_image) * g.image_stride +
                     last_pixel * g.pixel_stride + matmul.ub_addr + g.channels;
    return end <= buffer_.size();
}

void ActivationReader::read(const isa::Matmul& matmul, int8_t* out) const {
    for (uint32_t i = 0; i < matmul.rows; ++i)
        read_row(matmul, uint64_t{matmul.row_start} + i, out + uint64_t{i} * array_rows_);
}

void ActivationReader::read_row(const isa::Matmul& matmul, uint64_t position, int8_t* out) const {
    const isa::Geometry& g = geometry_;
    const uint64_t positions = uint64_t{g.out_height} * g.out_width;
    const int64_t oh = static_cast<int64_t>(position / g.out_width % g.out_height);
    const int64_t ow = static_cast<int64_t>(position % g.out_width);
    const uint8_t* image = buffer_.data() + matmul.ub_addr + position / positions * g.image_stride;
    const uint32_t end = matmul.k_start + matmul.k_len;
    uint32_t done = 0;
    for (uint32_t k = matmul.k_start; k < end;) {
        // One run: the rest of the channels of one kernel tap.
        const uint32_t tap = k / g.channels, channel = k % g.channels;
        const uint32_t run = std::min<uint32_t>(g.channels - channel, end - k);
        const int64_t ih = oh * g.stride_h + int64_t{tap / g.kernel_w} * g.dilation_h - g.pad_top;
        const int64_t iw = ow * g.stride_w + int64_t{tap % g.kernel_w} * g.dilation_w - g.pad_left;
        const bool inside = ih >= 0 && ih < g.in_height && iw >= 0 && iw < g.in_width;
        if (inside)
            std::memcpy(out + done, image + (ih * g.in_width + iw) * g.pixel_stride + channel, run);
        else
            std::memset(out + done, static_cast<uint8_t>(g.pad_value), run);
        done += run;
        k += run;
    }
    std::memset(out + done, 0, array_rows_ - done);
}

}  // namespace tandem::sim
