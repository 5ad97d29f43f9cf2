// SPDX-License-Identifier: Apache-2.0
#include "testbench/support/naive_ops.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tandem::testbench {

namespace {

int32_t wrap(int64_t value) { return static_cast<int32_t>(static_cast<uint64_t>(value)); }

int8_t clamp8(int64_t value, int32_t low, int32_t high) {
    return static_cast<int8_t>(std::min<int64_t>(std::max<int64_t>(value, low), high));
}

/// Calls `visit(position in the input of channel 0, tap)` for the taps inside the image.
template <class Visit>
void for_taps(const NaiveWindow& w, int image, int oh, int ow, const Visit& visit) {
    for (int kh = 0; kh < w.kernel_h; ++kh)
        for (int kw = 0; kw < w.kernel_w; ++kw) {
            const int ih = oh * w.stride_h - w.pad_top + kh * w.dilation_h;
            const int iw = ow * w.stride_w - w.pad_left + kw * w.dilation_w;
            if (ih < 0 || ih >= w.in_h || iw < 0 || iw >= w.in_w) continue;
            visit(static_cast<size_t>((image * w.in_h + ih) * w.in_w + iw) *
                      static_cast<size_t>(w.in_c),
                  kh * w.kernel_w + kw);
        }
}

template <class Compute>
Int8s for_outputs(const NaiveWindow& w, int channels, const Compute& compute) {
    Int8s result;
    for (int image = 0; image < w.batch; ++image)
        for (int oh = 0; oh < w.out_h; ++oh)
            for (int ow = 0; ow < w.out_w; ++ow)
                for (int c = 0; c < channels; ++c) result.push_back(compute(image, oh, ow, c));
    return result;
}

}  // namespace

int64_t naive_nearest_even(double value) {
    if (std::isnan(value)) return 0;
    value = std::clamp(value, -2147483648.0, 2147483647.0);
    const double floor = std::floor(value);
    const double rest = value - floor;
    const auto whole = static_cast<int64_t>(floor);
    if (rest != 0.5) return whole + (rest > 0.5 ? 1 : 0);
    return whole + (whole & 1);
}

int32_t naive_two_roundings(int32_t accumulator, int32_t multiplier, int32_t shift) {
    shift = std::clamp(shift, -31, 30);
    const int64_t shifted = wrap(int64_t{accumulator} * (int64_t{1} << std::max(shift, 0)));
    // First rounding: to the nearest, ties towards plus infinity.
    const int64_t high = std::min<int64_t>((shifted * multiplier + (int64_t{1} << 30)) >> 31,
                                           std::numeric_limits<int32_t>::max());
    if (shift >= 0) return static_cast<int32_t>(high);
    // Second rounding: to the nearest, ties away from zero.
    const int64_t half = int64_t{1} << (-shift - 1);
    const int64_t magnitude = (std::abs(high) + half) >> -shift;
    return static_cast<int32_t>(high < 0 ? -magnitude : magnitude);
}

NaiveScale naive_quantise(double real) {
    int exponent = 0;
    const double mantissa = std::frexp(real, &exponent);
    auto q31 = static_cast<int64_t>(std::round(mantissa * 2147483648.0));
    if (q31 == int64_t{1} << 31) {
        q31 /= 2;
        ++exponent;
    }
    if (exponent < -31) return {};
    return {0, static_cast<int32_t>(q31), exponent};
}

int8_t NaiveOutput::finish(int32_t accumulator, int channel) const {
    const NaiveScale& scale = scales[scales.size() == 1 ? 0 : static_cast<size_t>(channel)];
    if (rounding == NaiveRounding::kGemmlowp)
        return clamp8(
            int64_t{naive_two_roundings(accumulator, scale.multiplier, scale.shift)} + zero_point,
            low, high);
    const float product = static_cast<float>(accumulator) * scale.single;
    return clamp8(naive_nearest_even(product) + zero_point, low, high);
}

Int8s naive_conv(const NaiveWindow& w, const Int8s& input, int32_t input_zero, const Int8s& weights,
                 const std::vector<int32_t>& bias, int out_c, int groups,
                 const NaiveOutput& output) {
    const int group_in = w.in_c / groups, group_out = out_c / groups;
    return for_outputs(w, out_c, [&](int image, int oh, int ow, int c) {
        int64_t sum = bias.empty() ? 0 : bias[static_cast<size_t>(c)];
        for_taps(w, image, oh, ow, [&](size_t pixel, int tap) {
            const size_t at = pixel + static_cast<size_t>(c / group_out * group_in);
            const auto row = static_cast<size_t>(c * w.kernel_h * w.kernel_w + tap) *
                             static_cast<size_t>(group_in);
            for (size_t i = 0; i < static_cast<size_t>(group_in); ++i)
                sum += (input[at + i] - input_zero) * weights[row + i];
        });
        return output.finish(wrap(sum), c);
    });
}

