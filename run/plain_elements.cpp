// SPDX-License-Identifier: Apache-2.0
#include "run/plain_elements.h"

#include <algorithm>
#include <cmath>

#include "compiler/graph/operators.h"
#include "run/plain_gather.h"

namespace tandem::run {
namespace {

using namespace compiler;

int8_t number(uint8_t byte) { return static_cast<int8_t>(byte); }

/// Half to even, within int32.
int32_t rounded(float value) {
    if (std::isnan(value)) return 0;
    return static_cast<int32_t>(std::clamp(std::nearbyint(static_cast<double>(value)),
                                           double{INT32_MIN}, double{INT32_MAX}));
}

}  // namespace

PlainRange::PlainRange(const Tensor& out, const Node& node) {
    if (out.quantization.scales.empty()) return;
    zero_point_ = out.zero_point();
    const auto level = [&](float real) {
        return std::clamp<int64_t>(int64_t{rounded(real / out.scale())} + zero_point_, -128, 127);
    };
    const Activation fused = activation(node);
    if (fused == Activation::kRelu || fused == Activation::kRelu6) low_ = zero_point_;
    if (fused == Activation::kRelu6) high_ = static_cast<int32_t>(level(6));
    if (fused == Activation::kReluN1To1) {
        low_ = static_cast<int32_t>(level(-1));
        high_ = static_cast<int32_t>(level(1));
    }
}

uint8_t PlainRange::round(float steps) const {
    const int64_t value = int64_t{rounded(steps)} + zero_point_;
    return static_cast<uint8_t>(std::clamp<int64_t>(value, low_, high_));
}

uint8_t PlainRange::clamp(int32_t value) const {
    return static_cast<uint8_t>(std::clamp(value, low_, high_));
}

PlainBytes plain_add(const PlainBytes& a, const Tensor& of_a, const PlainBytes& b,
                     const Tensor& of_b, const Tensor& out, const PlainRange& range) {
    const float factor_a = of_a.scale() / out.scale(), factor_b = of_b.scale() / out.scale();
    PlainBytes sum(a.size());
    for (size_t i = 0; i < a.size(); ++i)
        sum[i] = range.round(static_cast<float>(number(a[i]) - of_a.zero_point()) * factor_a +
                             static_cast<float>(number(b[i]) - of_b.zero_point()) * factor_b);
    return sum;
}

PlainBytes plain_pool(const PlainWindow& w, bool largest, const PlainBytes& image,
                      const PlainRange& range) {
    PlainBytes result;
    for (size_t row = 0; row < w.rows(); ++row)
        for (size_t c = 0; c < w.channels; ++c) {
            int32_t most = -128, sum = 0, count = 0;
            for (size_t tap = 0; tap < w.taps(); ++tap) {
                const ptrdiff_t pixel = plain_pixel(w, row, tap);
                if (pixel < 0) continue;
                const int32_t value = number(image[static_cast<size_t>(pixel) * w.channels + c]);
                most = std::max(most, value);
                sum += value;
                ++count;
            }
            const int32_t half = sum < 0 ? -(count / 2) : count / 2;
            result.push_back(range.clamp(largest ? most : (sum + half) / count));
        }
    return result;
}

PlainBytes plain_mean(const PlainBytes& image, const Tensor& in, const Tensor& out,
                      const PlainRange& range) {
    const auto count = static_cast<size_t>(in.shape[1] * in.shape[2]);
    const auto channels = static_cast<size_t>(in.shape[3]);
    const float factor = in.scale() / out.scale() / static_cast<float>(count);
    PlainBytes result;
    for (size_t first = 0; first < image.size(); first += count * channels)
        for (size_t c = 0; c < channels; ++c) {
            uint32_t sum = 0;  // wraps
            for (size_t i = 0; i < count; ++i)
                sum += static_cast<uint32_t>(number(image[first + i * channels + c]) -
                                             in.zero_point());
            result.push_back(range.round(static_cast<float>(static_cast<int32_t>(sum)) * factor));
        }
    return result;
}

PlainBytes plain_transpose(const PlainBytes& from, const Shape& shape,
                           const std::vector<int64_t>& perm, size_t bytes) {
    std::vector<size_t> strides(shape.size(), bytes);  // of the input
    for (size_t axis = shape.size(); axis-- > 1;)
        strides[axis - 1] = strides[axis] * static_cast<size_t>(shape[axis]);
    PlainBytes to;
    to.reserve(from.size());
    // A counter over the output's axes, the last one fastest.
    const auto gather = [&](auto&& self, size_t axis, size_t at) -> void {
        if (axis == perm.size()) {
            for (size_t byte = 0; byte < bytes; ++byte) to.push_back(from[at + byte]);
            return;
        }
        const auto of = static_cast<size_t>(perm[axis]);
        for (int64_t i = 0; i < shape[of]; ++i)
            self(self, axis + 1, at + static_cast<size_t>(i) * strides[of]);
    };
    const size_t whole = shape.empty() ? bytes : strides[0] * static_cast<size_t>(shape[0]);
    for (size_t first = 0; first < from.size(); first += whole) gather(gather, 0, first);
    return to;
}

PlainBytes plain_softmax(const PlainBytes& rows, const Tensor& in, float beta) {
    const auto cols = static_cast<size_t>(in.shape.back());
    const float step = -in.scale() * beta;
    const auto power = [&](int32_t below) {
        return static_cast<float>(std::exp(static_cast<double>(step * static_cast<float>(below))));
    };
    PlainBytes result;
    for (size_t first = 0; first < rows.size(); first += cols) {
        int32_t largest = -128;
        for (size_t i = 0; i < cols; ++i)
            largest = std::max<int32_t>(largest, number(rows[first + i]));
        float sum = 0;
        for (size_t i = 0; i < cols; ++i) sum += power(largest - number(rows[first + i]));
        const float inverse = 256.0f / sum;
        for (size_t i = 0; i < cols; ++i) {
            const float level =
                std::trunc(power(largest - number(rows[first + i])) * inverse + 0.5f) - 128.0f;
            result.push_back(
                static_cast<uint8_t>(static_cast<int32_t>(std::clamp(level, -128.0f, 127.0f))));
        }
    }
    return result;
}

}  // namespace tandem::run
