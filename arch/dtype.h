// SPDX-License-Identifier: Apache-2.0
// Element types of the MAC array. Sums are 32 bits wide for either: int32, or the bits of an fp32.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace tandem::arch {

enum class Dtype : uint8_t {
    kInt8 = 0,
    kBf16 = 1,
};

constexpr std::string_view to_string(Dtype dtype) {
    return dtype == Dtype::kBf16 ? "bf16" : "int8";
}

/// "int8" or "bf16"; nothing for any other text.
constexpr std::optional<Dtype> parse_dtype(std::string_view text) {
    for (const Dtype dtype : {Dtype::kInt8, Dtype::kBf16})
        if (text == to_string(dtype)) return dtype;
    return std::nullopt;
}

/// Bytes of an activation or a weight.
constexpr uint32_t element_bytes(Dtype dtype) { return dtype == Dtype::kBf16 ? 2 : 1; }

}  // namespace tandem::arch
