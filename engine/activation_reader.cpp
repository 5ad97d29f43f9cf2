// SPDX-License-Identifier: Apache-2.0
#include "engine/activation_reader.h"

#include <algorithm>
#include <cstring>

namespace tandem::engine {

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
                     last_pixel * g.pixel_stride + matmul.ub_addr +
                     uint64_t{g.channels} * element_bytes_;
    return end <= buffer_.size();
}

void ActivationReader::read(const isa::Matmul& matmul, std::byte* out) const {
    const std::vector<Run> runs = runs_of(matmul);
    if (one_pixel() && !runs.empty()) return read_pixels(matmul, runs.front(), out);
    Position at = position(matmul.row_start);
    for (uint32_t i = 0; i < matmul.rows; ++i, out += row_bytes(), advance(at))
        read_row(buffer_.data() + matmul.ub_addr + at.image * geometry_.image_stride, at, runs,
                 out);
}

/// The same for every row of the matmul.
std::vector<ActivationReader::Run> ActivationReader::runs_of(const isa::Matmul& matmul) const {
    const isa::Geometry& g = geometry_;
    const uint32_t end = matmul.k_start + matmul.k_len;
    std::vector<Run> runs;
    for (uint32_t k = matmul.k_start; k < end;) {
        const uint32_t tap = k / g.channels, channel = k % g.channels;
        const uint32_t count = std::min<uint32_t>(g.channels - channel, end - k);
        runs.push_back({int64_t{tap / g.kernel_w} * g.dilation_h,
                        int64_t{tap % g.kernel_w} * g.dilation_w,
                        uint64_t{channel} * element_bytes_, count * element_bytes_});
        k += count;
    }
    return runs;
}

ActivationReader::Position ActivationReader::position(uint64_t number) const {
    const isa::Geometry& g = geometry_;
    return {number / (uint64_t{g.out_height} * g.out_width),
            static_cast<uint32_t>(number / g.out_width % g.out_height),
            static_cast<uint32_t>(number % g.out_width)};
}

void ActivationReader::advance(Position& at) const {
    if (++at.column < geometry_.out_width) return;
    at.column = 0;
    if (++at.row < geometry_.out_height) return;
    at.row = 0;
    ++at.image;
}

bool ActivationReader::one_pixel() const {
    const isa::Geometry& g = geometry_;
    return g.kernel_h == 1 && g.kernel_w == 1 && g.pad_top == 0 && g.pad_left == 0 &&
           (g.out_height - 1) * g.stride_h < g.in_height &&
           (g.out_width - 1) * g.stride_w < g.in_width;
}

void ActivationReader::read_pixels(const isa::Matmul& matmul, const Run& run,
                                   std::byte* out) const {
    const isa::Geometry& g = geometry_;
    const uint8_t* from = buffer_.data() + matmul.ub_addr + run.offset;
    const size_t rest = row_bytes() - run.bytes;
    Position at = position(matmul.row_start);
    for (uint32_t i = 0; i < matmul.rows; ++i, out += row_bytes(), advance(at)) {
        const uint64_t pixel =
            uint64_t{at.row} * g.stride_h * g.in_width + uint64_t{at.column} * g.stride_w;
        std::memcpy(out, from + at.image * g.image_stride + pixel * g.pixel_stride, run.bytes);
        if (rest != 0) std::memset(out + run.bytes, 0, rest);
    }
}

void ActivationReader::read_row(const uint8_t* image, const Position& at, std::span<const Run> runs,
                                std::byte* out) const {
    const isa::Geometry& g = geometry_;
    const int64_t top = int64_t{at.row} * g.stride_h - g.pad_top;
    const int64_t left = int64_t{at.column} * g.stride_w - g.pad_left;
    const uint8_t pad = element_bytes_ == 1 ? static_cast<uint8_t>(g.pad_value) : uint8_t{0};
    std::byte* const end = out + row_bytes();
    for (const Run& run : runs) {
        const int64_t h = top + run.down, w = left + run.right;
        if (h >= 0 && h < g.in_height && w >= 0 && w < g.in_width)
            std::memcpy(out, image + (h * g.in_width + w) * g.pixel_stride + run.offset, run.bytes);
        else
            std::memset(out, pad, run.bytes);
        out += run.bytes;
    }
    std::memset(out, 0, static_cast<size_t>(end - out));
}

}  // namespace tandem::engine