Int8s naive_depthwise(const NaiveWindow& w, const Int8s& input, int32_t input_zero,
                      const Int8s& weights, const std::vector<int32_t>& bias, int multiplier,
                      const NaiveOutput& output) {
    const int out_c = w.in_c * multiplier;
    return for_outputs(w, out_c, [&](int image, int oh, int ow, int c) {
        int64_t sum = bias.empty() ? 0 : bias[static_cast<size_t>(c)];
        for_taps(w, image, oh, ow, [&](size_t pixel, int tap) {
            sum += (input[pixel + static_cast<size_t>(c / multiplier)] - input_zero) *
                   weights[static_cast<size_t>(tap) * static_cast<size_t>(out_c) +
                           static_cast<size_t>(c)];
        });
        return output.finish(wrap(sum), c);
    });
}

Int8s naive_fully_connected(const Int8s& input, int32_t input_zero, const Int8s& weights,
                            int32_t weight_zero, const std::vector<int32_t>& bias, int out_c,
                            const NaiveOutput& output) {
    const size_t depth = weights.size() / static_cast<size_t>(out_c);
    Int8s result;
    for (size_t row = 0; row < input.size() / depth; ++row)
        for (int c = 0; c < out_c; ++c) {
            int64_t sum = bias.empty() ? 0 : bias[static_cast<size_t>(c)];
            for (size_t k = 0; k < depth; ++k)
                sum += (input[row * depth + k] - input_zero) *
                       (weights[static_cast<size_t>(c) * depth + k] - weight_zero);
            result.push_back(output.finish(wrap(sum), c));
        }
    return result;
}

Int8s naive_max_pool(const NaiveWindow& w, const Int8s& input, int32_t low, int32_t high) {
    return for_outputs(w, w.in_c, [&](int image, int oh, int ow, int c) {
        int largest = -128;
        for_taps(w, image, oh, ow, [&](size_t pixel, int) {
            largest = std::max<int>(largest, input[pixel + static_cast<size_t>(c)]);
        });
        return clamp8(largest, low, high);
    });
}

Int8s naive_average_pool(const NaiveWindow& w, const Int8s& input, int32_t low, int32_t high) {
    return for_outputs(w, w.in_c, [&](int image, int oh, int ow, int c) {
        int sum = 0, count = 0;
        for_taps(w, image, oh, ow, [&](size_t pixel, int) {
            sum += input[pixel + static_cast<size_t>(c)];
            ++count;
        });
        // Nearest, ties away from zero.
        const int magnitude = (2 * std::abs(sum) + count) / (2 * count);
        return clamp8(sum < 0 ? -magnitude : magnitude, low, high);
    });
}

Int8s naive_add(const Int8s& a, const Int8s& b, int32_t zero_a, int32_t zero_b,
                const NaiveScale& scale_a, const NaiveScale& scale_b, const NaiveOutput& output) {
    Int8s result;
    for (size_t i = 0; i < a.size(); ++i) {
        const int da = a[i] - zero_a, db = b[i] - zero_b;
        if (output.rounding == NaiveRounding::kGemmlowp) {
            const int sum = naive_two_roundings(da * (1 << 20), scale_a.multiplier, scale_a.shift) +
                            naive_two_roundings(db * (1 << 20), scale_b.multiplier, scale_b.shift);
            result.push_back(output.finish(sum, 0));
            continue;
        }
        const float left = static_cast<float>(da) * scale_a.single;
        const float right = static_cast<float>(db) * scale_b.single;
        const float sum = left + right;
        result.push_back(
            clamp8(naive_nearest_even(sum) + output.zero_point, output.low, output.high));
    }
    return result;
}

Int8s naive_softmax(const Int8s& input, int cols, float scale, float beta) {
    float table[256];
    for (int d = 0; d < 256; ++d) table[d] = std::exp(-scale * beta * static_cast<float>(d));
    Int8s result;
    for (size_t row = 0; row < input.size(); row += static_cast<size_t>(cols)) {
        const auto first = input.begin() + static_cast<ptrdiff_t>(row);
        const int largest = *std::max_element(first, first + cols);
        float sum = 0;
        for (int i = 0; i < cols; ++i) sum += table[largest - first[i]];
        const float inverse = 1.0f / (sum * (1.0f / 256));
        for (int i = 0; i < cols; ++i)
            result.push_back(clamp8(
                static_cast<int64_t>(std::floor(table[largest - first[i]] * inverse + 0.5f)) - 128,
                -128, 127));
    }
    return result;
}

Int8s naive_transpose(const Int8s& source, const compiler::Shape& shape,
                      const std::vector<int64_t>& perm, size_t bytes) {
    const auto extent = [&](size_t axis) { return static_cast<size_t>(shape[axis]); };
    size_t elements = 1;
    for (size_t axis = 0; axis < shape.size(); ++axis) elements *= extent(axis);
    Int8s result;
    for (size_t i = 0; i < source.size() / bytes; ++i) {
        size_t rest = i % elements, at = i / elements;
        std::vector<size_t> place(shape.size());  // in the input
        for (size_t axis = perm.size(); axis-- > 0;) {
            const auto of = static_cast<size_t>(perm[axis]);
            place[of] = rest % extent(of);
            rest /= extent(of);
        }
        for (size_t axis = 0; axis < shape.size(); ++axis) at = at * extent(axis) + place[axis];
        for (size_t byte = 0; byte < bytes; ++byte) result.push_back(source[at * bytes + byte]);
    }
    return result;
}

}  // namespace tandem::testbench
