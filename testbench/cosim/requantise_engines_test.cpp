// SPDX-License-Identifier: Apache-2.0
// Requantisation by RTL behind the seam: the model's bytes, or a difference that is named.
#include "cosim/requantise_engines.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <random>

#include "base/error.h"
#include "testbench/rtl/requantise_fixture.h"

namespace tandem::testbench {
namespace {

namespace fs = std::filesystem;
using cosim::RequantiseShape;
using cosim::RtlRequantiseEngine;

constexpr RequantiseShape kShape{5, 2};

/// One instruction with random operands.
struct Drain {
    explicit Drain(uint64_t seed, bool gemmlowp) : sums(kArrayCols * kRows), buffer(4096) {
        std::mt19937_64 random(seed);
        for (int32_t& sum : sums) sum = static_cast<int32_t>(random() % 20001) - 10000;
        op.rows = kRows;
        op.cols = 4;
        op.ub_addr = 1000;
        op.row_stride = 7;
        op.params_addr = 100;
        op.zero_point = 3;
        op.clamp_min = -100;
        op.clamp_max = 100;
        op.rounding = gemmlowp ? 1 : 0;
        for (uint32_t col = 0; col < op.cols; ++col) {
            const numerics::ChannelParams params{
                static_cast<int32_t>(random() % 100),
                gemmlowp ? 0x50000000u : std::bit_cast<uint32_t>(0.01f), -5};
            std::memcpy(&buffer[op.params_addr + col * sizeof params], &params, sizeof params);
        }
    }
    engine::RequantiseRows rows(uint32_t interval) {
        return {op, sums, kArrayCols, interval, 42, buffer};
    }

    static constexpr uint32_t kArrayCols = 8, kRows = 9;
    isa::Requantise op;
    std::vector<int32_t> sums;
    std::vector<uint8_t> buffer;
};

TEST(RequantiseEngines, WriteTheSameBytes) {
    const auto library = requantise_library(kShape);
    RtlRequantiseEngine rtl(kShape, library, {});
    RtlRequantiseEngine tandem(kShape, library, {.compare = true, .on_divergence = {}});
    engine::TlmRequantiseEngine tlm;
    uint64_t seed = 0;
    for (const uint32_t interval : {2u, 3u, 10u})
        for (const bool gemmlowp : {false, true}) {
            Drain by_model(++seed, gemmlowp), by_rtl(seed, gemmlowp), by_both(seed, gemmlowp);
            tlm.requantise(by_model.rows(interval));
            rtl.requantise(by_rtl.rows(interval));
            tandem.requantise(by_both.rows(interval));
            EXPECT_EQ(by_rtl.buffer, by_model.buffer);
            EXPECT_EQ(by_both.buffer, by_model.buffer);
        }
    EXPECT_FALSE(rtl.divergence());
    EXPECT_FALSE(tandem.divergence());
    EXPECT_EQ(tandem.values_compared(), 6u * 4 * Drain::kRows);
    EXPECT_EQ(rtl.values_compared(), 0u);
}

TEST(RequantiseEngines, RowsFasterThanTheUnitAreADifferenceInTime) {
    int calls = 0;
    RtlRequantiseEngine rtl(kShape, requantise_library(kShape),
                            {.compare = false, .on_divergence = [&] { ++calls; }});
    Drain drain(1, false);
    rtl.requantise(drain.rows(1));  // four columns by two lanes need two edges
    ASSERT_TRUE(rtl.divergence());
    EXPECT_EQ(rtl.divergence()->what, "cycle");
    EXPECT_EQ(rtl.divergence()->unit, "requantise");
    EXPECT_EQ(rtl.divergence()->signal, "row_ready_o");
    EXPECT_EQ(rtl.divergence()->row, 1u);
    EXPECT_EQ(rtl.instruction(), 42u);
    const auto before = drain.buffer;
    rtl.requantise(drain.rows(2));  // it does nothing any more
    EXPECT_EQ(drain.buffer, before);
    EXPECT_EQ(calls, 1);
}

/// A copy of the sources with one change.
class ChangedRequantise : public testing::Test {
  protected:
    ChangedRequantise() {
        std::string form = (fs::temp_directory_path() / "tandem_requantise_XXXXXX").string();
        folder_ = ::mkdtemp(form.data());
        for (const auto& entry : fs::directory_iterator(source_dir() / "rtl"))
            if (entry.is_regular_file()) fs::copy(entry.path(), folder_);
    }
    ~ChangedRequantise() override { fs::remove_all(folder_); }

