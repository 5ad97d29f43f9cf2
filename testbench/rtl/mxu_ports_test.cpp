// SPDX-License-Identifier: Apache-2.0
// The matrix unit at its ports against MxuReference: values, and the edge of every event.
#include "testbench/rtl/mxu_harness.h"
#include "testbench/rtl/mxu_traffic.h"

namespace tandem::testbench {
namespace {

class MxuPorts : public testing::TestWithParam<ArrayParameters> {
  protected:
    MxuPorts() : array(GetParam()), rows(array.rows), cols(array.cols), mxu(array) {}

    /// Offers the beats of a tile one per edge, last row first.
    void load(const Tile& tile) {
        for (unsigned k = rows; k-- > 0;) {
            Stimulus in;
            in.weight = tile[k];
            mxu.step(in);
        }
    }

    void send(const Elements& data, bool swap, unsigned addr, bool accumulate = false) {
        Stimulus in;
        in.activation = ActRow{data, swap, accumulate, addr};
        mxu.step(in);
    }

    const ArrayParameters array;
    const unsigned rows, cols;
    CheckedMxu mxu;
};

TEST_P(MxuPorts, RandomStreamsMatchTheReferenceAtEveryEdge) {
    CommitCounts counts;
    for (unsigned seed = 0; seed < 12; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed, array);
        CheckedMxu unit(array);
        bool tile_used = false;
        for (unsigned phase = 0; phase < 8; ++phase) {
            const Traffic& traffic = kTraffic[random.below(std::size(kTraffic))];
            stream(unit, random, traffic, 60 + random.below(200), tile_used, &counts);
        }
        unit.drain();
        if (HasFailure()) return;
    }
    if (!array.bf16()) return;
    // Streams of nothing but NaN would show little.
    EXPECT_GT(counts.finite, (counts.zero + counts.infinite + counts.nan) / 2);
    EXPECT_GT(counts.zero, 0u);
    EXPECT_GT(counts.infinite, 0u);
    EXPECT_GT(counts.nan, 0u);
}

TEST_P(MxuPorts, ResetInFlightDropsRowsAndTiles) {
    for (unsigned seed = 0; seed < 12; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed, array);
        CheckedMxu unit(array);
        for (unsigned pass = 0; pass < 4; ++pass) {
            bool tile_used = false;
            stream(unit, random, kTraffic[random.below(std::size(kTraffic))], 40 + random.below(80),
                   tile_used);
            unit.reset();
            if (random.chance(50)) unit.idle(random.below(array.commit_latency() + 3));
        }
        if (HasFailure()) return;
    }
}

TEST_P(MxuPorts, RowIsCommittedOneLatencyAfterAcceptance) {
    Random random(0, array);
    const Tile tile = random.tile(rows, cols);
    const Elements row = random.row(rows);
    Mxu unit(array);
    for (unsigned k = rows; k-- > 0;) {
        Stimulus in;
        in.weight = tile[k];
        EXPECT_TRUE(unit.step(in).wgt_ready);
    }
    Stimulus in;
    in.activation = ActRow{row, true, false, 7};
    EXPECT_TRUE(unit.step(in).act_ready) << "swap one edge after the last beat";
    for (unsigned after = 1; after < array.commit_latency(); ++after)
        EXPECT_FALSE(unit.step({}).cmt_valid) << after << " edges after acceptance";
    EXPECT_TRUE(unit.ports.busy);
    EXPECT_TRUE(unit.step({}).cmt_valid);
    EXPECT_EQ(unit.ports.cmt_addr, 7u);
    EXPECT_EQ(unit.commit(), multiply(array, row, tile));
    EXPECT_FALSE(unit.ports.busy);
    Stimulus read;
    read.read = 7;
    EXPECT_TRUE(unit.step(read).rd_ready);
    EXPECT_TRUE(unit.ports.res_valid);
    EXPECT_EQ(unit.result(), multiply(array, row, tile));
}

