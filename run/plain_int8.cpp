// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>

#include "run/plain_gather.h"
#include "run/plain_products.h"

namespace tandem::run {
namespace {

/// Nine bits: activations less their zero point. Sixteen of them are what compilers vectorise best.
std::vector<int16_t> widened(const std::vector<uint8_t>& bytes, int32_t zero_point) {
    std::vector<int16_t> values(bytes.size());
    std::ranges::transform(bytes, values.begin(), [&](uint8_t byte) {
        return static_cast<int16_t>(static_cast<int8_t>(byte) - zero_point);
    });
    return values;
}

/// Parts are short enough for int32, and their sum wraps.
uint32_t dot(const int16_t* a, const int16_t* w, size_t count) {
    constexpr size_t kPart = 32768;  // * 255 * 128 < 2^31
    uint32_t sum = 0;
    for (size_t first = 0; first < count; first += kPart) {
        const size_t last = std::min(count, first + kPart);
        int32_t part = 0;
        for (size_t k = first; k < last; ++k) part += a[k] * w[k];
        sum += static_cast<uint32_t>(part);
    }
    return sum;
}

}  // namespace

std::vector<uint8_t> plain_int8_product(const PlainProduct& p, const std::vector<uint8_t>& image,
                                        int32_t zero_point, const std::vector<uint8_t>& weights,
                                        const PlainFinish& finish, const PlainStep& step) {
    const size_t rows = p.window.rows(), k = p.k(), at_once = plain_rows_at_once(k * 2);
    const auto values = widened(image, zero_point);
    std::vector<uint8_t> result(rows * p.out_channels());
    std::vector<int16_t> a, w(k);
    for (size_t first = 0; first < rows; first += at_once) {
        const size_t count = std::min(at_once, rows - first);
        for (size_t channel = 0; channel < p.out_channels(); ++channel) {
            if (channel % p.n == 0) plain_gather(p, values, channel / p.n, first, count, a);
            for (size_t i = 0; i < k; ++i) w[i] = static_cast<int8_t>(weights[channel * k + i]);
            for (size_t row = 0; row < count; ++row)
                result[(first + row) * p.out_channels() + channel] =
                    static_cast<uint8_t>(finish(dot(a.data() + row * k, w.data(), k), channel));
        }
        step(count * k * p.out_channels());
    }
    return result;
}

std::vector<uint8_t> plain_int8_depthwise(const PlainWindow& w, size_t multiplier,
                                          const std::vector<uint8_t>& image, int32_t zero_point,
                                          const std::vector<uint8_t>& weights,
                                          const PlainFinish& finish, const PlainStep& step) {
    const size_t out_channels = w.channels * multiplier;
    const auto values = widened(image, zero_point);
    const auto factors = widened(weights, 0);
    std::vector<uint8_t> result;
    result.reserve(w.rows() * out_channels);
    std::vector<int32_t> sums(out_channels);
    for (size_t row = 0; row < w.rows(); ++row) {
        std::ranges::fill(sums, 0);  // a window has too few taps for int32 to overflow
        for (size_t tap = 0; tap < w.taps(); ++tap) {
            const ptrdiff_t pixel = plain_pixel(w, row, tap);
            if (pixel < 0) continue;
            const int16_t* a = values.data() + static_cast<size_t>(pixel) * w.channels;
            const int16_t* f = factors.data() + tap * out_channels;
            if (multiplier == 1)
                for (size_t c = 0; c < out_channels; ++c) sums[c] += a[c] * f[c];
            else
                for (size_t c = 0; c < out_channels; ++c) sums[c] += a[c / multiplier] * f[c];
        }
        for (size_t c = 0; c < out_channels; ++c)
            result.push_back(static_cast<uint8_t>(finish(static_cast<uint32_t>(sums[c]), c)));
        step(w.taps() * out_channels);
    }
    return result;
}

}  // namespace tandem::run
