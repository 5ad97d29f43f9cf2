// SPDX-License-Identifier: Apache-2.0
#include "testbench/numerics/operands.h"

#include <algorithm>
#include <utility>

namespace tandem::testbench {
namespace {

constexpr uint32_t kSign = 0x80000000;
constexpr uint32_t kInfinity = 0x7f800000;
constexpr int kFractionBits = 23;
constexpr uint32_t kFraction = 0x007fffff;

constexpr uint32_t fp32(uint32_t sign, int exponent, uint32_t fraction) {
    return sign << 31 | static_cast<uint32_t>(std::clamp(exponent, 1, 254)) << kFractionBits |
           (fraction & kFraction);
}
constexpr int exponent_of(uint32_t bits) { return static_cast<int>(bits >> kFractionBits & 0xff); }

/// Fractions of `width` bits, with runs of zeros and ones at either end more often than chance.
uint32_t fraction(SplitMix& random, unsigned width) {
    const uint32_t mask = (1u << width) - 1;
    const uint32_t value = random.bits(32) & mask;
    switch (random.below(10)) {
        case 0:
            return 0;
        case 1:
            return mask;
        case 2:
            return 1u << random.below(width);
        case 3:
            return mask ^ (1u << random.below(width));
        case 4:
            return value & (mask << random.below(width)) & mask;
        case 5:
            return (value | ~(mask << random.below(width))) & mask;
        default:
            return value;
    }
}

/// An operand whose fraction has `width` bits: 7 for bf16, 15 for a product, 23 for fp32; the rest
/// of the 32 bits is zero.
uint32_t corner(SplitMix& random, Corner kind, unsigned width) {
    const uint32_t sign = random.bits(1);
    const unsigned shift = kFractionBits - width;
    const uint32_t ones = (1u << width) - 1;
    const auto number = [&](int exponent, uint32_t f) { return fp32(sign, exponent, f << shift); };
    switch (kind) {
        case Corner::kZero:
            return sign << 31;
        case Corner::kSubnormal:
            return sign << 31 | std::max(fraction(random, width), 1u) << shift;
        case Corner::kMinNormal:
            return number(1, random.bits(1) ? 0 : random.below(4));
        case Corner::kTiny:
            return number(random.between(1, 40), fraction(random, width));
        case Corner::kMax:
            return number(254, ones - (random.bits(1) ? 0 : random.below(4)));
        case Corner::kHuge:
            return number(random.between(215, 254), fraction(random, width));
        case Corner::kInfinity:
            return sign << 31 | kInfinity;
        case Corner::kNan:
            return sign << 31 | kInfinity | std::max(fraction(random, width), 1u) << shift;
        case Corner::kPowerOfTwo:
            return number(random.between(1, 254), 0);
        case Corner::kAllOnes:
            return number(random.between(1, 254), ones);
        case Corner::kOrdinary:
            return number(random.between(115, 140), fraction(random, width));
        case Corner::kUniform:
            break;
    }
    return random.bits(9 + width) << shift;
}

std::vector<OperandClass> crossed_pairs() {
    std::vector<OperandClass> classes;
    for (std::size_t a = 0; a < kCorners; ++a)
        for (std::size_t b = 0; b < kCorners; ++b) {
            const auto first = static_cast<Corner>(a), second = static_cast<Corner>(b);
            classes.push_back(
                {std::string(to_string(first)) + " x " + std::string(to_string(second)),
                 0,
                 {first, second}});
        }
    return classes;
}

struct Relation {
    const char* name;
    unsigned weight;  ///< turns per round of all classes
};

/// Appends the relations (numbered from 1) and returns the turns of one round, well mixed.
template <std::size_t N>
std::vector<uint16_t> schedule(std::vector<OperandClass>& classes, unsigned cross_weight,
                               const std::array<Relation, N>& relations) {
    std::vector<uint16_t> turns;
    for (std::size_t i = 0; i < classes.size(); ++i)
        turns.insert(turns.end(), cross_weight, static_cast<uint16_t>(i));
    for (std::size_t i = 0; i < N; ++i) {
        turns.insert(turns.end(), relations[i].weight, static_cast<uint16_t>(classes.size()));
        classes.push_back({relations[i].name, static_cast<uint8_t>(i + 1), {}});
    }
    SplitMix random(0);
    for (std::size_t i = turns.size(); i > 1; --i)
        std::swap(turns[i - 1], turns[random.below(static_cast<uint32_t>(i))]);
    return turns;
}

enum : uint8_t { kProductUnderflow = 1, kProductOverflow, kProductUniform };
constexpr std::array kProductRelations = {Relation{"underflow border", 24},
                                          Relation{"overflow border", 24},
                                          Relation{"uniform bits", 64}};

enum : uint8_t {
    kSumAlignment = 1,
    kSumCancellation,
    kSumNextBinade,
    kSumTie,
    kSumSticky,
    kSumOverflow,
    kSumUnderflow,
    kSumProducts,
    kSumUniform
};
constexpr std::array kSumRelations = {Relation{"alignment 0..26", 54},
                                      Relation{"cancellation", 24},
                                      Relation{"cancellation across a binade", 24},
                                      Relation{"tie and its neighbours", 36},
                                      Relation{"sticky beyond the guard bits", 24},
                                      Relation{"overflow border", 24},
                                      Relation{"underflow border", 24},
                                      Relation{"two products", 16},
                                      Relation{"uniform bits", 64}};

enum : uint8_t {
    kSum4Alignment = 1,
    kSum4Cancellation,
    kSum4Survivor,
    kSum4Residue,
    kSum4Tie,
    kSum4Overflow,
    kSum4Underflow,
    kSum4Wide
};
constexpr std::array kSum4Relations = {
    Relation{"alignment 0..40", 32},        Relation{"cancellation of two pairs", 24},
    Relation{"one small survivor", 24},     Relation{"small residue of two", 24},
    Relation{"tie and its neighbours", 32}, Relation{"overflow border", 16},
    Relation{"underflow border", 16},       Relation{"exponents anywhere", 24}};

}  // namespace

std::string_view to_string(Corner corner) {
    constexpr std::array<std::string_view, kCorners> kNames = {
        "zero",     "subnormal", "min normal",   "tiny",     "max",      "huge",
        "infinity", "NaN",       "power of two", "all ones", "ordinary", "uniform"};
    return kNames[static_cast<std::size_t>(corner)];
}

ProductOperands::ProductOperands(uint64_t seed) : random_(seed), classes_(crossed_pairs()) {
    schedule_ = schedule(classes_, 1, kProductRelations);
}

Bf16Pair ProductOperands::make(std::size_t class_index) {
    const OperandClass& kind = classes_[class_index];
    const auto bf16 = [](uint32_t bits) { return static_cast<uint16_t>(bits >> 16); };
    const auto with_exponents = [&](int a, int b) {
        return Bf16Pair{bf16(fp32(random_.bits(1), a, fraction(random_, 7) << 16)),
                        bf16(fp32(random_.bits(1), b, fraction(random_, 7) << 16))};
    };
    switch (kind.relation) {
        case kProductUnderflow: {  // 2^(a - 127) * 2^(b - 127) near 2^-126
            const int total = random_.between(126, 130);
            const int a = random_.between(1, total - 1);
            return with_exponents(a, total - a);
        }
        case kProductOverflow: {  // near 2^128
            const int total = random_.between(379, 383);
            const int a = random_.between(total - 254, 254);
            return with_exponents(a, total - a);
        }
        case kProductUniform:
            return {static_cast<uint16_t>(random_.bits(16)),
                    static_cast<uint16_t>(random_.bits(16))};
        default:
            return {bf16(corner(random_, kind.corners[0], 7)),
                    bf16(corner(random_, kind.corners[1], 7))};
    }
}

SumOperands::SumOperands(uint64_t seed) : random_(~seed), classes_(crossed_pairs()) {
    schedule_ = schedule(classes_, 1, kSumRelations);
}

Fp32Pair SumOperands::make(std::size_t class_index) {
    const OperandClass& kind = classes_[class_index];
    SplitMix& random = random_;
    const auto any_order = [&](uint32_t a, uint32_t b) {
        return random.bits(1) ? Fp32Pair{a, b} : Fp32Pair{b, a};
    };
    const auto sign = [&] { return random.bits(1); };
    switch (kind.relation) {
        case kSumAlignment: {
            const int distance = random.between(0, 26);
            const int larger = random.between(distance + 1, 254);
            return any_order(fp32(sign(), larger, fraction(random, 23)),
                             fp32(sign(), larger - distance, fraction(random, 23)));
        }
        case kSumCancellation: {  // the other one with its sign changed, and a few units off
            const uint32_t a = fp32(sign(), random.between(1, 254), fraction(random, 23));
            const auto units = static_cast<uint32_t>(random.between(-5, 5));
            return any_order(a, (a ^ kSign) + units);
        }
        case kSumNextBinade: {  // 1.00..x - 1.11..y / 2^1 or 2^2
            const uint32_t s = sign();
            const int exponent = random.between(3, 254);
            const uint32_t low = random.bits(32) & ((1u << random.below(24)) - 1);
            const uint32_t high = kFraction ^ (random.bits(32) & ((1u << random.below(24)) - 1));
            return any_order(fp32(s, exponent, low),
                             fp32(s ^ 1, exponent - random.between(1, 2), high));
        }
        case kSumTie: {
            // An odd number of half units of a's last place, and the numbers beside it.
            const int exponent = random.between(25, 254);
            const uint32_t a = fp32(sign(), exponent, fraction(random, 23));
            const unsigned length = 1 + random.below(23);
            const uint32_t odd = (random.bits(32) & ((1u << length) - 1)) | 1u << (length - 1) | 1;
            // odd * 2^(exponent - 24): normalised, its leading one gets the hidden place.
            const unsigned up = 24 - length;
            const uint32_t b =
                fp32(sign(), exponent - 24 + static_cast<int>(length) - 1, (odd << up) & kFraction);
            return any_order(a, b + static_cast<uint32_t>(random.between(-1, 1)));
        }
        case kSumSticky: {  // b is below or at a's half unit; a just above a power of two or at it
            const int exponent = random.between(34, 254);
            const uint32_t a = fp32(sign(), exponent, random.bits(1) ? 0 : fraction(random, 23));
            return any_order(a,
                             fp32(sign(), exponent - random.between(22, 32), fraction(random, 23)));
        }
        case kSumOverflow: {  // max and about half a unit of it; or two of half the range
            const uint32_t s = sign();
            if (random.bits(1))
                return any_order(fp32(s, 254, kFraction - random.below(4)),
                                 fp32(s, random.between(228, 232), fraction(random, 23)));
            return any_order(fp32(s, random.between(253, 254), fraction(random, 23)),
                             fp32(s, random.between(253, 254), fraction(random, 23)));
        }
        case kSumUnderflow: {  // differences around 2^-126; now and then with a subnormal
            const uint32_t s = sign();
            return any_order(fp32(s, random.between(1, 3), fraction(random, 23)),
                             random.below(8) == 0
                                 ? corner(random, Corner::kSubnormal, 23)
                                 : fp32(s ^ 1, random.between(1, 3), fraction(random, 23)));
        }
        case kSumProducts: {
            const int exponent = random.between(30, 230);
            return any_order(
                fp32(sign(), exponent, fraction(random, 15) << 8),
                fp32(sign(), exponent + random.between(-20, 20), fraction(random, 15) << 8));
        }
        case kSumUniform:
            return {random.bits(32), random.bits(32)};
        default:
            return {corner(random, kind.corners[0], 23), corner(random, kind.corners[1], 23)};
    }
}

Sum4Operands::Sum4Operands(uint64_t seed) : random_(seed * 0x2545f4914f6cdd1d + 1) {
    // All fours of these; a product has no subnormals.
    constexpr std::array kKinds = {Corner::kZero,     Corner::kMinNormal, Corner::kMax,
                                   Corner::kInfinity, Corner::kNan,       Corner::kOrdinary};
    for (const Corner a : kKinds)
        for (const Corner b : kKinds)
            for (const Corner c : kKinds)
                for (const Corner d : kKinds) {
                    std::string name;
                    for (const Corner kind : {a, b, c, d})
                        name += (name.empty() ? "" : " x ") + std::string(to_string(kind));
                    classes_.push_back({name, 0, {a, b, c, d}});
                }
    std::array relations = kSum4Relations;
    for (Relation& relation : relations) relation.weight *= 16;  // beside 1296 crosses
    schedule_ = schedule(classes_, 1, relations);
}

Fp32Group Sum4Operands::make(std::size_t class_index) {
    const OperandClass& kind = classes_[class_index];
    SplitMix& random = random_;
    const auto sign = [&] { return random.bits(1); };
    const auto addend = [&](int exponent) {
        return fp32(sign(), exponent, fraction(random, 15) << 8);
    };
    const auto shuffled = [&](Fp32Group group) {
        for (uint32_t i = 4; i > 1; --i) std::swap(group[i - 1], group[random.below(i)]);
        return group;
    };
    Fp32Group group{};
    switch (kind.relation) {
        case kSum4Alignment: {
            const int largest = random.between(42, 254);
            for (uint32_t& value : group) value = addend(largest - random.between(0, 40));
            return group;
        }
        case kSum4Cancellation: {  // a - a + b - b, a last bit of some of them changed
            const int exponent = random.between(42, 250);
            group = {addend(exponent), 0, addend(exponent - random.between(0, 40)), 0};
            group[1] = group[0] ^ kSign;
            group[3] = group[2] ^ kSign;
            for (uint32_t& value : group)
                if (random.below(4) == 0) value ^= 0x100;
            return shuffled(group);
        }
        case kSum4Survivor: {  // a + b + c = 0 with big ones; d far below them
            const int exponent = random.between(10, 252);
            const uint32_t s = sign();
            const uint32_t a = random.bits(15) | 1u << 14, b = random.bits(15) | 1u << 14;
            const auto integer = [&](uint32_t sign_bit, uint32_t value) {  // value * 2^exponent'
                int top = 15;
                while ((value >> top) == 0) --top;
                return fp32(sign_bit, exponent - 15 + top, value << (kFractionBits - top));
            };
            if (exponent > 15) group = {integer(s, a), integer(s, b), integer(s ^ 1, a + b), 0};
            group[3] = random.bits(1) ? addend(random.between(1, exponent))
                                      : corner(random, Corner::kMinNormal, 15);
            return shuffled(group);
        }
        case kSum4Residue: {  // a - b of a few units in the last place; c, d around that or far off
            const int exponent = random.between(80, 254);
            group[0] = addend(exponent);
            group[1] = (group[0] ^ kSign) + (static_cast<uint32_t>(random.between(-3, 3)) << 8);
            group[2] = addend(exponent - 15 + random.between(-30, 15));
            group[3] = random.bits(1) ? (group[2] ^ kSign) - (random.below(70) << kFractionBits)
                                      : addend(exponent - random.between(0, 79));
            if (exponent_of(group[3]) == 0 || exponent_of(group[3]) == 255) group[3] = 0;
            return shuffled(group);
        }
        case kSum4Tie: {  // big, half a unit of its last place, and something very small or nothing
            const int exponent = random.between(30, 254);
            group[0] = fp32(sign(), exponent, fraction(random, 15) << 8);
            group[1] = fp32(sign(), exponent - random.between(23, 25),
                            random.bits(1) ? 0 : fraction(random, 15) << 8);
            for (unsigned i = 2; i < 4; ++i)
                group[i] = random.bits(1) ? sign() << 31
                                          : addend(random.between(1, std::max(1, exponent - 24)));
            return shuffled(group);
        }
        case kSum4Overflow: {
            const uint32_t s = sign();
            group[0] = fp32(s, 254, 0x7fff00 - (random.below(3) << 8));
            for (unsigned i = 1; i < 4; ++i)
                group[i] =
                    fp32(random.below(4) == 0 ? s ^ 1 : s,
                         random.bits(1) ? random.between(252, 254) : random.between(225, 240),
                         fraction(random, 15) << 8);
            return shuffled(group);
        }
        case kSum4Underflow: {
            for (uint32_t& value : group)
                value = random.below(6) == 0 ? sign() << 31 : addend(random.between(1, 3));
            return group;
        }
        case kSum4Wide: {
            for (uint32_t& value : group) value = addend(random.between(1, 254));
            return group;
        }
        default:
            break;
    }
    for (std::size_t i = 0; i < group.size(); ++i) {
        group[i] = corner(random, kind.corners[i], 15);
        if (kind.corners[i] == Corner::kNan) group[i] = 0x7fc00000;
    }
    return group;
}

}  // namespace tandem::testbench
