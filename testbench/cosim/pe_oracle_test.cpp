// SPDX-License-Identifier: Apache-2.0
// The PE oracle against a grid of PEs that is stepped edge by edge: activations move right, partial
// sums down, weight beats and swaps along the diagonals.
#include "cosim/pe_oracle.h"

#include <gtest/gtest.h>

#include <optional>

#include "testbench/support/seeded.h"

namespace tandem::cosim {
namespace {

using mxu::Cycle;

/// What enters the array at one edge.
struct Beat {
    std::vector<int8_t> row;  ///< activation row; empty: none
    bool swap = false;
    std::vector<int8_t> weight;  ///< weight row; empty: none
    uint32_t weight_row = 0;
};

/// One PE's registers and what travels with them.
struct Pe {
    int8_t activation = 0, weight = 0, shadow = 0;
    int32_t psum = 0;
};

/// PE (r, c) sees what was accepted r + c edges ago; the history says it all.
class Grid {
  public:
    explicit Grid(mxu::MxuShape shape) : shape_(shape), pes_(size_t{shape.rows} * shape.cols) {}

    void step(const Beat& beat) {
        history_.push_back(beat);
        const std::vector<Pe> before = pes_;
        const auto old = [&](uint32_t r, uint32_t c) -> const Pe& {
            return before[size_t{r} * shape_.cols + c];
        };
        for (uint32_t r = 0; r < shape_.rows; ++r)
            for (uint32_t c = 0; c < shape_.cols; ++c) {
                Pe& pe = at(r, c);
                const Beat* here = entered(r + c);
                const uint32_t above = r == 0 ? 0 : static_cast<uint32_t>(old(r - 1, c).psum);
                pe.psum = static_cast<int32_t>(
                    above + static_cast<uint32_t>(old(r, c).activation * old(r, c).weight));
                if (here == nullptr) continue;
                if (!here->row.empty()) pe.activation = here->row[r];
                if (here->swap) pe.weight = old(r, c).shadow;
                if (!here->weight.empty() && here->weight_row >= r) pe.shadow = here->weight[c];
            }
    }

    Pe& at(uint32_t r, uint32_t c) { return pes_[size_t{r} * shape_.cols + c]; }

    /// The registers in the order of TandemArrayState.
    TandemArrayState state() {
        activation_.clear(), weight_.clear(), shadow_.clear(), psum_.clear();
        for (size_t i = pes_.size(); i-- != 0;) {
            activation_.push_back(pes_[i].activation);
            weight_.push_back(pes_[i].weight);
            shadow_.push_back(pes_[i].shadow);
            psum_.push_back(pes_[i].psum);
        }
        return {activation_.data(), weight_.data(), shadow_.data(), psum_.data(), 1, 1, 4};
    }

  private:
    const Beat* entered(uint32_t edges_ago) const {
        return edges_ago < history_.size() ? &history_[history_.size() - 1 - edges_ago] : nullptr;
    }
    const mxu::MxuShape shape_;
    std::vector<Pe> pes_;
    std::vector<Beat> history_;
    std::vector<int8_t> activation_, weight_, shadow_;
    std::vector<int32_t> psum_;
};

/// Tiles and rows in any order that the array takes.
std::vector<Beat> random_beats(mxu::MxuShape shape, uint64_t seed, size_t edges) {
    testbench::Seeded random(seed);
    std::vector<Beat> beats(edges);
    uint32_t missing = shape.rows;  // weight rows until the shadow tile is complete
    bool swapped = false;
    for (Beat& beat : beats) {
        const bool complete = missing == 0;
        if (!complete && random.chance(60)) {
            beat.weight = random.int8s(shape.cols);
            beat.weight_row = --missing;
        }
        if (complete && random.chance(30)) beat.swap = true;
        if (beat.swap || (swapped && random.chance(60))) beat.row = random.int8s(shape.rows);
        if (beat.swap) missing = shape.rows, swapped = true;
    }
    return beats;
}

void tell(PeOracle& oracle, Cycle edge, const Beat& beat) {
    if (!beat.weight.empty()) oracle.weight_row(edge, beat.weight_row, beat.weight.data());
    if (!beat.row.empty()) oracle.activation_row(edge, beat.row.data(), beat.swap);
}

class PeOracleSizes : public testing::TestWithParam<mxu::MxuShape> {};

TEST_P(PeOracleSizes, AgreesWithASteppedGrid) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
        Grid grid(GetParam());
        PeOracle oracle(GetParam(), {}, {});
        const auto beats = random_beats(GetParam(), seed, 300);
        for (Cycle edge = 0; edge < beats.size(); ++edge) {
            grid.step(beats[edge]);
            tell(oracle, edge, beats[edge]);
            const auto found = oracle.check(edge, grid.state());
            ASSERT_FALSE(found.has_value())
                << to_string(found->which) << " of PE " << found->pe_row << "," << found->pe_col
                << " edge " << edge << ": expected " << found->actual << ", oracle says "
                << found->expected << ", seed " << seed;
        }
    }
}

