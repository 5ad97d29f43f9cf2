// SPDX-License-Identifier: Apache-2.0
#include "arch/bf16.h"

namespace tandem::bf16 {
namespace {

/// A fixed-point number wide enough for every sum of a few fp32: bit 0 is 2^-149, two's complement.
class ExactSum {
  public:
    /// A normal number.
    void add(uint32_t fp32) {
        const uint64_t significand = fp32 % (1u << kFractionBits) + (uint64_t{1} << kFractionBits);
        const uint32_t shift = (fp32 >> kFractionBits & 0xff) - 1, inside = shift % 64;
        const std::array<uint64_t, 2> parts = {significand << inside,
                                               inside == 0 ? 0 : significand >> (64 - inside)};
        // Minus x is not x plus one.
        const uint64_t invert = (fp32 & kSign) != 0 ? ~uint64_t{0} : 0;
        uint64_t carry = invert & 1;
        for (uint32_t i = 0; i < kLimbs; ++i) {
            const uint32_t part = i - shift / 64;
            limbs_[i] = add(limbs_[i], (part < 2 ? parts[part] : 0) ^ invert, carry);
        }
    }

    /// Rounded; +0 if the sum is zero.
    uint32_t to_fp32() const {
        const uint32_t sign = limbs_[kLimbs - 1] >> 63 != 0 ? kSign : 0;
        std::array<uint64_t, kLimbs> magnitude = limbs_;
        if (sign != 0) {
            uint64_t carry = 1;
            for (uint64_t& limb : magnitude) limb = add(~limb, 0, carry);
        }
        uint32_t top = kLimbs - 1;
        while (top > 0 && magnitude[top] == 0) --top;
        if (magnitude[top] == 0) return 0;
        // The highest 64 bits; what is below them counts only as "not zero".
        uint64_t significand = magnitude[top];
        int exponent = 1 + static_cast<int>(64 * top);
        if (top > 0) {
            const int room = std::countl_zero(significand);
            uint64_t below = magnitude[top - 1];
            if (room > 0) {
                significand = significand << room | below >> (64 - room);
                below <<= room;
                exponent -= room;
            }
            for (uint32_t i = 0; i + 1 < top; ++i) below |= magnitude[i];
            if (below != 0) significand |= 1;
        }
        return round_to_fp32(sign, exponent, significand);
    }

  private:
    static constexpr uint32_t kLimbs = 5;

    static uint64_t add(uint64_t a, uint64_t b, uint64_t& carry) {
        const uint64_t partial = a + b, total = partial + carry;
        carry = (partial < a ? 1 : 0) | (total < partial ? 1 : 0);
        return total;
    }

    std::array<uint64_t, kLimbs> limbs_ = {};
};

}  // namespace

uint32_t sum4(const std::array<uint32_t, 4>& addends) {
    ExactSum exact;
    bool nan = false, plus_infinity = false, minus_infinity = false, all_minus_zero = true;
    for (const uint32_t addend : addends) {
        const uint32_t value = flush(addend);
        all_minus_zero = all_minus_zero && value == kSign;
        if (is_nan(value))
            nan = true;
        else if (is_infinite(value))
            (value == kInfinity ? plus_infinity : minus_infinity) = true;
        else if ((value & kMagnitude) != 0)
            exact.add(value);
    }
    if (nan || (plus_infinity && minus_infinity)) return kNan;
    if (plus_infinity || minus_infinity) return kInfinity | (minus_infinity ? kSign : 0);
    return all_minus_zero ? kSign : exact.to_fp32();
}

}  // namespace tandem::bf16
