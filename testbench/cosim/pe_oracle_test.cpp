// SPDX-License-Identifier: Apache-2.0
// The PE oracle against a grid of PEs that is stepped edge by edge: activations move right, partial
// sums down, weight beats and swaps along the diagonals; with more than one PE per pipeline
// register a whole band at a time.
#include "cosim/pe_oracle.h"

#include <gtest/gtest.h>

#include <optional>

#include "arch/bf16.h"
#include "testbench/support/seeded.h"
#include "testbench/support/shapes.h"

namespace tandem::cosim {
namespace {

using engine::Cycle;
using testbench::bf16_shape;

/// What enters the array at one edge.
struct Beat {
    std::vector<std::byte> row;  ///< activation row; empty: none
    bool swap = false;
    std::vector<std::byte> weight;  ///< weight row; empty: none
    uint32_t weight_row = 0;
};

/// One PE: its registers, and the nets of that name where it has none.
struct Pe {
    uint32_t activation = 0, weight = 0, shadow = 0, psum = 0, swap = 0, load = 0;
};

/// PE (r, c) sees what was accepted some edges ago; the history says it all.
class Grid {
  public:
    explicit Grid(engine::MxuShape shape) : shape_(shape), pes_(size_t{shape.rows} * shape.cols) {}

    void step(const Beat& beat) {
        history_.push_back(beat);
        const std::vector<Pe> before = pes_;
        for (uint32_t r = 0; r < shape_.rows; ++r)
            for (uint32_t c = 0; c < shape_.cols; ++c) {
                Pe& pe = at(r, c);
                pe.psum = next_psum(before, r, c);
                const Cycle right = c / shape_.pipeline;
                const Beat* row = entered(r / shape_.pipeline + right);
                pe.swap = row != nullptr && row->swap;
                if (row != nullptr && !row->row.empty()) pe.activation = element(row->row, r);
                if (pe.swap != 0) pe.weight = before[size_t{r} * shape_.cols + c].shadow;
                const Beat* load = entered(r + right);
                pe.load = load != nullptr && !load->weight.empty() && load->weight_row >= r;
                if (pe.load != 0) pe.shadow = element(load->weight, c);
            }
    }

    Pe& at(uint32_t r, uint32_t c) { return pes_[size_t{r} * shape_.cols + c]; }

    bool registers_psum(uint32_t r) const {
        return r % shape_.pipeline == shape_.pipeline - 1 || r == shape_.rows - 1;
    }

    PeTable table() {
        PeTable found{{}, 4, 4, 4};
        for (uint32_t r = 0; r < shape_.rows; ++r)
            for (uint32_t c = 0; c < shape_.cols; ++c) {
                Pe& pe = at(r, c);
                const bool left = c % shape_.pipeline == 0;
                found.pes.push_back({left ? &pe.activation : nullptr, &pe.weight, &pe.shadow,
                                     registers_psum(r) ? &pe.psum : nullptr,
                                     left ? &pe.swap : nullptr, left ? &pe.load : nullptr});
            }
        return found;
    }

