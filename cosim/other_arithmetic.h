// SPDX-License-Identifier: Apache-2.0
// Column sums as an array would form them that takes its numbers otherwise than docs/numerics.md
// says: mistakes that a hint (cosim/hint.h) compares wrong rows with. Plain loops, for a few rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cosim/array_arithmetic.h"

namespace tandem::cosim {

struct Int8Rules {
    bool unsigned_activations = false, unsigned_weights = false;
    uint32_t product_bits = 32;  ///< two's complement
};

enum class SumOrder : uint8_t { kDown, kUp, kTree, kFours };
enum class Rounding : uint8_t { kNearestEven, kNearestAway, kToZero };

struct Bf16Rules {
    SumOrder order = SumOrder::kDown;
    Rounding rounding = Rounding::kNearestEven;
    bool keep_tiny = false;            ///< subnormals are numbers, as operands and as results
    bool products_bf16 = false;        ///< products are rounded to bf16
    bool wide = false;                 ///< sums in double, rounded at the end
    bool starts_with_product = false;  ///< the first product is not added to +0
};

PortRow other_int8_sums(const Int8Rules& rules, std::span<const std::byte> activations,
                        std::span<const std::byte> weights, uint32_t cols);
PortRow other_bf16_sums(const Bf16Rules& rules, std::span<const std::byte> activations,
                        std::span<const std::byte> weights, uint32_t cols);
/// a + b, bits of fp32.
int32_t other_bf16_sum(const Bf16Rules& rules, int32_t a, int32_t b);

/// The low `bits` as a number of two's complement, or without a sign; 1 to 32 bits.
int32_t cut(int64_t value, uint32_t bits, bool sign = true);
/// Limited to what that many bits hold.
int32_t saturate(int64_t value, uint32_t bits);

}  // namespace tandem::cosim
