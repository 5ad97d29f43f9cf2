// SPDX-License-Identifier: Apache-2.0
// Seeded values and port streams, and the arrays that the parameterised tests run on.
#pragma once

#include <array>
#include <optional>
#include <random>

#include "testbench/rtl/mxu_harness.h"

namespace tandem::testbench {

/// Seeded values. int8 has its extremes more often than chance. A row of bf16 has one of several
/// ranges: sums must round, cancel and now and then be no numbers, but mostly stay finite.
class Random {
  public:
    Random(unsigned seed, const ArrayParameters& array) : engine_(seed), bf16_(array.bf16()) {}

    unsigned below(unsigned bound) { return static_cast<unsigned>(engine_()) % bound; }
    bool chance(unsigned percent) { return below(100) < percent; }

    Elements row(unsigned length) {
        Elements values(length);
        const unsigned range = below(20);
        for (Element& element : values) element = bf16_ ? bf16(range) : int8();
        if (bf16_ && range == 0) values[below(length)] = special();
        return values;
    }
    Tile tile(unsigned rows, unsigned cols) {
        Tile values(rows);
        for (Elements& line : values) line = row(cols);
        return values;
    }

  private:
    Element int8() {
        constexpr int8_t kCorners[] = {-128, 127, -1, 0};
        return static_cast<uint8_t>(chance(20) ? kCorners[below(4)] : static_cast<int>(engine_()));
    }

    Element bf16(unsigned range) {
        const auto number = [&](unsigned first, unsigned last) {
            return static_cast<Element>(below(2) << 15 | (first + below(last - first + 1)) << 7 |
                                        below(128));
        };
        switch (range) {
            case 1:
                return number(1, 254);
            case 2:
                return number(58, 68);  // products at the lower end of fp32
            case 3:
                return number(180, 191);  // and at the upper end
            case 4:
            case 5:
                return corner();
            case 6:
            case 7:
            case 8: {  // 0, 1, 2, 4: sums cancel to zero
                constexpr Element kSmall[] = {0, 0x3f80, 0x4000, 0x4080};
                return static_cast<Element>(below(2) << 15 | kSmall[below(4)]);
            }
            case 9:
                return number(112, 142);
            default:
                return number(123, 130);
        }
    }

    Element corner() {
        constexpr Element kCorners[] = {0, 1, 0x007f, 0x0080, 0x0081, 0x3f80, 0x3fff, 0x4b80};
        return static_cast<Element>(below(2) << 15 | kCorners[below(std::size(kCorners))]);
    }
    Element special() {
        constexpr Element kSpecials[] = {0x7f80, 0xff80, 0x7fc0, 0xff81, 0x7f7f, 0xff7f};
        return kSpecials[below(std::size(kSpecials))];
    }

    std::mt19937 engine_;
    bool bf16_;
};

/// Chances in percent that a port is active at an edge.
struct Traffic {
    unsigned weight, activation, swap, read, take;
};

inline constexpr Traffic kTraffic[] = {
    {100, 100, 10, 100, 100},  // everything flows
    {30, 100, 50, 50, 100},    // weights late: rows that swap wait
    {100, 30, 50, 50, 100},    // bubbles between activations
    {100, 100, 100, 100, 20},  // one row per tile, results blocked
    {5, 5, 60, 10, 50},        // mostly idle: the planes stop and start again
    {60, 60, 30, 60, 60},
};

/// Committed elements by kind, of bf16.
struct CommitCounts {
    uint64_t finite = 0, zero = 0, infinite = 0, nan = 0;

    void add(const Sums& sums) {
        for (const uint32_t sum : sums) {
            const uint32_t magnitude = sum & 0x7fffffff;
            ++(magnitude > 0x7f800000    ? nan
               : magnitude == 0x7f800000 ? infinite
               : magnitude == 0          ? zero
                                         : finite);
        }
    }
};

/// A random stream in the given traffic. Rows offered with swap wait at the port until taken.
template <class Unit>  // CheckedMxu, or one that does more in a step
void stream(Unit& mxu, Random& random, const Traffic& traffic, unsigned edges, bool& tile_used,
            CommitCounts* counts = nullptr) {
    std::optional<Elements> weight;
    std::optional<ActRow> row;
    for (unsigned n = 0; n < edges && !testing::Test::HasFailure(); ++n) {
        Stimulus in;
        if (!weight) weight = random.row(mxu.rtl.cols);
        if (!row) {
            const bool swap = !tile_used || random.chance(traffic.swap);
            // Now and then a run of rows into the same accumulator row.
            row = ActRow{random.row(mxu.rtl.rows), swap, random.chance(50),
                         random.chance(50) ? 3 : random.below(kAccDepth)};
            if (!mxu.reference.written(row->addr)) row->accumulate = false;
        }
        if (random.chance(traffic.weight)) in.weight = weight;
        if (random.chance(traffic.activation)) in.activation = row;
        if (random.chance(traffic.read)) {
            const unsigned addr = random.below(kAccDepth);
            if (mxu.reference.readable(addr)) in.read = addr;
        }
        in.res_ready = random.chance(traffic.take);
        const Expected out = mxu.step(in);
        if (counts != nullptr && out.cmt_valid) counts->add(out.cmt_data);
        if (in.weight && out.wgt_ready) weight.reset();
        if (in.activation && out.act_ready) {
            tile_used = true;
            row.reset();
        }
    }
}

/// Every size, type, pipeline and form that the parameterised tests run on. Pipelines that do not
/// divide the size, are larger than it, and groups of four with a short last one are among them.
inline std::vector<ArrayParameters> tested_arrays() {
    constexpr arch::Dtype kInt8 = arch::Dtype::kInt8, kBf16 = arch::Dtype::kBf16;
    return {
        {1, 1},
        {3, 5},
        {8, 8},
        {16, 16},
        {5, 2},
        {8, 8, kInt8, 2},
        {7, 5, kInt8, 3},
        {3, 6, kInt8, 4},
        {1, 1, kBf16},
        {3, 5, kBf16},
        {16, 16, kBf16},
        {7, 5, kBf16, 3},
        {8, 8, kBf16, 4},
        {8, 8, kBf16, 4, true},
        {10, 6, kBf16, 4, true},
        {11, 3, kBf16, 8, true},
        {1, 1, kInt8, 1, false, "grid"},
        {5, 4, kInt8, 1, false, "grid"},
        {7, 5, kInt8, 3, false, "grid"},
        {3, 5, kBf16, 1, false, "grid"},
        {8, 8, kBf16, 2, false, "grid"},
        {10, 6, kBf16, 4, true, "grid"},
    };
}

inline std::vector<ArrayParameters> tested_bf16_arrays() {
    std::vector<ArrayParameters> arrays = tested_arrays();
    std::erase_if(arrays, [](const ArrayParameters& array) { return !array.bf16(); });
    return arrays;
}

inline std::ostream& operator<<(std::ostream& out, const ArrayParameters& array) {
    return out << array.name();
}

inline std::string array_name(const testing::TestParamInfo<ArrayParameters>& info) {
    return info.param.name();
}

}  // namespace tandem::testbench