  private:
    uint32_t element(const std::vector<std::byte>& data, uint32_t index) const {
        if (shape_.dtype == arch::Dtype::kInt8) return static_cast<uint8_t>(data[index]);
        return static_cast<uint32_t>(data[2 * index]) | static_cast<uint32_t>(data[2 * index + 1])
                                                            << 8;
    }
    /// From the register above this band through the band's PEs.
    uint32_t next_psum(const std::vector<Pe>& before, uint32_t r, uint32_t c) const {
        const uint32_t first = r - r % shape_.pipeline;
        const auto old = [&](uint32_t row) -> const Pe& {
            return before[size_t{row} * shape_.cols + c];
        };
        uint32_t sum = first == 0 ? 0 : old(first - 1).psum;
        std::array<uint32_t, 4> group{};
        for (uint32_t i = first; i <= r; ++i) {
            const Pe& pe = old(i);
            const uint32_t product = bf16::product(static_cast<uint16_t>(pe.activation),
                                                   static_cast<uint16_t>(pe.weight));
            if (shape_.dtype == arch::Dtype::kInt8) {
                sum += static_cast<uint32_t>(static_cast<int8_t>(pe.activation) *
                                             static_cast<int8_t>(pe.weight));
            } else if (!shape_.sum4) {
                sum = bf16::sum(sum, product);
            } else {
                group[i % 4] = product;
                if (i % 4 == 3 || i == r) sum = bf16::sum(sum, bf16::sum4(group)), group = {};
            }
        }
        return sum;
    }
    const Beat* entered(Cycle edges_ago) const {
        return edges_ago < history_.size() ? &history_[history_.size() - 1 - edges_ago] : nullptr;
    }
    const engine::MxuShape shape_;
    std::vector<Pe> pes_;
    std::vector<Beat> history_;
};

/// Tiles and rows in any order that the array takes.
std::vector<Beat> random_beats(engine::MxuShape shape, uint64_t seed, size_t edges) {
    testbench::Seeded random(seed);
    std::vector<Beat> beats(edges);
    uint32_t missing = shape.rows;  // weight rows until the shadow tile is complete
    bool swapped = false;
    for (Beat& beat : beats) {
        const bool complete = missing == 0;
        if (!complete && random.chance(60)) {
            beat.weight = testbench::random_elements(random, shape, shape.cols);
            beat.weight_row = --missing;
        }
        if (complete && random.chance(30)) beat.swap = true;
        if (beat.swap || (swapped && random.chance(60)))
            beat.row = testbench::random_elements(random, shape, shape.rows);
        if (beat.swap) missing = shape.rows, swapped = true;
    }
    return beats;
}

void tell(PeOracle& oracle, Cycle edge, const Beat& beat) {
    if (!beat.weight.empty()) oracle.weight_row(edge, beat.weight_row, beat.weight.data());
    if (!beat.row.empty()) oracle.activation_row(edge, beat.row.data(), beat.swap);
}

class PeOracleSizes : public testing::TestWithParam<engine::MxuShape> {};

TEST_P(PeOracleSizes, AgreesWithASteppedGrid) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
        Grid grid(GetParam());
        PeOracle oracle(GetParam(), {}, {});
        const auto beats = random_beats(GetParam(), seed, 300);
        for (Cycle edge = 0; edge < beats.size(); ++edge) {
            grid.step(beats[edge]);
            tell(oracle, edge, beats[edge]);
            const auto found = oracle.check(edge, grid.table());
            ASSERT_FALSE(found.has_value())
                << to_string(found->which) << " of PE " << found->pe_row << "," << found->pe_col
                << " edge " << edge << ": expected " << found->actual << ", oracle says "
                << found->expected << ", seed " << seed;
        }
    }
}

// In a quiet moment and in the middle of work: a tag that should be 0 is 0.
TEST_P(PeOracleSizes, FindsAWrongTagAtItsEdge) {
    for (uint64_t seed = 0; seed < 40; ++seed) {
        testbench::Seeded random(seed);
        const auto r = static_cast<uint32_t>(random.below(GetParam().rows));
        auto c = static_cast<uint32_t>(random.below(GetParam().cols));
        c -= c % GetParam().pipeline;
        const PeRegister which = seed % 2 == 0 ? PeRegister::kSwap : PeRegister::kLoad;
        const Cycle hit = 5 + random.below(100);
        Grid grid(GetParam());
        PeOracle oracle(GetParam(), {}, {});
        const auto beats = random_beats(GetParam(), seed, hit + 1);
        for (Cycle edge = 0; edge <= hit; ++edge) {
            grid.step(beats[edge]);
            tell(oracle, edge, beats[edge]);
            uint32_t& tag = which == PeRegister::kSwap ? grid.at(r, c).swap : grid.at(r, c).load;
            if (edge == hit) tag ^= 1;
            const auto found = oracle.check(edge, grid.table());
            ASSERT_EQ(found.has_value(), edge == hit) << "edge " << edge << ", seed " << seed;
            if (!found) continue;
            EXPECT_TRUE(found->which == which && found->pe_row == r && found->pe_col == c &&
                        found->cycle == edge)
                << "found " << to_string(found->which) << " " << found->pe_row << ","
                << found->pe_col << ", seed " << seed;
            EXPECT_EQ(found->actual, int64_t{tag}) << "tag, seed " << seed;
        }
    }
}

TEST_P(PeOracleSizes, FindsAWrongPartialSumAtItsEdge) {
    const engine::MxuShape shape = GetParam();
    for (uint64_t seed = 0; seed < 40; ++seed) {
        testbench::Seeded random(seed);
        const auto r = static_cast<uint32_t>(random.below(shape.rows)),
                   c = static_cast<uint32_t>(random.below(shape.cols));
        Grid grid(shape);
        if (!grid.registers_psum(r)) continue;
        PeOracle oracle(shape, {}, {});
        auto beats = random_beats(shape, seed, 200);
        for (Cycle edge = 0; edge < beats.size(); ++edge) {
            grid.step(beats[edge]);
            tell(oracle, edge, beats[edge]);
            const bool row_here =
                edge >= 100 &&
                !beats[edge - r / shape.pipeline - c / shape.pipeline - 1].row.empty();
            const uint32_t right = grid.at(r, c).psum;
            if (row_here) grid.at(r, c).psum ^= 1u << seed % 31;
            const auto found = oracle.check(edge, grid.table());
            if (!row_here) continue;
            ASSERT_TRUE(found.has_value())
                << "PE " << r << "," << c << " edge " << edge << ", seed " << seed;
            EXPECT_TRUE(found->which == PeRegister::kPsum && found->pe_row == r &&
                        found->pe_col == c && found->cycle == edge)
                << "found " << to_string(found->which) << " " << found->pe_row << ","
                << found->pe_col << ", seed " << seed;
            EXPECT_EQ(static_cast<uint32_t>(found->expected), right) << "psum, seed " << seed;
            EXPECT_EQ(static_cast<uint32_t>(found->actual), grid.at(r, c).psum)
                << "psum, seed " << seed;
            break;
        }
    }
}

