// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "testbench/support/naive_bf16.h"
#include "testbench/support/naive_float.h"

namespace tandem::testbench {

namespace {

using namespace testbench;

uint32_t product_of(uint32_t a, uint32_t w) {
    return naive_bf16::product(static_cast<uint16_t>(a >> 16), static_cast<uint16_t>(w >> 16));
}

/// The terms of one output: activations and weights in the order of k.
uint32_t in_array_order(const Fp32s& a, const Fp32s& w, const NaiveArray& array) {
    const size_t rows = static_cast<size_t>(array.rows), step = array.sum4 ? 4 : 1;
    uint32_t total = 0;
    for (size_t first = 0; first < a.size(); first += rows) {
        const size_t last = std::min(a.size(), first + rows);
        uint32_t sum = 0;
        for (size_t k = first; k < last; k += step) {
            std::vector<uint32_t> products;
            for (size_t i = k; i < std::min(k + step, last); ++i)
                products.push_back(product_of(a[i], w[i]));
            sum = naive_bf16::sum(sum, array.sum4 ? naive_bf16::sum4(products) : products.front());
        }
        total = first == 0 ? sum : naive_bf16::sum(total, sum);
    }
    return total;
}

/// Channels that share a matrix: of all numbers whose columns fit the array the one that needs the
/// fewest weight tiles, the largest of several; one at least.
int channels_together(const NaiveWindow& w, int multiplier, const NaiveArray& array) {
    const auto tiles = [&](int channels) {
        const int k = w.kernel_h * w.kernel_w * channels, n = channels * multiplier;
        return ((k - 1) / array.rows + 1) * ((n - 1) / array.cols + 1);
    };
    int best = 1;
    int64_t least = INT64_MAX;
    for (int channels = 1; channels <= w.in_c; ++channels) {
        if (channels != 1 && channels * multiplier > array.cols) continue;
        int64_t total = 0;
        for (int first = 0; first < w.in_c; first += channels)
            total += tiles(std::min(channels, w.in_c - first));
        if (total <= least) least = total, best = channels;
    }
    return best;
}

}  // namespace

Fp32s naive_conv_bf16(const NaiveWindow& w, const Fp32s& input, const Fp32s& weights, int out_c,
                      int groups, const NaiveArray& array) {
    const int in_c = w.in_c / groups, depth = w.kernel_h * w.kernel_w * in_c;
    // The activations of one output position and group, in the order of k.
    const auto gather = [&](int image, int oh, int ow, int group) {
        Fp32s a;
        for (int kh = 0; kh < w.kernel_h; ++kh)
            for (int kw = 0; kw < w.kernel_w; ++kw)
                for (int c = 0; c < in_c; ++c) {
                    const int ih = oh * w.stride_h - w.pad_top + kh * w.dilation_h;
                    const int iw = ow * w.stride_w - w.pad_left + kw * w.dilation_w;
                    const bool inside = ih >= 0 && ih < w.in_h && iw >= 0 && iw < w.in_w;
                    const auto at = static_cast<size_t>((image * w.in_h + ih) * w.in_w + iw) *
                                        static_cast<size_t>(w.in_c) +
                                    static_cast<size_t>(group * in_c + c);
                    a.push_back(inside ? input[at] : 0);
                }
        return a;
    };
    Fp32s result;
    for (int image = 0; image < w.batch; ++image)
        for (int oh = 0; oh < w.out_h; ++oh)
            for (int ow = 0; ow < w.out_w; ++ow)
                for (int c = 0; c < out_c; ++c) {
                    const auto a = gather(image, oh, ow, c / (out_c / groups));
                    const auto row = weights.begin() + ptrdiff_t{c} * depth;
                    result.push_back(in_array_order(a, {row, row + depth}, array));
                }
    return result;
}

Fp32s naive_depthwise_bf16(const NaiveWindow& w, const Fp32s& input, const Fp32s& weights,
                           int multiplier, const NaiveArray& array) {
    const int taps = w.kernel_h * w.kernel_w, step = channels_together(w, multiplier, array);
    Fp32s result(static_cast<size_t>(w.batch * w.out_h * w.out_w * w.in_c * multiplier));
    for (int first = 0; first < w.in_c; first += step) {
        NaiveWindow part = w;
        part.in_c = std::min(step, w.in_c - first);
        const int columns = part.in_c * multiplier;
        Fp32s image, matrix;
        for (size_t at = 0; at < input.size(); ++at) {
            const int channel = static_cast<int>(at) % w.in_c - first;
            if (channel >= 0 && channel < part.in_c) image.push_back(input[at]);
        }
        for (int column = 0; column < columns; ++column)
            for (int tap = 0; tap < taps; ++tap)
                for (int c = 0; c < part.in_c; ++c) {
                    const int at = (tap * w.in_c + first) * multiplier + column;
                    matrix.push_back(column / multiplier == c ? weights[static_cast<size_t>(at)]
                                                              : 0);
                }
        const Fp32s sums = naive_conv_bf16(part, image, matrix, columns, 1, array);
        for (size_t at = 0; at < sums.size(); ++at) {
            const size_t row = at / static_cast<size_t>(columns),
                         column = at % static_cast<size_t>(columns);
            result[(row * static_cast<size_t>(w.in_c) + static_cast<size_t>(first)) *
                       static_cast<size_t>(multiplier) +
                   column] = sums[at];
        }
    }
    return result;
}

}  // namespace tandem::testbench
