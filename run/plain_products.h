// SPDX-License-Identifier: Apache-2.0
// Products by plain loops, for plain_loops: nothing of the compiler or of the engines' kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace tandem::run {

/// How the rows of a product are read from an image (NHWC), whose padding is zero. A matrix: as
/// many images of one pixel as it has rows.
struct PlainWindow {
    size_t images = 1, height = 1, width = 1, channels = 1;
    size_t out_height = 1, out_width = 1;
    size_t kernel_h = 1, kernel_w = 1;
    size_t stride_h = 1, stride_w = 1;
    size_t dilation_h = 1, dilation_w = 1;
    size_t pad_top = 0, pad_left = 0;

    size_t rows() const { return images * out_height * out_width; }
    size_t taps() const { return kernel_h * kernel_w; }
};

/// Weights are [groups * n][taps][channels of a group]; group g reads the image's g-th channels.
struct PlainProduct {
    PlainWindow window;
    size_t groups = 1;
    size_t n = 1;  ///< of each group

    size_t channels() const { return window.channels / groups; }
    size_t k() const { return window.taps() * channels(); }
    size_t out_channels() const { return groups * n; }
};

/// From the sum, which wraps, of an output channel to int8.
using PlainFinish = std::function<int8_t(uint32_t sum, size_t channel)>;
/// Told how many products have been added since the last time.
using PlainStep = std::function<void(uint64_t macs)>;

std::vector<uint8_t> plain_int8_product(const PlainProduct& product,
                                        const std::vector<uint8_t>& image, int32_t zero_point,
                                        const std::vector<uint8_t>& weights,
                                        const PlainFinish& finish, const PlainStep& step);

/// Weights are [taps][channels * multiplier].
std::vector<uint8_t> plain_int8_depthwise(const PlainWindow& window, size_t multiplier,
                                          const std::vector<uint8_t>& image, int32_t zero_point,
                                          const std::vector<uint8_t>& weights,
                                          const PlainFinish& finish, const PlainStep& step);

/// What the order of bf16 sums depends on.
struct PlainArray {
    size_t rows = 1, cols = 1;
    bool sum4 = false;
};

/// fp32 sums, in the order of the array: docs/numerics.md.
std::vector<float> plain_bf16_product(const PlainProduct& product,
                                      const std::vector<uint8_t>& image,
                                      const std::vector<uint8_t>& weights, const PlainArray& array,
                                      const PlainStep& step);

/// By block-diagonal matrices, with all of their zeros. Weights are [taps][channels * multiplier].
std::vector<float> plain_bf16_depthwise(const PlainWindow& window, size_t multiplier,
                                        const std::vector<uint8_t>& image,
                                        const std::vector<uint8_t>& weights,
                                        const PlainArray& array, const PlainStep& step);

}  // namespace tandem::run
