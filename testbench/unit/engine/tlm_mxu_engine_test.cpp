// SPDX-License-Identifier: Apache-2.0
// The transaction-level array against a simulator of the ports that steps every edge.
#include "engine/tlm_mxu_engine.h"

#include <gtest/gtest.h>

#include "testbench/support/port_simulator.h"
#include "testbench/support/seeded.h"
#include "testbench/support/shapes.h"

namespace tandem::engine {
namespace {

using testbench::bf16_shape;
using testbench::int8_bytes;
using testbench::PortSimulator;
using testbench::Seeded;
using Kind = MxuEvent::Kind;

/// Random work for two engines at once, within the port contract: writes go to one half of the
/// accumulators, reads to the other one.
class Pair {
  public:
    Pair(MxuShape shape, uint64_t seed) : shape_(shape), random_(seed), tlm_(shape), ports_(shape) {
        tile();
        block(0, shape.accumulator_rows, true, false);
    }
    void phase() {
        const uint32_t half = shape_.accumulator_rows / 2, base = (phase_++ % 2) * half;
        for (uint64_t i = 1 + random_.below(4); i != 0; --i) {
            const bool swap = random_.chance(60);
            if (swap) tile();
            const auto rows = static_cast<uint32_t>(random_.below(half + 1));
            block(base + static_cast<uint32_t>(random_.below(half - rows + 1)), rows,
                  swap && rows != 0, random_.chance(50));
            // A tile that no row has taken goes to the next block.
            if (swap && rows == 0) block(base, 1, true, false);
        }
        for (uint64_t i = random_.below(3); i != 0; --i) {
            const auto rows = static_cast<uint32_t>(random_.below(half + 1));
            const uint32_t address =
                half - base + static_cast<uint32_t>(random_.below(half - rows + 1));
            const auto holds = waits(rows);
            const AccumulatorRead read{reads_++,
                                       read_from_ = later(read_from_),
                                       address,
                                       rows,
                                       static_cast<uint32_t>(1 + random_.below(4)),
                                       holds};
            tlm_.push_read(read);
            ports_.push_read(read);
        }
    }
    /// Works everything off in random steps; a text when they part.
    std::string drain() {
        while (ports_.busy() || tlm_.busy()) {
            const Cycle until = now_ + 1 + random_.below(40);
            const auto expected = ports_.advance(until), found = tlm_.advance(until);
            if (expected != found)
                return "event: expected " + text(expected) + ", found " + text(found);
            now_ = expected ? expected->cycle : until;
            if (!expected || expected->kind != Kind::kReadDone) continue;
            const auto a = ports_.read_data(), b = tlm_.read_data();
            if (!std::equal(a.begin(), a.end(), b.begin(), b.end()))
                return "values of read " + std::to_string(expected->id);
        }
        return {};
    }

