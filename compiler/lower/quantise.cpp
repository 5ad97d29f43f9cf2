// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/quantise.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>

namespace tandem::compiler {

namespace {

/// real = value / 2^31 * 2^shift, value in [2^30, 2^31); zero for what is too small.
Multiplier quantise_q31(double real) {
    if (!(real < 0x1p30))
        throw std::domain_error("a scale factor below 2^30, found " + std::to_string(real));
    int shift = 0;
    auto value = static_cast<int64_t>(std::llround(std::frexp(real, &shift) * 0x1p31));
    if (value == int64_t{1} << 31) {
        value /= 2;
        ++shift;
    }
    if (shift < -31) return {};
    return {static_cast<uint32_t>(value), shift};
}

Multiplier fp32_multiplier(float real) {
    if (!(real < 0x1p30f))
        throw std::domain_error("a scale factor below 2^30, found " + std::to_string(real));
    return {std::bit_cast<uint32_t>(real), 0};
}

}  // namespace

Multiplier channel_multiplier(float scale_in, float scale_weight, float scale_out,
                              Rounding rounding) {
    if (rounding == Rounding::kSingle) return fp32_multiplier(scale_in * scale_weight / scale_out);
    return quantise_q31(double{scale_in} * scale_weight / scale_out);
}

Multiplier mean_multiplier(float scale_in, float scale_out, uint32_t count, Rounding rounding) {
    if (rounding == Rounding::kSingle)
        return fp32_multiplier(scale_in / scale_out / static_cast<float>(count));
    const Multiplier whole = quantise_q31(double{scale_in} / scale_out);
    // As many bits of the quotient as the shift leaves room for.
    const int bits = std::min({static_cast<int>(std::bit_width(count)) - 1, 32, 31 + whole.shift});
    return {static_cast<uint32_t>((uint64_t{whole.value} << bits) / count), whole.shift - bits};
}

OutputRange output_range(const Tensor& tensor, Activation activation, Rounding rounding) {
    const int32_t zero = tensor.zero_point();
    // XNNPACK rounds the bounds half to even, the portable kernels away from zero.
    const auto level = [&](float real) {
        const double steps = real / tensor.scale();
        const double rounded =
            rounding == Rounding::kSingle ? std::nearbyint(steps) : std::round(steps);
        return static_cast<int32_t>(std::clamp(rounded + zero, -128.0, 127.0));
    };
    switch (activation) {
        case Activation::kNone:
            break;
        case Activation::kRelu:
            return {zero, level(0.0f), 127};
        case Activation::kReluN1To1:
            return {zero, level(-1.0f), level(1.0f)};
        case Activation::kRelu6:
            return {zero, level(0.0f), level(6.0f)};
    }
    return {zero, -128, 127};
}

AddFactors add_factors(const Tensor& a, const Tensor& b, const Tensor& out, Rounding rounding) {
    if (rounding == Rounding::kSingle)
        return {
            fp32_multiplier(a.scale() / out.scale()), fp32_multiplier(b.scale() / out.scale()), {}};
    const double twice_largest = 2.0 * std::max(a.scale(), b.scale());
    return {quantise_q31(a.scale() / twice_largest), quantise_q31(b.scale() / twice_largest),
            quantise_q31(twice_largest / (0x1p20 * out.scale()))};
}

std::array<float, 256> softmax_table(float scale, float beta) {
    std::array<float, 256> table;
    // fp32 exponents as TFLite forms them; the exponential in double, so that the table does not
    // depend on the precision of a library's expf.
    for (size_t d = 0; d < table.size(); ++d)
        table[d] = static_cast<float>(std::exp(double{-scale * beta * static_cast<float>(d)}));
    return table;
}

}  // namespace tandem::compiler
