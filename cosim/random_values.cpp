// SPDX-License-Identifier: Apache-2.0
#include "cosim/random_values.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace tandem::cosim {
namespace {

uint8_t int8_of(ValueStyle style, uint8_t random) {
    static constexpr int8_t kCorners[] = {-128, -127, -1, 0, 0, 1, 126, 127};
    switch (style) {
        case ValueStyle::kFull:
            return random;
        case ValueStyle::kSmall:
            return static_cast<uint8_t>(random % 8 - 4);
        case ValueStyle::kExtremes:
            return random % 2 == 0 ? 0x80 : 0x7f;
        case ValueStyle::kCorners:
            return static_cast<uint8_t>(kCorners[random % 8]);
        case ValueStyle::kCancel:
            return random % 2 == 0 ? 0x81 : 0x7f;
        case ValueStyle::kZeros:
            return 0;
    }
    return 0;
}

constexpr uint16_t kSignAndFraction = 0x807f;

uint16_t with_exponent(uint16_t random, uint32_t exponent) {
    return static_cast<uint16_t>((random & kSignAndFraction) | exponent << 7);
}

/// Products of two of them are near 2^-126 or 2^128, or far beyond; of those with few bits in the
/// fraction many are the least or the greatest number itself.
uint16_t extreme_bf16(uint16_t random) {
    const bool small = (random >> 12) % 2 == 0, few_bits = (random >> 11) % 2 == 0;
    if (few_bits) return with_exponent(random, (small ? 62 : 189) + (random >> 7) % 4) & 0xffe0;
    return with_exponent(random, (small ? 56 : 184) + (random >> 7) % 16);
}

/// Exponents 119 to 134: about 2^-8 to 2^7.
uint16_t moderate_bf16(uint16_t random) { return with_exponent(random, 119 + (random >> 7) % 16); }

/// Bf16 values of one style that belong together.
struct Bf16Fill {
    ValueStyle style;
    uint16_t rarity;     ///< one value in so many is a corner
    uint32_t exponent;   ///< of values that cancel
    uint16_t sign_mask;  ///< of values that cancel: both signs or none
};

Bf16Fill random_fill(std::mt19937_64& random, ValueStyle style, size_t bytes) {
    // Corners have to meet each other in small arrays, and must not make every sum of a large one
    // NaN.
    constexpr size_t kFewBytes = 128;
    // One; products about 2^-126; sums beyond the greatest number.
    static constexpr uint32_t kExponents[] = {127, 127, 63, 64, 190, 191};
    const uint64_t draw = style == ValueStyle::kCancel ? random() : 0;
    return {style, static_cast<uint16_t>(bytes <= kFewBytes ? 4 : 64),
            kExponents[draw % std::size(kExponents)],
            static_cast<uint16_t>((draw >> 32) % 2 == 0 ? 0x8000 : 0)};
}

uint16_t bf16_of(const Bf16Fill& fill, uint16_t random) {
    static constexpr uint16_t kCorners[] = {
        0x0000, 0x8000,                  // zeros
        0x0001, 0x8001, 0x007f, 0x807f,  // subnormals
        0x0080, 0x8080,                  // least normal numbers
        0x7f7f, 0xff7f,                  // greatest finite ones
        0x7f80, 0xff80,                  // infinities
        0x7fc0, 0xffff, 0x7f81,          // NaN
        0x3f80,                          // one
    };
    switch (fill.style) {
        case ValueStyle::kFull:
            return random;
        case ValueStyle::kSmall:
            return moderate_bf16(random);
        case ValueStyle::kExtremes:
            return extreme_bf16(random);
        case ValueStyle::kCorners:
            return random % fill.rarity == 0 ? kCorners[(random >> 6) % std::size(kCorners)]
                                             : moderate_bf16(random);
        case ValueStyle::kCancel:
            return static_cast<uint16_t>((random & (fill.sign_mask | 1)) | fill.exponent << 7);
        case ValueStyle::kZeros:
            return random & 0x8000;
    }
    return 0;
}

}  // namespace

const char* to_string(ValueStyle style) {
    switch (style) {
        case ValueStyle::kFull:
            return "full";
        case ValueStyle::kSmall:
            return "small";
        case ValueStyle::kExtremes:
            return "extremes";
        case ValueStyle::kCorners:
            return "corners";
        case ValueStyle::kCancel:
            return "cancel";
        case ValueStyle::kZeros:
            return "zeros";
    }
    return "";
}

ValueStyle random_style(std::mt19937_64& random) {
    static constexpr ValueStyle kStyles[] = {
        ValueStyle::kFull,     ValueStyle::kFull,    ValueStyle::kFull,    ValueStyle::kSmall,
        ValueStyle::kSmall,    ValueStyle::kSmall,   ValueStyle::kSmall,   ValueStyle::kSmall,
        ValueStyle::kExtremes, ValueStyle::kCorners, ValueStyle::kCorners, ValueStyle::kCorners,
        ValueStyle::kCorners,  ValueStyle::kCancel,  ValueStyle::kCancel,  ValueStyle::kZeros};
    return kStyles[random() % std::size(kStyles)];
}

void random_values(std::mt19937_64& random, arch::Dtype dtype, ValueStyle style,
                   std::span<std::byte> data) {
    // Random bits first, eight bytes at a time: data of large arrays is many.
    for (size_t i = 0; i < data.size(); i += sizeof(uint64_t)) {
        const uint64_t bits = random();
        std::memcpy(data.data() + i, &bits, std::min(sizeof bits, data.size() - i));
    }
    if (style == ValueStyle::kFull) return;
    if (dtype == arch::Dtype::kInt8) {
        for (std::byte& value : data)
            value = std::byte{int8_of(style, static_cast<uint8_t>(value))};
        return;
    }
    const Bf16Fill fill = random_fill(random, style, data.size());
    for (size_t i = 0; i + 1 < data.size(); i += 2) {
        uint16_t value = 0;
        std::memcpy(&value, data.data() + i, sizeof value);
        value = bf16_of(fill, value);
        std::memcpy(data.data() + i, &value, sizeof value);
    }
}

}  // namespace tandem::cosim