  private:
    static std::string text(const std::optional<MxuEvent>& event) {
        if (!event) return "nothing";
        return "kind " + std::to_string(static_cast<int>(event->kind)) + " #" +
               std::to_string(event->id) + " at edge " + std::to_string(event->cycle);
    }
    Cycle later(Cycle last) {
        const Cycle from = now_ + 1 + (random_.chance(40) ? random_.below(3 * shape_.rows + 3) : 0);
        return std::max(last, from);
    }
    /// Gaps or holds: as often none.
    std::vector<uint32_t> waits(uint32_t beats) {
        std::vector<uint32_t> found;
        if (random_.chance(50)) return found;
        for (uint32_t i = 0; i < beats; ++i)
            found.push_back(random_.chance(30) ? static_cast<uint32_t>(random_.below(9)) : 0);
        return found;
    }
    void tile() {
        const auto data =
            testbench::random_elements(random_, shape_, uint64_t{shape_.rows} * shape_.cols);
        const auto gaps = waits(shape_.rows);
        tile_from_ = later(tile_from_);
        const WeightTile tile{tiles_++, tile_from_, data, gaps};
        tlm_.push_weights(tile);
        ports_.push_weights(tile);
    }
    void block(uint32_t address, uint32_t rows, bool swap, bool accumulate) {
        const auto k_len = static_cast<uint32_t>(1 + random_.below(shape_.rows));
        auto data = testbench::random_elements(random_, shape_, uint64_t{rows} * shape_.rows);
        for (size_t i = 0; i < data.size(); ++i)
            if (i / shape_.element_bytes() % shape_.rows >= k_len) data[i] = std::byte{0};
        const auto gaps = waits(rows);
        block_from_ = later(block_from_);
        const RowBlock work{blocks_++, block_from_, rows, k_len, address,
                            swap,      accumulate,  data, gaps};
        tlm_.push_rows(work);
        ports_.push_rows(work);
    }
    const MxuShape shape_;
    Seeded random_;
    TlmMxuEngine tlm_;
    PortSimulator ports_;
    Cycle now_ = 0, tile_from_ = 0, block_from_ = 0, read_from_ = 0;
    uint64_t tiles_ = 0, blocks_ = 0, reads_ = 0;
    uint32_t phase_ = 0;
};

class TlmMxuEngineSizes : public testing::TestWithParam<MxuShape> {};

TEST_P(TlmMxuEngineSizes, GivesEventsAndValuesOfTheSteppedPorts) {
    for (uint64_t seed = 0; seed < 40; ++seed) {
        Pair pair(GetParam(), seed);
        ASSERT_EQ(pair.drain(), "") << "first block, seed " << seed;
        for (int phase = 0; phase < 12; ++phase) {
            pair.phase();
            ASSERT_EQ(pair.drain(), "") << "phase " << phase << ", seed " << seed;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, TlmMxuEngineSizes,
    testing::Values(MxuShape{1, 1, 16}, MxuShape{3, 5, 32}, MxuShape{8, 8, 64}, MxuShape{16, 4, 64},
                    MxuShape{7, 9, 32, arch::Dtype::kInt8, 3},
                    MxuShape{5, 5, 32, arch::Dtype::kInt8, 8},
                    MxuShape{4, 4, 32, arch::Dtype::kInt8, 1, false, MxuTiming{3, 4, 7}},
                    MxuShape{6, 2, 32, arch::Dtype::kInt8, 1, false, MxuTiming{1, 1, 9}},
                    bf16_shape(1, 1, 16), bf16_shape(3, 5, 32), bf16_shape(8, 8, 64, 2),
                    bf16_shape(10, 6, 32, 4, true), bf16_shape(8, 3, 32, 8, true)),
    [](const auto& info) { return testbench::name_of(info.param); });

class TlmMxuEngineTiming : public testing::Test {
  protected:
    void tile(Cycle from, const std::vector<uint32_t>& gaps = {}) {
        engine_.push_weights({tiles_++, from, {}, gaps});
    }
    void block(Cycle from, uint32_t rows, bool swap, const std::vector<uint32_t>& gaps = {}) {
        engine_.push_rows({blocks_++, from, rows, 8, 0, swap, false, {}, gaps});
    }
    void read(Cycle from, uint32_t rows, uint32_t interval,
              const std::vector<uint32_t>& holds = {}) {
        engine_.push_read({reads_++, from, 0, rows, interval, holds});
    }
    Cycle cycle_of(Kind kind, uint64_t id) {
        while (const auto event = engine_.advance(10000))
            if (event->kind == kind && event->id == id) return event->cycle;
        ADD_FAILURE() << "event #" << id << " did not come";
        return 0;
    }
    TlmMxuEngine engine_{{8, 4, 64}};
    uint64_t tiles_ = 0, blocks_ = 0, reads_ = 0;
};

TEST_F(TlmMxuEngineTiming, LoadsATileInAsManyEdgesAsRows) {
    tile(10);
    EXPECT_EQ(cycle_of(Kind::kTileLoaded, 0), 17u) << "edge";
}

TEST_F(TlmMxuEngineTiming, SwapsOneEdgeAfterTheLastWeightRow) {
    tile(10);
    block(0, 1, true);
    EXPECT_EQ(cycle_of(Kind::kBlockStarted, 0), 18u) << "edge";
}

TEST_F(TlmMxuEngineTiming, CommitsRowsPlusColumnsPlusOneEdgesLater) {
    tile(10);
    block(0, 1, true);
    EXPECT_EQ(cycle_of(Kind::kBlockCommitted, 0), 18u + 8 + 4 + 1) << "edge";
}

TEST_F(TlmMxuEngineTiming, StreamsBlocksBackToBack) {
    tile(0);
    block(0, 5, true);
    block(0, 5, false);
    EXPECT_EQ(cycle_of(Kind::kBlockStarted, 1), 8u + 5) << "edge";
}

TEST_F(TlmMxuEngineTiming, TakesOneEdgeMoreThanItsRowsForEachTileOfAShortBlock) {
    for (int i = 0; i < 5; ++i) tile(0), block(0, 2, true);
    EXPECT_EQ(cycle_of(Kind::kBlockStarted, 4), 8u + 4 * 9) << "edge";
}

TEST_F(TlmMxuEngineTiming, HidesTheTileLoadBehindALongBlock) {
    for (int i = 0; i < 5; ++i) tile(0), block(0, 20, true);
    EXPECT_EQ(cycle_of(Kind::kBlockStarted, 4), 8u + 4 * 20) << "edge";
}

TEST_F(TlmMxuEngineTiming, LoadsATileLaterByItsGaps) {
    tile(10, {2, 0, 0, 3, 0, 0, 0, 1});
    EXPECT_EQ(cycle_of(Kind::kTileLoaded, 0), 17u + 6) << "edge";
}

TEST_F(TlmMxuEngineTiming, CountsTheGapOfAFirstBeatFromTheFreePortAndNotFromTheSwap) {
    tile(0);
    tile(0, {5, 0, 0, 0, 0, 0, 0, 0});
    block(20, 1, true);
    EXPECT_EQ(cycle_of(Kind::kTileLoaded, 1), 21u + 7) << "edge: it stood there from edge 13";
}

TEST_F(TlmMxuEngineTiming, CommitsTheLastRowLaterByItsGaps) {
    tile(0);
    block(20, 4, true, {1, 0, 7, 2});
    EXPECT_EQ(cycle_of(Kind::kBlockCommitted, 0), 20u + 3 + 10 + 13) << "edge";
}

TEST_F(TlmMxuEngineTiming, StartsABlockWithoutRowsWhenThePortIsFree) {
    tile(0);
    block(0, 5, true);
    block(0, 0, false);
    EXPECT_EQ(cycle_of(Kind::kBlockStarted, 1), 8u + 5) << "edge";
}

TEST_F(TlmMxuEngineTiming, CommitsABlockWithoutRowsWithTheOneBeforeIt) {
    tile(0);
    block(0, 5, true);
    block(0, 0, false);
    EXPECT_EQ(cycle_of(Kind::kBlockCommitted, 1), 8u + 4 + 13) << "edge";
}

TEST_F(TlmMxuEngineTiming, CommitsABlockWithoutRowsAtOnceWhenNothingIsInFlight) {
    block(30, 0, false);
    EXPECT_EQ(cycle_of(Kind::kBlockCommitted, 0), 30u) << "edge";
}

TEST_F(TlmMxuEngineTiming, LetsABlockWithoutRowsTakeNoEdge) {
    tile(0);
    block(0, 5, true);
    block(0, 0, false);
    block(0, 1, false);
    EXPECT_EQ(cycle_of(Kind::kBlockStarted, 2), 8u + 5) << "edge";
}

TEST_F(TlmMxuEngineTiming, ReadsOneRowPerInterval) {
    read(10, 4, 3);
    EXPECT_EQ(cycle_of(Kind::kReadDone, 0), 10u + 9) << "edge";
}

TEST_F(TlmMxuEngineTiming, ReadsLaterWhenResultsAreHeld) {
    read(10, 3, 2, {0, 5, 4});
    EXPECT_EQ(cycle_of(Kind::kReadDone, 0), 10u + 2 + 6 + 4) << "edge";
}

TEST_F(TlmMxuEngineTiming, StartsAReadAfterTheHoldOfTheOneBefore) {
    read(10, 1, 1, {4});
    read(10, 1, 1);
    EXPECT_EQ(cycle_of(Kind::kReadDone, 1), 15u) << "edge";
}

TEST_F(TlmMxuEngineTiming, DoesAReadWithoutRowsWhenThePortIsFree) {
    read(10, 2, 1);
    read(0, 0, 1);
    EXPECT_EQ(cycle_of(Kind::kReadDone, 1), 12u) << "edge";
}

TEST(MxuTimingOf, ASystolicArrayCountsPipelineRegisters) {
    EXPECT_EQ(commit_latency({16, 8, 4}), 25u) << "a register per PE";
    EXPECT_EQ(commit_latency({16, 8, 4, arch::Dtype::kInt8, 4}), 4u + 2 + 1) << "one every 4";
    EXPECT_EQ(commit_latency({17, 9, 4, arch::Dtype::kInt8, 4}), 5u + 3 + 1) << "short last bands";
    EXPECT_EQ(commit_latency({3, 3, 4, arch::Dtype::kInt8, 8}), 3u) << "one band";
}

TEST(MxuTimingOf, ADeclaredArrayIsWhatItDeclares) {
    const MxuShape shape{16, 8, 4, arch::Dtype::kInt8, 1, false, MxuTiming{9, 2, 5}};
    EXPECT_EQ(timing(shape).commit_latency, 9u);
    EXPECT_EQ(timing(shape).weight_interval, 2u);
    EXPECT_EQ(timing(shape).weight_latency, 5u);
}

TEST_F(TlmMxuEngineTiming, GivesNothingBeforeTheEventsEdge) {
    tile(10);
    EXPECT_EQ(engine_.advance(17), std::nullopt) << "edges before 17";
    EXPECT_TRUE(engine_.advance(18).has_value()) << "edge 17";
}

TEST_F(TlmMxuEngineTiming, GivesNoValuesWhenOnlyTimeIsModelled) {
    tile(0);
    block(0, 5, true);
    cycle_of(Kind::kBlockCommitted, 0);
    EXPECT_FALSE(engine_.busy());
}

TEST_F(TlmMxuEngineTiming, DropsAllWorkAtReset) {
    tile(0);
    block(0, 5, true);
    engine_.reset(4);
    EXPECT_FALSE(engine_.busy());
    EXPECT_EQ(engine_.advance(1000), std::nullopt);
}

TEST_F(TlmMxuEngineTiming, StartsAfreshAfterReset) {
    tile(0);
    tile(0);
    block(0, 5, true);
    engine_.reset(100);
    tile(100);
    EXPECT_EQ(cycle_of(Kind::kTileLoaded, 2), 107u) << "edge";
}

TEST(TlmMxuEngineValues, WrapOnAccumulation) {
    TlmMxuEngine engine({1, 1, 2});
    engine.push_weights({0, 0, int8_bytes(1, -128)});
    uint32_t expected = 0;
    for (uint64_t i = 0; i < 140000; ++i) {
        engine.push_rows({i, 0, 1, 1, 0, i == 0, i != 0, int8_bytes(1, -128)});
        expected += 16384;
        while (engine.advance(i)) {
        }
    }
    while (engine.advance(1000000)) {
    }
    engine.push_read({0, 1000000, 0, 1, 1});
    while (engine.advance(2000000)) {
    }
    ASSERT_EQ(engine.read_data().size(), 1u);
    EXPECT_EQ(engine.read_data()[0], static_cast<int32_t>(expected))
        << "140000 * 16384 modulo 2^32";
}

/// A tile of ones and blocks of known rows on a 2x1 array.
class TlmMxuEngineBlocks : public testing::Test {
  protected:
    TlmMxuEngineBlocks() { engine_.push_weights({0, 0, int8_bytes(2, 1)}); }
    void block(uint32_t address, std::vector<uint32_t> gaps = {}) {
        engine_.push_rows(
            {blocks_++, 0, 3, 2, address, blocks_ == 1, false, int8_bytes(6, 5), gaps});
    }
    TlmMxuEngine engine_{{2, 1, 8}};
    uint64_t blocks_ = 0;
};

TEST_F(TlmMxuEngineBlocks, GiveTheEdgeOfEveryRow) {
    block(1, {0, 4, 1});
    const auto* result = engine_.next_block();
    ASSERT_NE(result, nullptr);
    EXPECT_EQ(result->edge(0), 2u);
    EXPECT_EQ(result->edge(1), 7u);
    EXPECT_EQ(result->edge(2), 9u);
}

TEST_F(TlmMxuEngineBlocks, GiveTheirValuesOnce) {
    block(1);
    const auto* result = engine_.next_block();
    ASSERT_NE(result, nullptr);
    EXPECT_EQ(std::vector<int32_t>(result->sums.begin(), result->sums.end()),
              (std::vector<int32_t>{10, 10, 10}));
    EXPECT_EQ(engine_.next_block(), nullptr);
}

TEST_F(TlmMxuEngineBlocks, AreToldInOrderAtTheirCommits) {
    std::vector<uint64_t> told;
    engine_.set_block_listener([&](const auto& result) { told.push_back(result.id); });
    block(0), block(3);
    while (engine_.advance(100)) {
    }
    EXPECT_EQ(told, (std::vector<uint64_t>{0, 1}));
}

TEST(TlmMxuEngineData, IsSharedWithItsOwnerAndLetGo) {
    constexpr int8_t kTile[] = {1, 2, 3, 4}, kRows[] = {0, 5, 6, 7};
    TlmMxuEngine engine({2, 2, 4});
    const SharedData tile = share(std::as_bytes(std::span(kTile))),
                     rows = share(std::as_bytes(std::span(kRows)));
    engine.push_weights({.id = 0, .from = 0, .data = {tile.get(), 4}, .owner = tile});
    // The second row only: data may be a part of what is owned.
    engine.push_rows({.id = 0,
                      .from = 0,
                      .rows = 1,
                      .k_len = 2,
                      .acc_addr = 0,
                      .swap = true,
                      .accumulate = false,
                      .data = {rows.get() + 2, 2},
                      .owner = rows});
    EXPECT_GT(tile.use_count(), 1);
    EXPECT_GT(rows.use_count(), 1);
    engine.push_read({1, 100, 0, 1, 1});
    std::vector<int32_t> sums;
    while (const auto event = engine.advance(1000))
        if (event->kind == Kind::kReadDone)
            sums.assign(engine.read_data().begin(), engine.read_data().end());
    EXPECT_EQ(sums, (std::vector<int32_t>{6 * 1 + 7 * 3, 6 * 2 + 7 * 4}));
    engine.reset(1000);
    EXPECT_EQ(tile.use_count(), 1);
}

}  // namespace
}  // namespace tandem::engine
