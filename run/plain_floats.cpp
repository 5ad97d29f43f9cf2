// SPDX-License-Identifier: Apache-2.0
#include "run/plain_floats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "run/plain_flush.h"
#include "run/plain_gather.h"

namespace tandem::run {
namespace {

using compiler::Activation;
using compiler::ElementType;

uint32_t word_at(const std::vector<uint8_t>& bytes, size_t at, size_t count) {
    uint32_t word = 0;
    for (size_t i = 0; i < count; ++i) word |= uint32_t{bytes[at + i]} << 8 * i;
    return word;
}

/// Tiny numbers and NaNs as the machine has them.
float canonical(float value) {
    if (std::isnan(value)) return std::bit_cast<float>(0x7fc00000u);
    return std::fabs(value) < std::numeric_limits<float>::min() ? std::copysign(0.0f, value)
                                                                : value;
}

/// Tiny ones are zero before they are rounded.
float rounded(double value) {
    if (std::fabs(value) < double{std::numeric_limits<float>::min()})
        return std::copysign(0.0f, static_cast<float>(std::copysign(1.0, value)));
    return static_cast<float>(value);
}

/// Half to even on the 16 bits that go.
uint32_t upper_half(uint32_t bits) {
    const uint32_t rest = bits & 0xffff, kept = bits >> 16;
    return kept + (rest > 0x8000 || (rest == 0x8000 && kept % 2 == 1));
}

/// A NaN if either is one; +0 is larger than -0.
float larger(float a, float b) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<float>::quiet_NaN();
    if (a == b) return std::signbit(a) ? b : a;
    return a > b ? a : b;
}
float smaller(float a, float b) { return -larger(-a, -b); }

/// `pool` is told the elements of a window's taps inside the image.
template <class Pool>
PlainFloats over_windows(const PlainWindow& w, const PlainFloats& image, Pool pool) {
    const TinyNumbersAreZero modes;
    PlainFloats result, taps;
    for (size_t row = 0; row < w.rows(); ++row)
        for (size_t c = 0; c < w.channels; ++c) {
            taps.clear();
            for (size_t tap = 0; tap < w.taps(); ++tap) {
                const ptrdiff_t pixel = plain_pixel(w, row, tap);
                if (pixel >= 0) taps.push_back(image[static_cast<size_t>(pixel) * w.channels + c]);
            }
            result.push_back(pool(taps));
        }
    return result;
}

}  // namespace

PlainFloats plain_floats(const std::vector<uint8_t>& bytes, ElementType type) {
    const size_t size = compiler::element_type_bytes(type);
    PlainFloats values(bytes.size() / size);
    for (size_t i = 0; i < values.size(); ++i) {
        const uint32_t word = word_at(bytes, i * size, size);
        values[i] = canonical(std::bit_cast<float>(type == ElementType::kBf16 ? word << 16 : word));
    }
    return values;
}

std::vector<uint8_t> plain_bytes(const PlainFloats& values, ElementType type) {
    std::vector<uint8_t> bytes;
    for (const float value : values) {
        const auto bits = std::bit_cast<uint32_t>(canonical(value));
        const uint32_t word = type == ElementType::kBf16 ? upper_half(bits) : bits;
        for (size_t i = 0; i < compiler::element_type_bytes(type); ++i)
            bytes.push_back(static_cast<uint8_t>(word >> 8 * i));
    }
    return bytes;
}

void plain_add_bias(PlainFloats& rows, const PlainFloats& bias) {
    const TinyNumbersAreZero modes;
    for (size_t i = 0; i < rows.size(); ++i) rows[i] += bias[i % bias.size()];
}

void plain_activate(PlainFloats& values, Activation activation) {
    if (activation == Activation::kNone) return;
    const float least = activation == Activation::kReluN1To1 ? -1.0f : 0.0f;
    const float most = activation == Activation::kReluN1To1 ? 1.0f
                       : activation == Activation::kRelu6   ? 6.0f
                                                          : std::numeric_limits<float>::infinity();
    for (float& value : values) value = smaller(larger(value, least), most);
}

PlainFloats plain_add(const PlainFloats& a, const PlainFloats& b) {
    const TinyNumbersAreZero modes;
    PlainFloats sum(a.size());
    for (size_t i = 0; i < a.size(); ++i) sum[i] = a[i] + b[i];
    return sum;
}

PlainFloats plain_max_pool(const PlainWindow& window, const PlainFloats& image) {
    return over_windows(window, image, [](const PlainFloats& taps) {
        float most = taps.front();
        for (const float value : taps) most = larger(most, value);
        return most;
    });
}

PlainFloats plain_average_pool(const PlainWindow& window, const PlainFloats& image) {
    return over_windows(window, image, [](const PlainFloats& taps) {
        float sum = 0;
        for (const float value : taps) sum += value;
        return rounded(double{sum} / static_cast<double>(taps.size()));
    });
}

PlainFloats plain_softmax(const PlainFloats& rows, size_t cols, float beta) {
    const TinyNumbersAreZero modes;
    PlainFloats result;
    for (size_t first = 0; first < rows.size(); first += cols) {
        float most = rows[first];
        for (size_t i = 0; i < cols; ++i) most = larger(most, rows[first + i]);
        PlainFloats powers;
        float sum = 0;
        for (size_t i = 0; i < cols; ++i) {
            const float exponent = rounded(double{rows[first + i] - most} * double{beta});
            powers.push_back(rounded(std::exp(double{exponent})));
            sum += powers.back();
        }
        for (const float power : powers) result.push_back(rounded(double{power} / double{sum}));
    }
    return result;
}

}  // namespace tandem::run