    void change(const char* file, const std::string& from, const std::string& to) const {
        std::string text = read_text(folder_ / file);
        const size_t at = text.find(from);
        ASSERT_NE(at, std::string::npos);
        write_text(folder_ / file, text.replace(at, from.size(), to));
    }
    fs::path folder_;
};

TEST_F(ChangedRequantise, AWrongValueIsNamedWithItsOperands) {
    change("tpu_requantise_pkg.sv", "sum   = 33'($signed(y)) + ", "sum   = 33'($signed(y)) - ");
    RtlRequantiseEngine engine(kShape, requantise_library(kShape, folder_),
                               {.compare = true, .on_divergence = {}});
    Drain drain(3, false);
    engine.requantise(drain.rows(2));
    ASSERT_TRUE(engine.divergence());
    EXPECT_EQ(engine.divergence()->what, "value");
    EXPECT_EQ(engine.divergence()->unit, "requantise");
    EXPECT_EQ(engine.divergence()->signal, "out_data_o");
    EXPECT_EQ(engine.divergence()->expected, engine.divergence()->actual + 6) << "zero point 3";
    EXPECT_NE(engine.divergence()->note.find("zero point 3"), std::string::npos);
    EXPECT_NE(engine.divergence()->note.find("bias"), std::string::npos);
}

TEST_F(ChangedRequantise, ALateRowIsADifferenceInTime) {
    change("tpu_requantise.sv", "out_valid_o <= valid_q[Depth-1] && last_q[Depth-1];",
           "out_valid_o <= late; late <= valid_q[Depth-1] && last_q[Depth-1];");
    change("tpu_requantise.sv", "  logic [BeatW-1:0]   beat_q;",
           "  logic [BeatW-1:0] beat_q; logic late;");
    RtlRequantiseEngine engine(kShape, requantise_library(kShape, folder_),
                               {.compare = true, .on_divergence = {}});
    Drain drain(3, false);
    engine.requantise(drain.rows(2));
    ASSERT_TRUE(engine.divergence());
    // The assertion about busy_o may see it first.
    EXPECT_TRUE(engine.divergence()->what == "cycle" || engine.divergence()->what == "assertion");
}

TEST_F(ChangedRequantise, OtherPortsAreRefused) {
    change("tpu_requantise.sv", "row_gemmlowp_i", "row_rounding_i");
    change("tpu_requantise.sv", "<= row_gemmlowp_i", "<= row_rounding_i");
    const auto library = requantise_library(kShape, folder_);
    try {
        const cosim::RequantiseUnit unit(kShape, library);
        FAIL() << "accepted";
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string(error.what()).find("no input row_gemmlowp_i of 1 bits"),
                  std::string::npos)
            << error.what();
    }
}

TEST_F(ChangedRequantise, SourcesThatDoNotBuildAreNamed) {
    change("tpu_requantise.sv", "endmodule", "");
    EXPECT_THROW(requantise_library(kShape, folder_), UserError);
    write_text(folder_ / "requantise.f", "tpu_skew.sv\n");
    cosim::BuildOptions options;
    options.shim_dir = source_dir() / "cosim";
    options.cache_dir = folder_ / "cache";
    write_text(folder_ / "no_clock.sv", "module no_clock (input logic a_i); endmodule\n");
    write_text(folder_ / "no_clock.f", "no_clock.sv\n");
    EXPECT_THROW(cosim::ensure_unit({folder_ / "no_clock.f", "no_clock", {}}, options), UserError);
}

TEST_F(ChangedRequantise, AFileThatIsUsedButNotNamed) {
    write_text(folder_ / "requantise.f", "tpu_requantise_pkg.sv\ntpu_requantise.sv\n");
    try {
        requantise_library(kShape, folder_);
        FAIL() << "no mistake";
    } catch (const UserError& error) {
        EXPECT_NE(std::string(error.what()).find("tpu_requantise_lane.sv is used but not named"),
                  std::string::npos)
            << error.what();
    }
}

TEST(RequantiseShape, OutOfRangeIsRefused) {
    for (const RequantiseShape& shape : {RequantiseShape{0, 1}, {257, 1}, {4, 0}, {4, 5}})
        EXPECT_THROW(cosim::check(shape), UserError);
}

}  // namespace
}  // namespace tandem::testbench
