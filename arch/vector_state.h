// SPDX-License-Identifier: Apache-2.0
// What the set_ instructions of the vector unit build up for map, reduce, lookup and move: shape,
// views, taps, chain, constants. Whoever executes, checks or emits these instructions keeps one.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "arch/generated/isa.h"

namespace tandem::arch {

/// As `type` of set_view counts them.
enum class VectorType : uint8_t { kInt8, kInt32, kBf16, kFp32 };

constexpr uint32_t bytes_of(VectorType type) {
    constexpr uint32_t kBytes[] = {1, 4, 2, 4};
    return kBytes[static_cast<size_t>(type)];
}
constexpr bool is_float(VectorType type) { return type >= VectorType::kBf16; }

/// As `operand` of set_view counts them.
enum class VectorOperand : uint8_t { kOut, kA, kB, kC };

inline constexpr size_t kVectorAxes = 6;
inline constexpr size_t kVectorOperands = 4;
inline constexpr size_t kChainSteps = 12;
inline constexpr size_t kChainConstants = 12;
/// Sources of a step: registers r0 to r3, then the constants.
inline constexpr uint8_t kFirstConstant = 4;

struct VectorView {
    VectorType type = VectorType::kInt8;
    std::array<int32_t, kVectorAxes> strides{};  ///< bytes
    bool operator==(const VectorView&) const = default;
};

/// One of two directions of a window, see set_taps.
struct TapLine {
    uint16_t step = 0, tap = 0, before = 0, size = 1;
    bool operator==(const TapLine&) const = default;
};
struct Taps {
    TapLine h, w;
    uint32_t fill = 0;
    bool operator==(const Taps&) const = default;
};

struct ChainStep {
    isa::ChainOp op = isa::ChainOp::kNop;
    uint8_t dst = 0, x = 0, y = 0, z = 0;
    bool operator==(const ChainStep&) const = default;
};

/// Bytes relative to an operand's address, half open; empty where low = high.
struct ByteSpan {
    int64_t low = 0, high = 0;
};

struct VectorState {
    std::array<uint32_t, kVectorAxes> shape{1, 1, 1, 1, 1, 1};
    std::array<VectorView, kVectorOperands> views;  ///< by VectorOperand
    Taps taps;
    std::array<ChainStep, kChainSteps> chain;
    std::array<uint32_t, kChainConstants> constants{};

    bool operator==(const VectorState&) const = default;

    const VectorView& view(VectorOperand operand) const {
        return views[static_cast<size_t>(operand)];
    }
    VectorView& view(VectorOperand operand) { return views[static_cast<size_t>(operand)]; }
    /// Steps that are not nop, up to the first nop.
    size_t chain_length() const;

    /// False: not an instruction that sets something.
    bool apply(const isa::Words& words);
    /// What set_ instructions can get wrong: a chain operation, type, first or size that there is
    /// not, an extent of 0.
    static bool valid(const isa::Words& words);

    /// Bytes that an operand can touch, the axes of `without` (a bit each) left out.
    /// `through_taps`: of operand a through the window; all of the lines and pixels that there are.
    ByteSpan span(VectorOperand operand, uint32_t without = 0, bool through_taps = false) const;
};

/// The shortest row of instructions (headers empty) that makes `to` of `from`.
std::vector<isa::Words> changes(const VectorState& from, const VectorState& to);

}  // namespace tandem::arch
