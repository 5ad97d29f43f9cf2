// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "cosim/requantise_bench.h"

namespace tandem::cosim {
namespace {

constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();
constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
constexpr std::array kCornerSums = {0,           1,          -1,         kMost,      kLeast,
                                    kMost - 1,   kLeast + 1, 0x01000000, 0x01000001, 0x01000003,
                                    -0x01000001, 0x7fffffbf, 0x7fffffc0, 0x40000000, -0x40000000};
constexpr std::array<int8_t, 6> kCornerBytes = {-128, -127, -1, 0, 1, 127};
constexpr std::array kCornerShifts = {0,  -1,  1,  -31,    -32,   -30, 30,
                                      31, -64, 32, kLeast, kMost, -8,  8};
// What is no factor that a compiler makes: zeros, subnormals, infinities, NaN, the ends.
constexpr std::array<uint32_t, 12> kCornerFloats = {0,          0x80000000, 1,          0x007fffff,
                                                    0x00800000, 0x7f800000, 0xff800000, 0x7fc00000,
                                                    0x7f800001, 0x7f7fffff, 0xbf800000, 0x3f800000};
constexpr std::array<uint32_t, 7> kCornerFixed = {0x40000000, 0x40000001, 0x7fffffff, 0x80000000,
                                                  0,          0x5a82799a, 0xffffffff};

/// Significands of 24 bits whose product of 48 bits is one unit above or below the middle between
/// two fp32, the lower one of which is whole + 1/2 (whole is even): a wrong bit 0 rounds otherwise
/// twice. Found by dividing.
struct TwoTies {
    int32_t whole;
    uint32_t a, b;
};
constexpr std::array<TwoTies, 8> kTwoTies = {{{4, 12578817, 12587009},
                                              {12, 10481665, 10489857},
                                              {24, 8974597, 12006349},
                                              {88, 8753347, 11116523},
                                              {116, 8716041, 14696249},
                                              {58, 9437185, 13631487},
                                              {68, 11488091, 13112109},
                                              {94, 8735259, 11894765}}};

}  // namespace

void RequantiseTraffic::begin_phase() {
    static constexpr std::array<uint32_t, 4> kChances = {100, 90, 50, 10};
    phase_edges_ = 20 + static_cast<uint32_t>(below(100));
    valid_ = kChances[below(kChances.size())];
    ready_ = kChances[below(kChances.size())];
    if (chance(10)) reset_edges_ = 1 + static_cast<uint32_t>(below(3));
}

const RequantiseEdge& RequantiseTraffic::next() {
    if (phase_edges_ == 0) begin_phase();
    --phase_edges_;
    // What waits may be taken back or changed, as the contract allows.
    const bool stays = waits_ && !chance(5);
    if (!stays) {
        edge_.valid = chance(valid_);
        make_row();
    }
    edge_.out_ready = chance(ready_);
    edge_.reset = reset_edges_ != 0;
    if (edge_.reset) --reset_edges_;
    return edge_;
}

void RequantiseTraffic::make_row() {
    RequantiseRow& row = edge_.row;
    row.cols = chance(50) ? shape_.cols : 1 + static_cast<uint32_t>(below(shape_.cols));
    row.gemmlowp = chance(50);
    const auto byte = [&] {
        return chance(50) ? kCornerBytes[below(kCornerBytes.size())]
                          : static_cast<int8_t>(below(256));
    };
    row.zero_point = byte();
    const bool open = chance(50);
    row.clamp_min = open ? int8_t{-128} : byte();
    row.clamp_max = open ? int8_t{127} : byte();
    row.sums.resize(shape_.cols);
    row.params.resize(shape_.cols);
    for (uint32_t col = 0; col < shape_.cols; ++col) make_column(col);
}

/// A sum whose product with the factor is a number of some 8 bits, or next to the middle between
/// two of them.
int32_t RequantiseTraffic::sum_near(double factor) {
    const double target = static_cast<double>(below(600)) - 300 + (chance(50) ? 0.5 : 0);
    const double sum = target / factor;
    if (!(std::abs(sum) < 2e9)) return static_cast<int32_t>(random_());
    return static_cast<int32_t>(std::llround(sum)) + static_cast<int32_t>(below(3)) - 1;
}

/// Sets the multiplier to go with it.
int32_t RequantiseTraffic::sum_of_two_ties(numerics::ChannelParams& p) {
    const TwoTies& ties = kTwoTies[below(kTwoTies.size())];
    const bool exchanged = chance(50);
    const uint32_t significand = exchanged ? ties.a : ties.b;
    const double product = static_cast<double>(ties.a) * ties.b;
    const int exponent = std::ilogb(ties.whole + 0.5) - std::ilogb(product);
    p.multiplier = std::bit_cast<uint32_t>(std::ldexp(static_cast<float>(significand), exponent));
    const auto sum = static_cast<int32_t>(exchanged ? ties.b : ties.a);
    return chance(50) ? sum : -sum;
}

void RequantiseTraffic::make_column(uint32_t col) {
    RequantiseRow& row = edge_.row;
    numerics::ChannelParams& p = row.params[col];
    // Factors of 2^-30 to 2^4, powers of two and their neighbours among them
    const auto exponent = static_cast<int32_t>(below(35)) - 30;
    double factor = 0;
    if (row.gemmlowp) {
        p.multiplier = 0x40000000u + static_cast<uint32_t>(below(0x40000000));
        if (chance(25)) p.multiplier = kCornerFixed[below(kCornerFixed.size())];
        p.shift = exponent + 1;
        if (chance(10)) p.shift = kCornerShifts[below(kCornerShifts.size())];
        // Beyond a thousand places only nothing, or everything, is left.
        factor =
            std::ldexp(static_cast<double>(p.multiplier), std::clamp(p.shift, -1000, 1000) - 31);
    } else {
        p.multiplier = static_cast<uint32_t>(exponent + 127) << 23;
        if (chance(60))
            p.multiplier |= static_cast<uint32_t>(below(1u << 23));
        else if (chance(50))
            p.multiplier += static_cast<uint32_t>(below(5)) - 2;
        if (chance(5)) p.multiplier = kCornerFloats[below(kCornerFloats.size())];
        if (chance(2)) p.multiplier = static_cast<uint32_t>(random_());
        p.shift = static_cast<int32_t>(random_());
        factor = std::bit_cast<float>(p.multiplier);
    }
    int32_t sum = sum_near(factor);
    if (chance(15)) sum = kCornerSums[below(kCornerSums.size())];
    if (chance(10)) sum = static_cast<int32_t>(random_());
    if (!row.gemmlowp && chance(4)) sum = sum_of_two_ties(p);
    p.bias =
        chance(50) ? static_cast<int32_t>(random_()) : static_cast<int32_t>(below(2001)) - 1000;
    row.sums[col] =
        static_cast<int32_t>(static_cast<uint32_t>(sum) - static_cast<uint32_t>(p.bias));
}

}  // namespace tandem::cosim
