// SPDX-License-Identifier: Apache-2.0
// Seeded operands for bf16 arithmetic: corner classes, every one of them crossed with every other,
// and pairs whose difficulty lies in the relation of the two (alignment, cancellation, ties,
// borders of the range).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::testbench {

/// SplitMix64: one 64-bit state, any seed is good.
class SplitMix {
  public:
    explicit SplitMix(uint64_t seed) : state_(seed) {}
    uint64_t next() {
        uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    uint32_t bits(unsigned count) { return static_cast<uint32_t>(next() >> (64 - count)); }
    uint32_t below(uint32_t bound) {
        return static_cast<uint32_t>((uint64_t{bits(32)} * bound) >> 32);
    }
    /// From `first` to `last`, both included.
    int between(int first, int last) {
        return first + static_cast<int>(below(static_cast<uint32_t>(last - first + 1)));
    }

  private:
    uint64_t state_;
};

/// Classes of one operand, of either format.
enum class Corner : uint8_t {
    kZero,
    kSubnormal,
    kMinNormal,
    kTiny,  ///< exponents near the smallest
    kMax,
    kHuge,  ///< exponents near the largest
    kInfinity,
    kNan,  ///< quiet and signalling, any payload
    kPowerOfTwo,
    kAllOnes,   ///< significand of ones
    kOrdinary,  ///< exponents near that of 1
    kUniform,   ///< random bits
};
inline constexpr std::size_t kCorners = 12;
std::string_view to_string(Corner corner);

/// Classes of a pair or a group: a cross of corners, or a relation.
struct OperandClass {
    std::string name;
    uint8_t relation;  ///< 0: a cross of corners
    std::array<Corner, 4> corners{};
};

struct Bf16Pair {
    uint16_t a, b;
};
struct Fp32Pair {
    uint32_t a, b;
};
using Fp32Group = std::array<uint32_t, 4>;

/// Operands of product: two bf16.
class ProductOperands {
  public:
    explicit ProductOperands(uint64_t seed);
    const std::vector<OperandClass>& classes() const { return classes_; }
    /// Classes of the n-th pair; the sequence goes through all of them again and again.
    std::size_t class_of(uint64_t n) const { return schedule_[n % schedule_.size()]; }
    Bf16Pair make(std::size_t class_index);

  private:
    SplitMix random_;
    std::vector<OperandClass> classes_;
    std::vector<uint16_t> schedule_;
};

/// Operands of sum: two fp32.
class SumOperands {
  public:
    explicit SumOperands(uint64_t seed);
    const std::vector<OperandClass>& classes() const { return classes_; }
    std::size_t class_of(uint64_t n) const { return schedule_[n % schedule_.size()]; }
    Fp32Pair make(std::size_t class_index);

  private:
    SplitMix random_;
    std::vector<OperandClass> classes_;
    std::vector<uint16_t> schedule_;
};

/// Operands of sum4: four fp32 that can be products of bf16, so 16 significant bits, no subnormals,
/// one NaN.
class Sum4Operands {
  public:
    explicit Sum4Operands(uint64_t seed);
    const std::vector<OperandClass>& classes() const { return classes_; }
    std::size_t class_of(uint64_t n) const { return schedule_[n % schedule_.size()]; }
    Fp32Group make(std::size_t class_index);

  private:
    SplitMix random_;
    std::vector<OperandClass> classes_;
    std::vector<uint16_t> schedule_;
};

}  // namespace tandem::testbench
