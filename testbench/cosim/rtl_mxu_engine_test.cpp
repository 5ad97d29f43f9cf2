// SPDX-License-Identifier: Apache-2.0
// The RTL behind the engine seam: events, values, upsets, reset.
#include "cosim/rtl_mxu_engine.h"

#include <gtest/gtest.h>

#include "testbench/support/arrays.h"

namespace tandem::cosim {
namespace {

using engine::MxuEvent;

class RtlEngine : public testing::Test {
  protected:
    void tile(Cycle from, int8_t value) {
        engine_.push_weights({tiles_++, from, testbench::int8_bytes(64, value)});
    }
    void rows(Cycle from, uint32_t count, int8_t value, bool swap, uint32_t address = 0,
              bool accumulate = false) {
        engine_.push_rows({blocks_++, from, count, 8, address, swap, accumulate,
                           testbench::int8_bytes(size_t{count} * 8, value)});
    }
    std::vector<MxuEvent> events(Cycle until) {
        std::vector<MxuEvent> found;
        while (const auto event = engine_.advance(until)) found.push_back(*event);
        return found;
    }
    void expect_rows(size_t count, int32_t value) {
        const auto data = engine_.read_data();
        ASSERT_EQ(data.size(), count * 8) << "int32 read";
        for (const int32_t element : data) ASSERT_EQ(element, value) << "accumulator";
    }

    const engine::MxuShape shape_{8, 8, 256};
    RtlMxuEngine engine_{shape_, testbench::array_library(shape_)};
    uint64_t tiles_ = 0, blocks_ = 0;
};

TEST_F(RtlEngine, TellsEventsAtTheEdgesOfThePortContract) {
    tile(5, 2);
    rows(6, 3, 4, true);
    const std::vector<MxuEvent> expected = {{12, MxuEvent::Kind::kTileLoaded, 0},
                                            {13, MxuEvent::Kind::kBlockStarted, 0},
                                            {13 + 2 + 17, MxuEvent::Kind::kBlockCommitted, 0}};
    EXPECT_EQ(events(100), expected);
}

TEST_F(RtlEngine, ReadsWhatWasCommitted) {
    tile(0, 2);
    rows(8, 3, 4, true);
    events(60);
    engine_.push_read({0, 60, 0, 3, 2});
    const std::vector<MxuEvent> expected = {{64, MxuEvent::Kind::kReadDone, 0}};
    EXPECT_EQ(events(100), expected);
    expect_rows(3, 8 * 2 * 4);
}

TEST_F(RtlEngine, IsNotBusyWhenAllIsDone) {
    tile(0, 2);
    rows(8, 3, 4, true);
    EXPECT_TRUE(engine_.busy());
    events(100);
    EXPECT_FALSE(engine_.busy());
}

TEST_F(RtlEngine, DoesNotRunBeyondTheGivenEdge) {
    tile(0, 2);
    events(5);
    EXPECT_EQ(engine_.edge(), 5u) << "next edge";
}

TEST_F(RtlEngine, RefusesAnArrayOfAnotherShape) {
    EXPECT_THROW(RtlMxuEngine({8, 8, 128}, testbench::array_library(shape_)), std::logic_error);
}

TEST_F(RtlEngine, AppliesAnUpsetAfterItsEdgeAndNotBefore) {
    tile(0, 2);
    rows(8, 1, 4, true);
    events(60);
    const auto weight = [&] { return *static_cast<const int8_t*>(engine_.pe(3, 5).weight); };
    engine_.inject(parse_injection("pe[3][5].weight:bit2@cycle=70", shape_));
    events(70);
    EXPECT_EQ(weight(), 2) << "before edge 70";
    events(71);
    EXPECT_EQ(weight(), 6) << "after edge 70";
}

TEST_F(RtlEngine, HitsTheRowThatAnUpsetIsMeantFor) {
    tile(0, 1);
    rows(8, 10, 1, true);
    Injection injection = parse_injection("pe[7][0].psum:bit8@cycle=0", shape_);
    injection.at_row = 4;
    engine_.inject(injection);
    events(100);
    engine_.push_read({0, 100, 0, 10, 1});
    events(200);
    for (uint32_t row = 0; row < 10; ++row)
        EXPECT_EQ(engine_.read_data()[size_t{row} * 8], row == 4 ? 264 : 8)
            << "column 0 of row " << row;
}

TEST_F(RtlEngine, KeepsAHeldResultAndReadsLater) {
    tile(0, 2);
    rows(8, 3, 4, true);
    events(60);
    const std::vector<uint32_t> holds = {0, 5, 2};
    engine_.push_read({0, 60, 0, 3, 1, holds});
    const std::vector<MxuEvent> expected = {{60 + 1 + 6 + 2, MxuEvent::Kind::kReadDone, 0}};
    EXPECT_EQ(events(100), expected);
    expect_rows(3, 8 * 2 * 4);
    EXPECT_EQ(engine_.failure(), "");
}

TEST_F(RtlEngine, LeavesGapsBetweenBeatsAndRows) {
    const std::vector<uint32_t> beats = {0, 1, 0, 0, 2, 0, 0, 0}, between = {3, 0, 4};
    engine_.push_weights({0, 5, testbench::int8_bytes(64, 2), beats});
    engine_.push_rows({0, 20, 3, 8, 0, true, false, testbench::int8_bytes(24, 4), between});
    const std::vector<MxuEvent> expected = {{12 + 3, MxuEvent::Kind::kTileLoaded, 0},
                                            {23, MxuEvent::Kind::kBlockStarted, 0},
                                            {23 + 2 + 4 + 17, MxuEvent::Kind::kBlockCommitted, 0}};
    EXPECT_EQ(events(100), expected);
}

TEST_F(RtlEngine, PassesBlocksAndReadsWithoutRows) {
    tile(0, 2);
    rows(8, 3, 4, true);
    rows(8, 0, 0, false);
    engine_.push_read({0, 90, 0, 0, 1});
    const std::vector<MxuEvent> expected = {{7, MxuEvent::Kind::kTileLoaded, 0},
                                            {8, MxuEvent::Kind::kBlockStarted, 0},
                                            {11, MxuEvent::Kind::kBlockStarted, 1},
                                            {8 + 2 + 17, MxuEvent::Kind::kBlockCommitted, 0},
                                            {8 + 2 + 17, MxuEvent::Kind::kBlockCommitted, 1},
                                            {90, MxuEvent::Kind::kReadDone, 0}};
    EXPECT_EQ(events(100), expected);
    EXPECT_TRUE(engine_.read_data().empty());
}

TEST_F(RtlEngine, ForgetsWorkAtReset) {
    tile(0, 2);
    rows(8, 30, 4, true);
    events(20);
    engine_.reset(50);
    EXPECT_FALSE(engine_.busy());
    EXPECT_TRUE(events(200).empty());
}

TEST_F(RtlEngine, ReadsOnlyItsOwnRowsAfterAResetDuringARead) {
    tile(0, 2);
    rows(8, 20, 4, true);
    events(100);
    engine_.push_read({0, 100, 0, 10, 2});
    events(105);
    engine_.reset(120);
    tile(120, 1);
    rows(130, 20, 1, true);
    events(200);
    engine_.push_read({0, 200, 0, 2, 1});
    events(300);
    expect_rows(2, 8);
}

}  // namespace
}  // namespace tandem::cosim
