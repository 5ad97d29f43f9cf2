// SPDX-License-Identifier: Apache-2.0
// Bit fields of an instruction: the primitives under the generated encoders and decoders.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace tandem::isa {

inline constexpr uint32_t kInstructionWords = 8;
inline constexpr uint32_t kInstructionBytes = 4 * kInstructionWords;

using Words = std::array<uint32_t, kInstructionWords>;

/// Opcode of any instruction, known or not.
inline uint32_t opcode_of(const Words& words) { return words[0] & 0xff; }

struct FieldPosition {
    uint32_t word;
    uint32_t lsb;
    uint32_t width;
    bool is_signed;
};

/// Writes a field; throws std::out_of_range, naming `what`, when the value does not fit.
inline void put(Words& words, FieldPosition field, int64_t value, const char* what) {
    const int64_t low = field.is_signed ? -(int64_t{1} << (field.width - 1)) : 0;
    const int64_t high = (int64_t{1} << (field.width - (field.is_signed ? 1 : 0))) - 1;
    if (value < low || value > high)
        throw std::out_of_range(std::string(what) + ": " + std::to_string(value) + " is outside " +
                                std::to_string(low) + ".." + std::to_string(high));
    const uint32_t mask = field.width == 32 ? ~0u : (1u << field.width) - 1;
    words[field.word] |= (static_cast<uint32_t>(value) & mask) << field.lsb;
}

/// Reads a field, sign-extended where it is signed.
inline int64_t get(const Words& words, FieldPosition field) {
    const uint32_t mask = field.width == 32 ? ~0u : (1u << field.width) - 1;
    const int64_t value = (words[field.word] >> field.lsb) & mask;
    const bool negative = field.is_signed && (value >> (field.width - 1)) != 0;
    return negative ? value - (int64_t{1} << field.width) : value;
}

}  // namespace tandem::isa
