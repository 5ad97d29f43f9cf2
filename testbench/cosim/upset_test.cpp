// SPDX-License-Identifier: Apache-2.0
// Upsets of single registers under small work by hand: what is told of them, and what is left.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <memory>

#include "cosim/tandem_engine.h"
#include "testbench/support/arrays.h"

namespace tandem::cosim {
namespace {

using engine::MxuShape;
using testbench::int8_bytes;

/// Small work by hand on the 8x8 array.
class Upset : public testing::Test {
  protected:
    void start(TandemOptions options = {}) {
        options.on_divergence = [this](const Divergence&) { ++calls_; };
        engine_ = std::make_unique<TandemEngine>(shape_, testbench::array_library(shape_), options);
    }
    void push_tile(Cycle from) { engine_->push_weights({tiles_++, from, int8_bytes(64, 3)}); }
    void push_rows(Cycle from, uint32_t rows, bool swap, uint32_t address = 0) {
        engine_->push_rows(
            {blocks_++, from, rows, 8, address, swap, false, int8_bytes(size_t{rows} * 8, 5)});
    }
    void work(Cycle until) {
        while (engine_->advance(until)) {
        }
    }
    /// More than a checkpoint interval, in small steps, so that newer checkpoints would be taken.
    void work_past_checkpoints() {
        for (Cycle until = 101; until < 300; ++until) {
            work(until);
            ::usleep(5000);
        }
    }
    void flip(const std::string& text) { engine_->rtl().inject(parse_injection(text, shape_)); }
    void expect_named(const std::string& text) {
        ASSERT_TRUE(engine_->divergence().has_value()) << "expected a divergence from " << text;
        ASSERT_TRUE(engine_->divergence()->pe.has_value())
            << "no PE named: " << engine_->divergence()->note;
        const PeMismatch& pe = *engine_->divergence()->pe;
        const Injection expected = parse_injection(text, shape_);
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
    work_past_checkpoints();
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
    work_past_checkpoints();
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
    engine_->rtl().push_rows({99, 200, 1, 8, 0, false, false, int8_bytes(8, 1)});
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