TEST_P(MxuPorts, SwapWaitsForTheLastBeatAndTakesTheNextEdge) {
    Random random(1, array);
    const Tile tile = random.tile(rows, cols);
    for (unsigned k = rows; k-- > 0;) {
        Stimulus in;
        in.weight = tile[k];
        in.activation = ActRow{random.row(rows), true, false, 0};
        const Expected out = mxu.step(in);
        EXPECT_FALSE(out.act_ready) << "tile row " << k << " is accepted at this very edge";
    }
    Stimulus in;
    in.weight = tile[0];
    in.activation = ActRow{random.row(rows), true, false, 0};
    Expected out = mxu.step(in);
    EXPECT_TRUE(out.act_ready);
    EXPECT_FALSE(out.wgt_ready) << "the shadow plane is free one edge after the swap";
    out = mxu.step(in);
    EXPECT_TRUE(out.wgt_ready);
    mxu.drain();
}

TEST_P(MxuPorts, TilesOfOneRowFollowEachOtherEveryRowsPlusOneEdges) {
    Random random(2, array);
    uint64_t last = 0;
    unsigned tiles = 0;
    for (unsigned edge = 0; edge < 40 * (rows + 1); ++edge) {
        Stimulus in;
        in.weight = random.row(cols);
        in.activation = ActRow{random.row(rows), true, false, edge % kAccDepth};
        if (!mxu.step(in).act_ready) continue;
        if (tiles++ > 0) {
            EXPECT_EQ(edge - last, rows + 1);
        }
        last = edge;
    }
    EXPECT_EQ(tiles, 39u + 1u);
    mxu.drain();
}

TEST_P(MxuPorts, AccumulationAddsEveryRowInFlightAndOverwriteStartsAgain) {
    Random random(3, array);
    load(random.tile(rows, cols));
    send(random.row(rows), true, 5);
    for (unsigned n = 0; n < 3 * (rows + cols); ++n) send(random.row(rows), false, 5, true);
    send(random.row(rows), false, 5, false);
    send(random.row(rows), false, 5, true);
    mxu.drain();
    Stimulus in;
    in.read = 5;
    mxu.step(in);
}

TEST_P(MxuPorts, AccumulatorsWrapOrOverflowToInfinity) {
    // int8: 2^14 per PE and row: past 2^31 after 2^17 / Rows rows. One PE would take too long.
    // bf16: 2^120 per PE and row: past 2^128 after 256 / Rows rows.
    const Element lowest = array.bf16() ? 0x5d80 : 0x80;
    const unsigned count = array.bf16() ? 258 : rows < 3 ? 64 : (1u << 17) / rows + 2;
    const auto beyond = [&](uint32_t sum) {
        return array.bf16() ? sum == 0x7f800000 : static_cast<int32_t>(sum) < 0;
    };
    load(Tile(rows, Elements(cols, lowest)));
    send(Elements(rows, lowest), true, 1);
    bool reached = false;
    for (unsigned n = 0; n < count + array.commit_latency() + 1; ++n) {
        if (n < count)
            send(Elements(rows, lowest), false, 1, true);
        else
            mxu.step({});
        reached = reached || (mxu.rtl.ports.cmt_valid && beyond(mxu.rtl.commit()[0]));
        if (HasFailure()) return;
    }
    EXPECT_EQ(reached, array.bf16() || rows >= 3);
}

class MxuPortsOfBf16 : public MxuPorts {};

