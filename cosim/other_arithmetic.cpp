// SPDX-License-Identifier: Apache-2.0
#include "cosim/other_arithmetic.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace tandem::cosim {
namespace {

/// A sum of two doubles and what it loses, exactly.
struct ExactSum {
    double value, rest;
    ExactSum(double a, double b) : value(a + b) {
        const double of_b = value - a;
        rest = (a - (value - of_b)) + (b - of_b);
    }
};

/// The fp32 next to value + rest towards zero.
float toward_zero(double value, double rest) {
    auto result = static_cast<float>(value);
    const double beyond = std::abs(static_cast<double>(result)) - std::abs(value);
    if (beyond > 0 || (beyond == 0 && rest != 0 && std::signbit(rest) != std::signbit(value)))
        result = std::nextafter(result, 0.0f);
    return result;
}

/// To nearest, a tie away from zero.
float nearest_away(double value, double rest) {
    const float low = toward_zero(value, rest);
    const float high = std::nextafter(
        low, std::copysign(std::numeric_limits<float>::infinity(), static_cast<float>(value)));
    const double middle = (static_cast<double>(low) + static_cast<double>(high)) / 2;
    const double above = std::abs(value) - std::abs(middle);
    const bool less =
        above < 0 || (above == 0 && rest != 0 && std::signbit(rest) != std::signbit(value));
    return less ? low : high;
}

class Bf16Arithmetic {
  public:
    explicit Bf16Arithmetic(const Bf16Rules& rules) : rules_(rules) {}

    double element(const std::byte* data) const {
        const auto bits = static_cast<uint32_t>(std::to_integer<uint32_t>(data[0]) << 16 |
                                                std::to_integer<uint32_t>(data[1]) << 24);
        return flushed(std::bit_cast<float>(bits));
    }
    double product(double a, double b) const {
        const auto result = static_cast<float>(a * b);  // 16 bits: exact but for its exponent
        if (!rules_.products_bf16 || !std::isfinite(result)) return flushed(result);
        const auto bits = std::bit_cast<uint32_t>(result);
        return flushed(std::bit_cast<float>((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u));
    }
    double sum(double a, double b) const {
        if (rules_.wide) return a + b;
        const ExactSum exact(a, b);
        if (!std::isfinite(exact.value)) return exact.value;
        switch (rules_.rounding) {
            case Rounding::kNearestEven:
                return flushed(static_cast<float>(a) + static_cast<float>(b));
            case Rounding::kNearestAway:
                return flushed(nearest_away(exact.value, exact.rest));
            case Rounding::kToZero:
                return flushed(toward_zero(exact.value, exact.rest));
        }
        return 0;
    }
    int32_t bits(double value) const {
        const float result = flushed(static_cast<float>(value));
        return std::isnan(result) ? 0x7fc00000 : std::bit_cast<int32_t>(result);
    }

  private:
    float flushed(float value) const {
        const bool tiny = std::abs(value) < std::numeric_limits<float>::min();
        return tiny && !rules_.keep_tiny ? std::copysign(0.0f, value) : value;
    }

    const Bf16Rules rules_;
};

double column(const Bf16Rules& rules, const Bf16Arithmetic& by, std::vector<double> products) {
    switch (rules.order) {
        case SumOrder::kUp:
            std::reverse(products.begin(), products.end());
            break;
        case SumOrder::kTree:
            products.resize(std::bit_ceil(products.size()));
            for (; products.size() > 1; products.resize(products.size() / 2))
                for (size_t i = 0; i < products.size() / 2; ++i)
                    products[i] = by.sum(products[2 * i], products[2 * i + 1]);
            return products[0];
        case SumOrder::kFours: {
            products.resize((products.size() + 3) / 4 * 4);
            Bf16Rules in_double = rules;
            in_double.wide = true;
            const Bf16Arithmetic exact(in_double);
            for (size_t i = 0; i < products.size() / 4; ++i) {
                const double* of = &products[4 * i];
                products[i] =
                    static_cast<float>(exact.sum(exact.sum(exact.sum(of[0], of[1]), of[2]), of[3]));
            }
            products.resize(products.size() / 4);
            break;
        }
        case SumOrder::kDown:
            break;
    }
    double total = rules.starts_with_product ? products[0] : by.sum(0.0, products[0]);
    for (size_t i = 1; i < products.size(); ++i) total = by.sum(total, products[i]);
    return total;
}

}  // namespace

PortRow other_int8_sums(const Int8Rules& rules, std::span<const std::byte> activations,
                        std::span<const std::byte> weights, uint32_t cols) {
    const auto number = [](std::byte element, bool is_unsigned) {
        const auto bits = std::to_integer<uint8_t>(element);
        return is_unsigned ? int64_t{bits} : int64_t{static_cast<int8_t>(bits)};
    };
    PortRow sums(cols);
    for (uint32_t c = 0; c < cols; ++c) {
        int64_t sum = 0;
        for (size_t r = 0; r < activations.size(); ++r)
            sum += cut(number(activations[r], rules.unsigned_activations) *
                           number(weights[r * cols + c], rules.unsigned_weights),
                       rules.product_bits);
        sums[c] = cut(sum, 32);
    }
    return sums;
}

PortRow other_bf16_sums(const Bf16Rules& rules, std::span<const std::byte> activations,
                        std::span<const std::byte> weights, uint32_t cols) {
    const Bf16Arithmetic by(rules);
    const size_t rows = activations.size() / 2;
    std::vector<double> products(rows);
    PortRow sums(cols);
    for (uint32_t c = 0; c < cols; ++c) {
        for (size_t r = 0; r < rows; ++r)
            products[r] = by.product(by.element(&activations[2 * r]),
                                     by.element(&weights[2 * (r * cols + c)]));
        sums[c] = by.bits(column(rules, by, products));
    }
    return sums;
}

int32_t other_bf16_sum(const Bf16Rules& rules, int32_t a, int32_t b) {
    const Bf16Arithmetic by(rules);
    const auto number = [&](int32_t bits) {
        const auto value = std::bit_cast<float>(bits);
        const bool tiny = std::abs(value) < std::numeric_limits<float>::min();
        return tiny && !rules.keep_tiny ? std::copysign(0.0f, value) : value;
    };
    return by.bits(by.sum(number(a), number(b)));
}

int32_t cut(int64_t value, uint32_t bits, bool sign) {
    const uint32_t spare = 32 - bits;
    const uint32_t high = static_cast<uint32_t>(value) << spare;
    return sign ? static_cast<int32_t>(high) >> spare : static_cast<int32_t>(high >> spare);
}

int32_t saturate(int64_t value, uint32_t bits) {
    const int64_t limit = int64_t{1} << (bits - 1);
    return static_cast<int32_t>(std::clamp(value, -limit, limit - 1));
}

}  // namespace tandem::cosim
