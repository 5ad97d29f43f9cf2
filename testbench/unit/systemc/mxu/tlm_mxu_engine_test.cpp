// SPDX-License-Identifier: Apache-2.0
// The transaction-level array against a simulator of the ports that steps every edge.
#include "systemc/mxu/tlm_mxu_engine.h"

#include <gtest/gtest.h>

#include "testbench/support/port_simulator.h"
#include "testbench/support/seeded.h"

namespace tandem::mxu {
namespace {

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
            const auto rows = static_cast<uint32_t>(1 + random_.below(half));
            block(base + static_cast<uint32_t>(random_.below(half - rows + 1)), rows, swap,
                  random_.chance(50));
        }
        for (uint64_t i = random_.below(3); i != 0; --i) {
            const auto rows = static_cast<uint32_t>(1 + random_.below(half));
            const uint32_t address =
                half - base + static_cast<uint32_t>(random_.below(half - rows + 1));
            const AccumulatorRead read{reads_++, read_from_ = later(read_from_), address, rows,
                                       static_cast<uint32_t>(1 + random_.below(4))};
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
    void tile() {
        const auto data = random_.int8s(size_t{shape_.rows} * shape_.cols);
        tile_from_ = later(tile_from_);
        tlm_.push_weights({tiles_, tile_from_, data});
        ports_.push_weights({tiles_++, tile_from_, data});
    }
    void block(uint32_t address, uint32_t rows, bool swap, bool accumulate) {
        const auto k_len = static_cast<uint32_t>(1 + random_.below(shape_.rows));
        auto data = random_.int8s(size_t{rows} * shape_.rows);
        for (size_t i = 0; i < data.size(); ++i)
            if (i % shape_.rows >= k_len) data[i] = 0;
        block_from_ = later(block_from_);
        const RowBlock work{blocks_++, block_from_, rows, k_len, address, swap, accumulate, data};
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

INSTANTIATE_TEST_SUITE_P(Sizes, TlmMxuEngineSizes,
                         testing::Values(MxuShape{1, 1, 16}, MxuShape{3, 5, 32}, MxuShape{8, 8, 64},
                                         MxuShape{16, 4, 64}),
                         [](const auto& info) {
                             return std::to_string(info.param.rows) + "x" +
                                    std::to_string(info.param.cols);
                         });

class TlmMxuEngineTiming : public testing::Test {
  protected:
    void tile(Cycle from) { engine_.push_weights({tiles_++, from, {}}); }
    void block(Cycle from, uint32_t rows, bool swap) {
        engine_.push_rows({blocks_++, from, rows, 8, 0, swap, false, {}});
    }
    Cycle cycle_of(Kind kind, uint64_t id) {
        while (const auto event = engine_.advance(10000))
            if (event->kind == kind && event->id == id) return event->cycle;
        ADD_FAILURE() << "event #" << id << " did not come";
        return 0;
    }
    TlmMxuEngine engine_{{8, 4, 64}};
    uint64_t tiles_ = 0, blocks_ = 0;
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
    engine.push_weights({0, 0, std::vector<int8_t>{-128}});
    uint32_t expected = 0;
    for (uint64_t i = 0; i < 140000; ++i) {
        engine.push_rows({i, 0, 1, 1, 0, i == 0, i != 0, std::vector<int8_t>{-128}});
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

}  // namespace
}  // namespace tandem::mxu