TEST_P(PeOracleSizes, FindsAWrongPartialSumAtItsEdge) {
    const auto [rows, cols, depth] = GetParam();
    for (uint64_t seed = 0; seed < 40; ++seed) {
        testbench::Seeded random(seed);
        const auto r = static_cast<uint32_t>(random.below(rows)),
                   c = static_cast<uint32_t>(random.below(cols));
        Grid grid(GetParam());
        PeOracle oracle(GetParam(), {}, {});
        auto beats = random_beats(GetParam(), seed, 200);
        for (Cycle edge = 0; edge < beats.size(); ++edge) {
            grid.step(beats[edge]);
            tell(oracle, edge, beats[edge]);
            const bool row_here = edge >= 100 && !beats[edge - r - c - 1].row.empty();
            const int32_t right = grid.at(r, c).psum;
            if (row_here) grid.at(r, c).psum ^= 1 << seed % 31;
            const auto found = oracle.check(edge, grid.state());
            if (!row_here) continue;
            ASSERT_TRUE(found.has_value())
                << "PE " << r << "," << c << " edge " << edge << ", seed " << seed;
            EXPECT_TRUE(found->which == PeRegister::kPsum && found->pe_row == r &&
                        found->pe_col == c && found->cycle == edge)
                << "found " << to_string(found->which) << " " << found->pe_row << ","
                << found->pe_col << ", seed " << seed;
            EXPECT_EQ(found->expected, right) << "psum, seed " << seed;
            EXPECT_EQ(found->actual, grid.at(r, c).psum) << "psum, seed " << seed;
            break;
        }
    }
}

TEST_P(PeOracleSizes, ForetellsThePartialSum) {
    const auto [rows, cols, depth] = GetParam();
    Grid grid(GetParam());
    PeOracle oracle(GetParam(), {}, {});
    const auto beats = random_beats(GetParam(), 0, 200);
    for (Cycle edge = 0; edge < beats.size(); ++edge) {
        const auto told = oracle.expected_psum(edge, rows - 1, cols - 1);
        grid.step(beats[edge]);
        tell(oracle, edge, beats[edge]);
        if (told) {
            ASSERT_EQ(*told, grid.at(rows - 1, cols - 1).psum) << "psum after edge " << edge;
        }
        oracle.check(edge, grid.state());
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, PeOracleSizes,
                         testing::Values(mxu::MxuShape{1, 1, 8}, mxu::MxuShape{3, 5, 8},
                                         mxu::MxuShape{5, 2, 8}, mxu::MxuShape{8, 8, 8}),
                         [](const auto& info) {
                             return std::to_string(info.param.rows) + "x" +
                                    std::to_string(info.param.cols);
                         });

/// A quiet array with known tiles.
class QuietArray : public testing::Test {
  protected:
    QuietArray() {
        for (uint32_t r = 0; r < 2; ++r)
            for (uint32_t c = 0; c < 3; ++c)
                grid_.at(r, c).weight = active_[r * 3 + c],
                            grid_.at(r, c).shadow = shadow_[r * 3 + c];
    }
    const mxu::MxuShape shape_{2, 3, 8};
    const std::vector<int8_t> active_ = {1, 2, 3, 4, 5, 6}, shadow_ = {-1, -2, -3, -4, -5, -6};
    Grid grid_{shape_};
};

TEST_F(QuietArray, IsRightWithTheKnownTiles) {
    EXPECT_FALSE(PeOracle(shape_, active_, shadow_).check(100, grid_.state()).has_value());
}

TEST_F(QuietArray, HasAWrongWeightNamed) {
    grid_.at(1, 2).weight = 7;
    const auto found = PeOracle(shape_, active_, shadow_).check(100, grid_.state());
    ASSERT_TRUE(found.has_value());
    EXPECT_TRUE(found->which == PeRegister::kWeight && found->pe_row == 1 && found->pe_col == 2)
        << to_string(found->which);
    EXPECT_EQ(found->expected, 6);
    EXPECT_EQ(found->actual, 7);
}

TEST_F(QuietArray, HasAWrongShadowNamed) {
    grid_.at(0, 1).shadow = 7;
    const auto found = PeOracle(shape_, active_, shadow_).check(100, grid_.state());
    ASSERT_TRUE(found.has_value());
    EXPECT_TRUE(found->which == PeRegister::kShadow && found->pe_row == 0 && found->pe_col == 1)
        << to_string(found->which);
}

TEST_F(QuietArray, IsNotJudgedWhereTilesAreUnknown) {
    grid_.at(1, 1).weight = 99;
    EXPECT_FALSE(PeOracle(shape_, {}, {}).check(100, grid_.state()).has_value());
}

}  // namespace
}  // namespace tandem::cosim