TEST_P(PeOracleSizes, ForetellsThePartialSum) {
    const uint32_t r = GetParam().rows - 1, c = GetParam().cols - 1;
    Grid grid(GetParam());
    PeOracle oracle(GetParam(), {}, {});
    const auto beats = random_beats(GetParam(), 0, 200);
    for (Cycle edge = 0; edge < beats.size(); ++edge) {
        const auto told = oracle.expected_psum(edge, r, c);
        grid.step(beats[edge]);
        tell(oracle, edge, beats[edge]);
        if (told) {
            ASSERT_EQ(*told, grid.at(r, c).psum) << "psum after edge " << edge;
        }
        oracle.check(edge, grid.table());
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, PeOracleSizes,
                         testing::Values(engine::MxuShape{1, 1, 8}, engine::MxuShape{3, 5, 8},
                                         engine::MxuShape{5, 2, 8}, engine::MxuShape{8, 8, 8},
                                         engine::MxuShape{7, 5, 8, arch::Dtype::kInt8, 2},
                                         engine::MxuShape{4, 6, 8, arch::Dtype::kInt8, 8},
                                         bf16_shape(3, 5, 8), bf16_shape(7, 7, 8, 3),
                                         bf16_shape(10, 5, 8, 4, true),
                                         bf16_shape(9, 9, 8, 8, true)),
                         [](const auto& info) { return testbench::name_of(info.param); });

/// A quiet array with known tiles.
class QuietArray : public testing::Test {
  protected:
    QuietArray() {
        for (uint32_t r = 0; r < 2; ++r)
            for (uint32_t c = 0; c < 3; ++c)
                grid_.at(r, c).weight = static_cast<uint8_t>(active_[r * 3 + c]),
                            grid_.at(r, c).shadow = static_cast<uint8_t>(shadow_[r * 3 + c]);
    }
    std::optional<PeMismatch> check() {
        return PeOracle(shape_, std::as_bytes(std::span(active_)),
                        std::as_bytes(std::span(shadow_)))
            .check(100, grid_.table());
    }
    const engine::MxuShape shape_{2, 3, 8};
    const std::vector<int8_t> active_ = {1, 2, 3, 4, 5, 6}, shadow_ = {-1, -2, -3, -4, -5, -6};
    Grid grid_{shape_};
};

TEST_F(QuietArray, IsRightWithTheKnownTiles) { EXPECT_FALSE(check().has_value()); }

TEST_F(QuietArray, HasAWrongWeightNamed) {
    grid_.at(1, 2).weight = 7;
    const auto found = check();
    ASSERT_TRUE(found.has_value());
    EXPECT_TRUE(found->which == PeRegister::kWeight && found->pe_row == 1 && found->pe_col == 2)
        << to_string(found->which);
    EXPECT_EQ(found->expected, 6);
    EXPECT_EQ(found->actual, 7);
}

TEST_F(QuietArray, HasAWrongShadowNamed) {
    grid_.at(0, 1).shadow = 7;
    const auto found = check();
    ASSERT_TRUE(found.has_value());
    EXPECT_TRUE(found->which == PeRegister::kShadow && found->pe_row == 0 && found->pe_col == 1)
        << to_string(found->which);
    EXPECT_EQ(found->expected, -2);
}

TEST_F(QuietArray, IsNotJudgedWhereTilesAreUnknown) {
    grid_.at(1, 1).weight = 99;
    EXPECT_FALSE(PeOracle(shape_, {}, {}).check(100, grid_.table()).has_value());
}

TEST_F(QuietArray, IsNotJudgedWhereItShowsNoRegister) {
    PeTable table = grid_.table();
    for (TandemPeRegisters& pe : table.pes) pe = {};
    grid_.at(1, 1).weight = 99;
    EXPECT_FALSE(
        PeOracle(shape_, std::as_bytes(std::span(active_)), {}).check(100, table).has_value());
}

}  // namespace
}  // namespace tandem::cosim