TEST_P(MxuPortsOfBf16, SignsOfZeroAndNotANumber) {
    constexpr Element kOne = 0x3f80, kMinusZero = 0x8000;
    load(Tile(rows, Elements(cols, kOne)));
    const auto committed = [&](const Elements& row, bool swap, bool accumulate) {
        send(row, swap, 0, accumulate);
        while (!mxu.rtl.ports.cmt_valid) mxu.step({});
        return mxu.rtl.commit()[cols - 1];
    };
    EXPECT_EQ(committed(Elements(rows, kMinusZero), true, false), 0u)
        << "a column sum starts from +0";
    if (rows >= 2) {  // 2^-126 less the next number: flushed, with its sign
        Elements row(rows, 0);
        row[rows - 2] = 0x0080;
        row[rows - 1] = 0x8081;
        const bool in_one_group = array.sum4 && (rows - 1) % 4 != 0;
        const uint32_t expected = in_one_group ? 0 : 0x80000000;  // +0 + -0 comes after a group
        EXPECT_EQ(committed(row, false, false), expected);
        EXPECT_EQ(committed(row, false, true), expected) << "-0 + -0 at the accumulators";
        EXPECT_EQ(committed(Elements(rows, 0), false, true), 0u) << "-0 + +0";
    }
    if (array.sum4 && rows > 8) {  // -0 from two groups, then a group of nothing but -0
        Elements row(rows, kMinusZero);
        row[0] = 0x0080;
        row[4] = 0x8081;
        const bool short_group = rows % 4 != 0;  // products that are not there count as +0
        EXPECT_EQ(committed(row, false, false), short_group ? 0 : 0x80000000);
        if (rows % 4 >= 2) {  // the sum of the last group is flushed to -0 as well
            row[rows - 2] = 0x0080;
            row[rows - 1] = 0x8081;
            EXPECT_EQ(committed(row, false, false), 0x80000000) << "-0 passes PEs that do not add";
        }
    }
    Elements row(rows, 0);
    row[0] = 0xffab;
    EXPECT_EQ(committed(row, false, false), 0x7fc00000u) << "whatever NaN went in";
    EXPECT_EQ(committed(Elements(rows, kOne), false, true), 0x7fc00000u) << "stays";
    row[0] = 0x7f80;
    EXPECT_EQ(committed(row, false, false), 0x7f800000u);
    row[0] = 0xff80;
    EXPECT_EQ(committed(row, false, true), 0x7fc00000u) << "inf - inf at the accumulators";
}

TEST_P(MxuPorts, BlockedResultStaysAndHoldsTheNextReadBack) {
    Random random(4, array);
    load(random.tile(rows, cols));
    send(random.row(rows), true, 0);
    send(random.row(rows), false, 1);
    mxu.drain();
    Stimulus in;
    in.read = 0;
    in.res_ready = false;
    EXPECT_TRUE(mxu.step(in).rd_ready);
    const Sums first = mxu.rtl.result();
    in.read = 1;
    for (unsigned n = 0; n < 5; ++n) {
        EXPECT_FALSE(mxu.step(in).rd_ready);
        EXPECT_EQ(mxu.rtl.result(), first);
    }
    in.res_ready = true;
    EXPECT_TRUE(mxu.step(in).rd_ready) << "taken and replaced at one edge";
}

INSTANTIATE_TEST_SUITE_P(Arrays, MxuPorts, testing::ValuesIn(tested_arrays()), array_name);

INSTANTIATE_TEST_SUITE_P(Arrays, MxuPortsOfBf16, testing::ValuesIn(tested_bf16_arrays()),
                         array_name);

class MxuValues : public testing::TestWithParam<const char*> {};  // the form

TEST_P(MxuValues, EveryProductOfTwoInt8IsExact) {
    Mxu unit({1, 1, arch::Dtype::kInt8, 1, false, GetParam()});
    const auto element = [](int value) { return static_cast<Element>(value & 0xff); };
    for (int weight = -128; weight < 128; ++weight) {
        Stimulus in;
        in.weight = Elements{element(weight)};
        unit.step(in);
        int expected = -128;
        for (int value = -128; expected < 128; ++value) {
            Stimulus row;
            if (value < 128) row.activation = ActRow{{element(value)}, value == -128, false, 0};
            if (!unit.step(row).cmt_valid) continue;
            ASSERT_EQ(static_cast<int32_t>(unit.commit()[0]), weight * expected)
                << expected << " * " << weight;
            ++expected;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Forms, MxuValues, testing::Values("flat", "grid"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace tandem::testbench
