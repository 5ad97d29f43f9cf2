// SPDX-License-Identifier: Apache-2.0
// Lock-step of model and RTL: silent when they agree, and naming the register when they do not.
// Whether an upset matters is decided without the engine under test: an RTL array alone with the
// upset against the model alone, row by row.
#include "cosim/tandem_engine.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <limits>

#include "cosim/random_stream.h"
#include "testbench/support/arrays.h"
#include "testbench/support/seeded.h"

namespace tandem::cosim {
namespace {

using engine::MxuShape;
using testbench::bf16_shape;
using testbench::int8_bytes;

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

/// The model, with its commits row by row: a reset drops the rows that are not yet written, not
/// their blocks.
class LoggedModel final : public engine::TlmMxuEngine {
  public:
    explicit LoggedModel(MxuShape shape) : TlmMxuEngine(shape) {
        set_block_listener([this](const BlockResult& block) {
            for (uint32_t i = 0; i < block.rows; ++i) {
                const Cycle edge = block.edge(i) + engine::commit_latency(this->shape());
                if (edge >= dropped_from_) return;
                const auto row =
                    block.sums.subspan(size_t{i} * this->shape().cols, this->shape().cols);
                commits.push_back({edge, block.acc_addr + i, {row.begin(), row.end()}});
            }
        });
    }
    void reset(Cycle cycle) override {
        dropped_from_ = cycle;
        while (next_block() != nullptr) {
        }
        dropped_from_ = std::numeric_limits<Cycle>::max();
        TlmMxuEngine::reset(cycle);
    }
    std::vector<Commit> commits;

  private:
    Cycle dropped_from_ = std::numeric_limits<Cycle>::max();
};

StreamRun run_model(MxuShape shape, uint64_t seed, Cycle edges) {
    LoggedModel engine(shape);
    RandomStream stream(engine, seed);
    stream.run(edges);
    return {engine.commits, stream.edges(), stream.rows()};
}

StreamRun run_rtl(MxuShape shape, uint64_t seed, Cycle edges, const Injection* injection) {
    RtlMxuEngine engine(shape, testbench::array_library(shape));
    CommitLog log(shape.cols);
    engine.set_listener(&log);
    if (injection != nullptr) engine.inject(*injection);
    RandomStream stream(engine, seed);
    stream.run(edges);
    return {log.commits, stream.edges(), stream.rows()};
}

std::string name_of_shape(const testing::TestParamInfo<MxuShape>& info) {
    return testbench::name_of(info.param);
}

class RandomStreams : public testing::TestWithParam<MxuShape> {
  protected:
    static constexpr Cycle kEdges = 3000;
};

TEST_P(RandomStreams, CommitTheSameRowsOnModelAndRtl) {
    for (uint64_t seed = 0; seed < 10; ++seed) {
        const StreamRun model = run_model(GetParam(), seed, kEdges),
                        rtl = run_rtl(GetParam(), seed, kEdges, nullptr);
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
        stream.run(kEdges);
        ASSERT_FALSE(engine.divergence().has_value())
            << engine.divergence()->what << ": " << engine.divergence()->note << ", seed " << seed;
        EXPECT_GE(engine.rows_compared(), stream.rows()) << "rows, seed " << seed;
        EXPECT_LE(engine.rows_compared(), stream.counters().rows) << "rows, seed " << seed;
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, RandomStreams,
                         testing::Values(MxuShape{1, 1, 32}, MxuShape{3, 5, 32}, MxuShape{5, 2, 32},
                                         MxuShape{8, 8, 256}, MxuShape{16, 16, 512},
                                         MxuShape{7, 5, 32, arch::Dtype::kInt8, 3},
                                         bf16_shape(3, 5, 32), bf16_shape(8, 8, 64, 4, true)),
                         name_of_shape);

class RandomInjections : public testing::TestWithParam<MxuShape> {
  protected:
    static constexpr uint64_t kStreamSeed = 7;
    static constexpr Cycle kEdges = 600;
    static constexpr uint64_t kInjections = 100;

    Injection random(uint64_t seed) const {
        testbench::Seeded random(seed);
        Injection injection;
        injection.which = static_cast<PeRegister>(random.below(4));
        injection.pe_row = static_cast<uint32_t>(random.below(GetParam().rows));
        injection.pe_col = static_cast<uint32_t>(random.below(GetParam().cols));
        injection.bit =
            static_cast<uint32_t>(random.below(bits_of(injection.which, GetParam().dtype)));
        if (injection.which == PeRegister::kActivation)
            injection.pe_col -= injection.pe_col % GetParam().pipeline;
        if (injection.which == PeRegister::kPsum)
            injection.pe_row =
                std::min(injection.pe_row / GetParam().pipeline * GetParam().pipeline +
                             GetParam().pipeline - 1,
                         GetParam().rows - 1);
        injection.cycle = random.below(model_.edges);
        return injection;
    }
    bool matters(const Injection& injection) const {
        return run_rtl(GetParam(), kStreamSeed, kEdges, &injection).commits != model_.commits;
    }
    std::optional<Divergence> found(const Injection& injection,
                                    const TandemOptions& options = {}) const {
        TandemEngine engine(GetParam(), testbench::array_library(GetParam()), options);
        engine.rtl().inject(injection);
        RandomStream stream(engine, kStreamSeed);
        stream.run(kEdges);
        return engine.divergence();
    }
    const StreamRun model_ = run_model(GetParam(), kStreamSeed, kEdges);
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
        const uint32_t bits = bits_of(injection.which, GetParam().dtype);
        EXPECT_EQ(flipped & ((1ll << bits) - 1), 1ll << injection.bit)
            << "wrong bits of " << injection.to_string() << ", seed " << seed;
    }
}

TEST_P(RandomInjections, AreToldWithTheFirstWrongRow) {
    for (uint64_t seed = 0; seed < kInjections; ++seed) {
        const Injection injection = random(seed);
        const StreamRun rtl = run_rtl(GetParam(), kStreamSeed, kEdges, &injection);
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
                         testing::Values(MxuShape{8, 8, 256}, MxuShape{16, 16, 512},
                                         MxuShape{7, 5, 32, arch::Dtype::kInt8, 3},
                                         bf16_shape(8, 8, 64, 4, true)),
                         name_of_shape);

}  // namespace
}  // namespace tandem::cosim
