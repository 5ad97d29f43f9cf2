// SPDX-License-Identifier: Apache-2.0
#include "testbench/support/naive_float.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "testbench/support/naive_bf16.h"

namespace tandem::testbench {

namespace {

using namespace testbench::naive_bf16;

double number(uint32_t fp32) { return flushed(value(fp32)); }

/// The larger one for sign 1, the smaller one for -1.
double extreme(double a, double b, double sign) {
    if (std::isnan(a) || std::isnan(b)) return std::nan("");
    const bool second = a == b ? std::signbit(b) == (sign < 0) : sign * b > sign * a;
    return second ? b : a;
}

/// For every output position and channel, the elements that lie under the window.
Fp32s over_windows(const NaiveWindow& w, const Fp32s& input,
                   const std::function<uint32_t(const std::vector<double>&)>& reduce) {
    Fp32s result;
    for (int image = 0; image < w.batch; ++image)
        for (int oh = 0; oh < w.out_h; ++oh)
            for (int ow = 0; ow < w.out_w; ++ow)
                for (int c = 0; c < w.in_c; ++c) {
                    std::vector<double> under;
                    for (int kh = 0; kh < w.kernel_h; ++kh)
                        for (int kw = 0; kw < w.kernel_w; ++kw) {
                            const int ih = oh * w.stride_h - w.pad_top + kh;
                            const int iw = ow * w.stride_w - w.pad_left + kw;
                            if (ih < 0 || ih >= w.in_h || iw < 0 || iw >= w.in_w) continue;
                            const int at = ((image * w.in_h + ih) * w.in_w + iw) * w.in_c + c;
                            under.push_back(number(input[static_cast<size_t>(at)]));
                        }
                    result.push_back(reduce(under));
                }
    return result;
}

}  // namespace

Fp32s naive_widen(const Int8s& bytes, bool is_bf16) {
    Fp32s values(bytes.size() / (is_bf16 ? 2 : 4));
    for (size_t i = 0; i < values.size(); ++i)
        if (is_bf16)
            std::memcpy(reinterpret_cast<char*>(&values[i]) + 2, &bytes[i * 2], 2);
        else
            std::memcpy(&values[i], &bytes[i * 4], 4);
    return values;
}

Int8s naive_narrow(const Fp32s& values, bool to_bf16) {
    Int8s bytes(values.size() * (to_bf16 ? 2 : 4));
    for (size_t i = 0; i < values.size(); ++i) {
        const uint32_t pattern = bits(number(values[i]));
        const uint16_t word = narrow(pattern);
        if (to_bf16)
            std::memcpy(&bytes[i * 2], &word, 2);
        else
            std::memcpy(&bytes[i * 4], &pattern, 4);
    }
    return bytes;
}

Fp32s naive_rounded_to_bf16(const Fp32s& values) {
    return naive_widen(naive_narrow(values, true), true);
}

Fp32s naive_with_bias(Fp32s rows, const Fp32s& bias) {
    if (bias.empty()) return rows;
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = sum(rows[i], bias[i % bias.size()]);
    return rows;
}

Fp32s naive_activated(Fp32s values, compiler::Activation activation) {
    using enum compiler::Activation;
    const double low = activation == kReluN1To1 ? -1 : 0;
    for (uint32_t& pattern : values) {
        if (activation == kNone) break;
        double x = extreme(number(pattern), low, 1);
        if (activation == kRelu6) x = extreme(x, 6, -1);
        if (activation == kReluN1To1) x = extreme(x, 1, -1);
        pattern = bits(x);
    }
    return values;
}

Fp32s naive_add_float(const Fp32s& a, const Fp32s& b) {
    Fp32s result(a.size());
    for (size_t i = 0; i < a.size(); ++i) result[i] = sum(a[i], b[i]);
    return result;
}

Fp32s naive_max_pool_float(const NaiveWindow& window, const Fp32s& input) {
    return over_windows(window, input, [](const std::vector<double>& under) {
        double most = -INFINITY;
        for (const double x : under) most = extreme(most, x, 1);
        return bits(most);
    });
}

Fp32s naive_average_pool_float(const NaiveWindow& window, const Fp32s& input) {
    return over_windows(window, input, [](const std::vector<double>& under) {
        uint32_t total = 0;
        for (const double x : under) total = sum(total, bits(x));
        return bits(number(total) / static_cast<double>(under.size()));
    });
}

Fp32s naive_softmax_float(const Fp32s& input, int cols, float beta) {
    Fp32s result;
    const auto count = static_cast<size_t>(cols);
    for (size_t row = 0; row < input.size(); row += count) {
        double most = -INFINITY;
        for (size_t i = 0; i < count; ++i) most = extreme(most, number(input[row + i]), 1);
        Fp32s powers;
        uint32_t total = 0;
        for (size_t i = 0; i < count; ++i) {
            const uint32_t below = bits(number(input[row + i]) - most);
            const uint32_t scaled = bits(number(below) * double{beta});
            powers.push_back(bits(std::exp(number(scaled))));
            total = sum(total, powers.back());
        }
        for (const uint32_t power : powers) result.push_back(bits(number(power) / number(total)));
    }
    return result;
}

Fp32s naive_hard_swish_float(Fp32s values) {
    for (uint32_t& each : values) {
        const double x = value(each);
        const double above = value(bits(x + 3));
        const double gate = std::isnan(x) ? x : std::min(std::max(above, 0.0), 6.0);
        each = bits(double{value(bits(x * gate))} / 6);
    }
    return values;
}

}  // namespace tandem::testbench
