// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "testbench/support/naive_bf16.h"
#include "testbench/support/naive_ops.h"

namespace tandem::testing {

namespace {

using namespace testbench;

/// Of one output: activations and weights in the order of k.
uint16_t in_array_order(const std::vector<uint16_t>& a, const std::vector<uint16_t>& w,
                        const NaiveArray& array) {
    const size_t rows = static_cast<size_t>(array.rows), step = array.sum4 ? 4 : 1;
    uint32_t total = 0;
    for (size_t first = 0; first < a.size(); first += rows) {
        const size_t last = std::min(a.size(), first + rows);
        uint32_t sum = 0;
        for (size_t k = first; k < last; k += step) {
            std::vector<uint32_t> products;
            for (size_t i = k; i < std::min(k + step, last); ++i)
                products.push_back(naive_bf16::product(a[i], w[i]));
            sum = naive_bf16::sum(sum, array.sum4 ? naive_bf16::sum4(products) : products.front());
        }
        total = first == 0 ? sum : naive_bf16::sum(total, sum);
    }
    return naive_bf16::narrow(total);
}

}  // namespace

std::vector<uint16_t> naive_conv_bf16(const NaiveWindow& w, const std::vector<uint16_t>& input,
                                      const std::vector<uint16_t>& weights, int out_c, int groups,
                                      const NaiveArray& array) {
    const int in_c = w.in_c / groups, depth = w.kernel_h * w.kernel_w * in_c;
    // The activations of one output position and group, in the order of k.
    const auto gather = [&](int image, int oh, int ow, int group) {
        std::vector<uint16_t> a;
        for (int kh = 0; kh < w.kernel_h; ++kh)
            for (int kw = 0; kw < w.kernel_w; ++kw)
                for (int c = 0; c < in_c; ++c) {
                    const int ih = oh * w.stride_h - w.pad_top + kh * w.dilation_h;
                    const int iw = ow * w.stride_w - w.pad_left + kw * w.dilation_w;
                    const bool inside = ih >= 0 && ih < w.in_h && iw >= 0 && iw < w.in_w;
                    const auto at = static_cast<size_t>((image * w.in_h + ih) * w.in_w + iw) *
                                        static_cast<size_t>(w.in_c) +
                                    static_cast<size_t>(group * in_c + c);
                    a.push_back(inside ? input[at] : uint16_t{0});
                }
        return a;
    };
    std::vector<uint16_t> result;
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

}  // namespace tandem::testing
