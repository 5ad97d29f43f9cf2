// SPDX-License-Identifier: Apache-2.0
// Lock-step of model and RTL: silent when they agree, and naming the register when they do not.
// Whether an upset matters is decided without the engine under test: an RTL array alone with the
// upset against the model alone, row by row.
#include "cosim/tandem_engine.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "cosim/random_stream.h"
#include "testbench/support/arrays.h"
#include "testbench/support/seeded.h"

namespace tandem::cosim {
namespace {

using mxu::MxuShape;

/// One committed accumulator row.
struct Commit {
    uint64_t edge;
    uint32_t address;
    std::vector<int32_t> row;
    friend bool operator==(const Commit&, const Commit&) = default;
};

class CommitLog final : public ArrayListener {
  public:
    explicit CommitLog(uint32_t cols) : cols_(cols) {}
    void on_commit(Cycle edge, uint32_t address, const int32_t* row) override {
        commits.push_back({edge, address, {row, row + cols_}});
    }
    std::vector<Commit> commits;

  private:
    uint32_t cols_;
};

struct StreamRun {
    std::vector<Commit> commits;
    uint64_t edges = 0, rows = 0;
};

StreamRun run_model(MxuShape shape, uint64_t seed, uint32_t phases) {
    StreamRun run;
    mxu::TlmMxuEngine engine(shape);
    engine.set_block_listener([&](const mxu::TlmMxuEngine::BlockResult& block) {
        for (uint32_t i = 0; i < block.rows; ++i) {
            const auto row = block.sums.subspan(size_t{i} * shape.cols, shape.cols);
            run.commits.push_back({block.first_edge + i + shape.rows + shape.cols + 1,
                                   block.acc_addr + i,
                                   {row.begin(), row.end()}});
        }
    });
    RandomStream stream(engine, seed);
    stream.run(phases);
    run.edges = stream.edges();
    run.rows = stream.rows();
    return run;
}

StreamRun run_rtl(MxuShape shape, uint64_t seed, uint32_t phases, const Injection* injection) {
    RtlMxuEngine engine(shape, testbench::array_library(shape));
    CommitLog log(shape.cols);
    engine.set_listener(&log);
    if (injection != nullptr) engine.inject(*injection);
    RandomStream stream(engine, seed);
    stream.run(phases);
    return {log.commits, stream.edges(), stream.rows()};
}

std::string name_of_shape(const testing::TestParamInfo<MxuShape>& info) {
    return std::to_string(info.param.rows) + "x" + std::to_string(info.param.cols);
}

class RandomStreams : public testing::TestWithParam<MxuShape> {};

TEST_P(RandomStreams, CommitTheSameRowsOnModelAndRtl) {
    for (uint64_t seed = 0; seed < 10; ++seed) {
        const StreamRun model = run_model(GetParam(), seed, 10),
                        rtl = run_rtl(GetParam(), seed, 10, nullptr);
        ASSERT_EQ(model.commits.size(), rtl.commits.size()) << "rows, seed " << seed;
        for (size_t i = 0; i < model.commits.size(); ++i)
            ASSERT_EQ(model.commits[i], rtl.commits[i])
                << "commit " << i << " at edge " << model.commits[i].edge << " (model), "
                << rtl.commits[i].edge << " (RTL), seed " << seed;
    }
}

TEST_P(RandomStreams, AreComparedRowByRowWithoutDivergence) {
    for (uint64_t seed = 0; seed < 10; ++seed) {
        TandemEngine engine(GetParam(), testbench::array_library(GetParam()), {});
        RandomStream stream(engine, seed);
        stream.run(10);
        ASSERT_FALSE(engine.divergence().has_value())
            << engine.divergence()->what << ": " << engine.divergence()->note << ", seed " << seed;
        EXPECT_EQ(engine.rows_compared(), stream.rows()) << "rows, seed " << seed;
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, RandomStreams,
                         testing::Values(MxuShape{1, 1, 32}, MxuShape{3, 5, 32}, MxuShape{5, 2, 32},
                                         MxuShape{8, 8, 256}, MxuShape{16, 16, 512}),
                         name_of_shape);

class RandomInjections : public testing::TestWithParam<MxuShape> {
  protected:
    static constexpr uint64_t kStreamSeed = 7;
    static constexpr uint32_t kPhases = 4;
    static constexpr uint64_t kInjections = 100;

    Injection random(uint64_t seed) const {
        testbench::Seeded random(seed);
        Injection injection;
        injection.which = static_cast<PeRegister>(random.below(4));
        injection.pe_row = static_cast<uint32_t>(random.below(GetParam().rows));
        injection.pe_col = static_cast<uint32_t>(random.below(GetParam().cols));
        injection.bit =
            static_cast<uint32_t>(random.below(injection.which == PeRegister::kPsum ? 32 : 8));
        injection.cycle = random.below(model_.edges);
        return injection;
    }
    bool matters(const Injection& injection) const {
        return run_rtl(GetParam(), kStreamSeed, kPhases, &injection).commits != model_.commits;
    }
    std::optional<Divergence> found(const Injection& injection,
                                    const TandemOptions& options = {}) const {
        TandemEngine engine(GetParam(), testbench::array_library(GetParam()), options);
        engine.rtl().inject(injection);
        RandomStream stream(engine, kStreamSeed);
        stream.run(kPhases);
        return engine.divergence();
    }
    const StreamRun model_ = run_model(GetParam(), kStreamSeed, kPhases);
};

TEST_P(RandomInjections, AreReportedExactlyWhenACommittedRowChanges) {
    uint64_t effective = 0;
    for (uint64_t seed = 0; seed < kInjections; ++seed) {
        const Injection injection = random(seed);
        const bool expected = matters(injection);
        effective += expected;
        ASSERT_EQ(found(injection).has_value(), expected)
            << "divergence for " << injection.to_string() << ", seed " << seed;
    }
    EXPECT_GT(effective, kInjections / 10) << "injections with an effect: too few to say anything";
    EXPECT_LT(effective, kInjections) << "injections with an effect: none without";
}

TEST_P(RandomInjections, AreNamedByPeRegisterAndCycle) {
    for (uint64_t seed = 0; seed < kInjections; ++seed) {
        const Injection injection = random(seed);
        if (!matters(injection)) continue;
        const auto divergence = found(injection);
        ASSERT_TRUE(divergence.has_value()) << injection.to_string() << ", seed " << seed;
        ASSERT_TRUE(divergence->pe.has_value())
            << injection.to_string() << ": no PE named (" << divergence->note << "), seed " << seed;
        const PeMismatch& pe = *divergence->pe;
        const Injection named{pe.which, pe.pe_row, pe.pe_col, injection.bit, pe.cycle, {}};
        ASSERT_EQ(named.to_string(), injection.to_string()) << "seed " << seed;
        const int64_t flipped = pe.expected ^ pe.actual;
        EXPECT_EQ(flipped & 0xffffffff & (injection.which == PeRegister::kPsum ? ~0ll : 0xffll),
                  1ll << injection.bit)
            << "wrong bits of " << injection.to_string() << ", seed " << seed;
    }
}

TEST_P(RandomInjections, AreToldWithTheFirstWrongRow) {
    for (uint64_t seed = 0; seed < kInjections; ++seed) {
        const Injection injection = random(seed);
        const StreamRun rtl = run_rtl(GetParam(), kStreamSeed, kPhases, &injection);
        if (rtl.commits == model_.commits) continue;
        const auto [good, bad] = std::mismatch(model_.commits.begin(), model_.commits.end(),
                                               rtl.commits.begin(), rtl.commits.end());
        const auto divergence = found(injection);
        ASSERT_TRUE(divergence.has_value()) << injection.to_string() << ", seed " << seed;
        EXPECT_EQ(divergence->what, "value") << injection.to_string() << ", seed " << seed;
        EXPECT_EQ(divergence->cycle_rtl, bad->edge)
            << "commit edge, " << injection.to_string() << ", seed " << seed;
        const auto col = static_cast<size_t>(
            std::mismatch(good->row.begin(), good->row.end(), bad->row.begin()).first -
            good->row.begin());
        EXPECT_EQ(divergence->col, col) << "column, " << injection.to_string() << ", seed " << seed;
        EXPECT_EQ(divergence->expected, good->row[col])
            << injection.to_string() << ", seed " << seed;
        EXPECT_EQ(divergence->actual, bad->row[col]) << injection.to_string() << ", seed " << seed;
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, RandomInjections,
                         testing::Values(MxuShape{8, 8, 256}, MxuShape{16, 16, 512}),
                         name_of_shape);

/// Small work by hand on the 8x8 array.
class Upset : public testing::Test {
  protected:
    void start(TandemOptions options = {}) {
        options.on_divergence = [this](const Divergence&) { ++calls_; };
        engine_ = std::make_unique<TandemEngine>(shape_, testbench::array_library(shape_), options);
    }
    void push_tile(Cycle from) {
        engine_->push_weights({tiles_++, from, std::vector<int8_t>(64, 3)});
    }
    void push_rows(Cycle from, uint32_t rows, bool swap, uint32_t address = 0) {
        engine_->push_rows({blocks_++, from, rows, 8, address, swap, false,
                            std::vector<int8_t>(size_t{rows} * 8, 5)});
    }
    void work(Cycle until) {
        while (engine_->advance(until)) {
        }
    }
    void flip(const std::string& text) { engine_->rtl().inject(parse_injection(text, 8, 8)); }
    void expect_named(const std::string& text) {
        ASSERT_TRUE(engine_->divergence().has_value()) << "expected a divergence from " << text;
        ASSERT_TRUE(engine_->divergence()->pe.has_value())
            << "no PE named: " << engine_->divergence()->note;
        const PeMismatch& pe = *engine_->divergence()->pe;
        const Injection expected = parse_injection(text, 8, 8);
        EXPECT_EQ(
            (Injection{pe.which, pe.pe_row, pe.pe_col, expected.bit, pe.cycle, {}}.to_string()),
            text);
    }

    const MxuShape shape_{8, 8, 256};
    std::unique_ptr<TandemEngine> engine_;
    uint64_t tiles_ = 0, blocks_ = 0;
    int calls_ = 0;
};

TEST_F(Upset, OfAWeightLongBeforeItsUseIsNamed) {
    start();
    push_tile(0);
    push_rows(10, 4, true);
    work(100);
    flip("pe[5][2].weight:bit6@cycle=200");
    // More than a checkpoint interval, in small steps, so that newer checkpoints would be taken.
    for (Cycle until = 101; until < 300; ++until) {
        work(until);
        ::usleep(5000);
    }
    push_rows(1000, 4, false);
    work(1100);
    expect_named("pe[5][2].weight:bit6@cycle=200");
}

TEST_F(Upset, OfAWaitingShadowTileIsNamed) {
    start();
    push_tile(0);
    push_rows(10, 4, true);
    push_tile(20);
    work(100);
    flip("pe[0][7].shadow:bit0@cycle=150");
    for (Cycle until = 101; until < 300; ++until) {
        work(until);
        ::usleep(5000);
    }
    push_rows(1000, 4, true);
    work(1100);
    expect_named("pe[0][7].shadow:bit0@cycle=150");
}

TEST_F(Upset, IsReportedOnce) {
    start();
    push_tile(0);
    push_rows(10, 20, true);
    flip("pe[5][2].weight:bit6@cycle=20");
    work(100);
    work(200);
    EXPECT_EQ(calls_, 1) << "calls of on_divergence";
}

TEST_F(Upset, EndsTheWork) {
    start();
    push_tile(0);
    push_rows(10, 20, true);
    flip("pe[5][2].weight:bit6@cycle=20");
    work(100);
    EXPECT_FALSE(engine_->busy());
    EXPECT_EQ(engine_->advance(1000), std::nullopt);
}

TEST_F(Upset, WithoutCheckpointsIsReportedWithoutPe) {
    TandemOptions options;
    options.keep_checkpoints = false;
    start(options);
    push_tile(0);
    push_rows(10, 20, true);
    flip("pe[5][2].psum:bit6@cycle=30");
    work(100);
    ASSERT_TRUE(engine_->divergence().has_value());
    EXPECT_FALSE(engine_->divergence()->pe.has_value());
}

TEST_F(Upset, LeavesAWaveformOfTheWindow) {
    const testbench::ScratchFile wave("window.fst", "");
    TandemOptions options;
    options.wave_path = wave.path();
    start(options);
    push_tile(0);
    push_rows(10, 20, true);
    flip("pe[5][2].psum:bit6@cycle=30");
    work(100);
    ASSERT_TRUE(engine_->divergence().has_value());
    EXPECT_EQ(engine_->divergence()->wave, wave.path().string()) << engine_->divergence()->note;
    EXPECT_GT(std::filesystem::file_size(wave.path()), 100u) << "bytes of the waveform";
}

TEST_F(Upset, SaysWhyThereIsNoWaveform) {
    TandemOptions options;
    options.wave_path = "/no/such/directory/wave.fst";
    start(options);
    push_tile(0);
    push_rows(10, 20, true);
    flip("pe[5][2].psum:bit6@cycle=30");
    work(100);
    ASSERT_TRUE(engine_->divergence().has_value());
    EXPECT_EQ(engine_->divergence()->wave, "");
    EXPECT_NE(engine_->divergence()->note.find("/no/such/directory/wave.fst"), std::string::npos)
        << engine_->divergence()->note;
}

TEST_F(Upset, OutsideOfThePesIsSaidToBeOutside) {
    start();
    push_tile(0);
    push_rows(10, 4, true);
    work(100);
    // A row that the model does not know of: to the comparison, as if the RTL had made it up.
    engine_->rtl().push_rows({99, 200, 1, 8, 0, false, false, std::vector<int8_t>(8, 1)});
    work(300);
    ASSERT_TRUE(engine_->divergence().has_value());
    EXPECT_FALSE(engine_->divergence()->pe.has_value());
    EXPECT_FALSE(engine_->divergence()->note.empty());
}

// Reset in the middle of work, then an upset: the revived copy goes through the reset as well.
TEST_F(Upset, AfterAResetInFlightIsNamed) {
    start();
    push_tile(0);
    push_rows(10, 20, true);
    push_tile(20);
    work(25);
    engine_->reset(26);
    push_tile(26);
    push_rows(50, 20, true);
    flip("pe[3][1].weight:bit4@cycle=65");
    work(200);
    expect_named("pe[3][1].weight:bit4@cycle=65");
}

TEST_F(Upset, DoesNotComeFromAResetDuringARead) {
    start();
    push_tile(0);
    push_rows(10, 20, true);
    work(100);
    engine_->push_read({0, 100, 0, 10, 2});
    work(105);
    engine_->reset(120);
    push_tile(120);
    push_rows(140, 20, true);
    work(200);
    engine_->push_read({0, 200, 0, 3, 1});
    work(300);
    EXPECT_FALSE(engine_->divergence().has_value())
        << engine_->divergence()->what << ": " << engine_->divergence()->note;
}

}  // namespace
}  // namespace tandem::cosim
