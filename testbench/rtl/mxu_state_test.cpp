// SPDX-License-Identifier: Apache-2.0
// The registers of the PEs from outside: they hold what the port contract says, and a written one
// acts like an upset of that register.
#include <cstring>
#include <functional>

#include "testbench/rtl/mxu_harness.h"
#include "testbench/rtl/mxu_traffic.h"

namespace tandem::testbench {
namespace {

/// A register in its container of 1, 2 or 4 bytes.
class Register {
  public:
    Register(void* data, unsigned bytes) : data_(data), bytes_(bytes) {}
    uint32_t value() const {
        uint32_t value = 0;
        std::memcpy(&value, data_, bytes_);
        return value;
    }
    void flip(unsigned bit) {
        const uint32_t flipped = value() ^ uint32_t { 1 } << bit;
        std::memcpy(data_, &flipped, bytes_);
    }

  private:
    void* data_;
    unsigned bytes_;
};

class MxuState : public testing::TestWithParam<ArrayParameters> {
  protected:
    static constexpr unsigned kSeeds = 24;
    static constexpr unsigned kRowCount = 24;
    static constexpr unsigned kSwapAt = 18;  // the second tile is loaded by then at every size

    using Upset = std::function<void(Mxu&, unsigned edge)>;

    const ArrayParameters array = GetParam();
    const unsigned element_bits = 8 * arch::element_bytes(array.dtype);

    /// Streams kRowCount rows, one per edge, row n to accumulator row n; `upset` is called after
    /// every edge with its number, counted from the edge that accepts row 0. A second tile is
    /// loaded meanwhile and swapped in by row kSwapAt. Returns the rows as committed.
    std::vector<Sums> run(unsigned seed, const Upset& upset) {
        Random random(seed, array);
        Mxu unit(array);
        tiles = {random.tile(array.rows, array.cols), random.tile(array.rows, array.cols)};
        for (unsigned k = array.rows; k-- > 0;) {
            Stimulus in;
            in.weight = tiles[0][k];
            unit.step(in);
        }
        activations = random.tile(kRowCount, array.rows);
        std::vector<Sums> out;
        for (unsigned edge = 0; edge < kRowCount + array.commit_latency(); ++edge) {
            Stimulus in;
            if (edge >= 1 && edge <= array.rows) in.weight = tiles[1][array.rows - edge];
            if (edge < kRowCount)
                in.activation =
                    ActRow{activations[edge], edge == 0 || edge == kSwapAt, false, edge};
            unit.step(in);
            if (in.activation) {
                EXPECT_TRUE(unit.ports.act_ready);
            }
            if (unit.ports.cmt_valid) out.push_back(unit.commit());
            upset(unit, edge);
        }
        return out;
    }

    const Tile& tile_of(unsigned row) const { return tiles[row >= kSwapAt]; }

    /// What run() commits without an upset.
    std::vector<Sums> clean() const {
        std::vector<Sums> out;
        for (unsigned n = 0; n < kRowCount; ++n)
            out.push_back(multiply(array, activations[n], tile_of(n)));
        return out;
    }

    static void expect_equal(const std::vector<Sums>& found, const std::vector<Sums>& expected) {
        ASSERT_EQ(found.size(), expected.size());
        for (unsigned n = 0; n < expected.size(); ++n)
            for (unsigned c = 0; c < expected[n].size(); ++c)
                ASSERT_EQ(found[n][c], expected[n][c]) << "row " << n << " column " << c;
    }

    /// Runs `test` with many seeds. It returns what must be committed; an upset that changes
    /// nothing (rounded away, times zero) must not be the rule.
    void for_seeds(
        const std::function<std::vector<Sums>(unsigned seed, std::vector<Sums>& found)>& test) {
        ASSERT_LE(array.rows + 2, kSwapAt);
        unsigned visible = 0;
        for (unsigned seed = 0; seed < kSeeds; ++seed) {
            SCOPED_TRACE("seed " + std::to_string(seed));
            std::vector<Sums> found;
            const std::vector<Sums> expected = test(seed, found);
            expect_equal(found, expected);
            visible += expected != clean();
            if (HasFailure()) return;
        }
        EXPECT_GT(visible, kSeeds / 4);
    }

    Tile activations;
    std::array<Tile, 2> tiles;
};

TEST_P(MxuState, RowsAreRightWithoutAnUpset) {
    const std::vector<Sums> found = run(0, [](Mxu&, unsigned) {});
    expect_equal(found, clean());
}

TEST_P(MxuState, RegistersThatExistAreShown) {
    Mxu unit(array);
    for (unsigned r = 0; r < array.rows; ++r)
        for (unsigned c = 0; c < array.cols; ++c) {
            const TandemPeRegisters pe = unit.pe(r, c);
            const bool last_of_band = r % array.pipeline == array.pipeline - 1;
            EXPECT_EQ(pe.activation != nullptr, c % array.pipeline == 0) << r << "," << c;
            EXPECT_EQ(pe.psum != nullptr, last_of_band || r == array.rows - 1) << r << "," << c;
            EXPECT_NE(pe.weight, nullptr);
            EXPECT_NE(pe.shadow, nullptr);
        }
}

TEST_P(MxuState, FlippedPartialSumGoesDownItsColumn) {
    for_seeds([&](unsigned seed, std::vector<Sums>& found) {
        Random pick(seed, array);
        const unsigned band = pick.below(array.rows) / array.pipeline;
        const unsigned r = std::min((band + 1) * array.pipeline, array.rows) - 1;
        const unsigned c = pick.below(array.cols), bit = pick.below(32);
        const unsigned row = pick.below(kRowCount);
        uint32_t before = 0, after = 0;
        found = run(seed, [&](Mxu& unit, unsigned edge) {
            // PE(r,c) holds the sum of this row
            if (edge != row + array.delay(r) + array.delay(c) + 1) return;
            Register psum(unit.pe(r, c).psum, unit.lib().info().psum_bytes);
            before = psum.value();
            psum.flip(bit);
            after = psum.value();
            unit.lib().settle(unit.array());
        });
        EXPECT_EQ(before, column_sum(array, activations[row], tile_of(row), c, 0, r + 1))
            << "partial sum of rows 0.." << r << " one edge after its inputs";
        std::vector<Sums> expected = clean();
        expected[row][c] =
            column_sum(array, activations[row], tile_of(row), c, r + 1, array.rows, after);
        return expected;
    });
}

TEST_P(MxuState, FlippedActivationChangesItsRowFromThatColumnOn) {
    for_seeds([&](unsigned seed, std::vector<Sums>& found) {
        Random pick(seed, array);
        const unsigned r = pick.below(array.rows), band = pick.below(array.cols) / array.pipeline;
        const unsigned c = band * array.pipeline, bit = pick.below(element_bits);
        const unsigned row = pick.below(kRowCount);
        found = run(seed, [&](Mxu& unit, unsigned edge) {
            if (edge != row + array.delay(r) + array.delay(c)) return;
            Register value(unit.pe(r, c).activation, unit.lib().info().element_bytes);
            EXPECT_EQ(value.value(), activations[row][r]);
            value.flip(bit);
            unit.lib().settle(unit.array());
        });
        Elements flipped = activations[row];
        flipped[r] ^= static_cast<Element>(1u << bit);
        std::vector<Sums> expected = clean();
        for (unsigned column = c; column < array.cols; ++column)
            expected[row][column] = column_sum(array, flipped, tile_of(row), column, 0, array.rows);
        return expected;
    });
}

TEST_P(MxuState, FlippedWeightChangesItsColumnUntilTheNextSwap) {
    for_seeds([&](unsigned seed, std::vector<Sums>& found) {
        Random pick(seed, array);
        const unsigned r = pick.below(array.rows), c = pick.below(array.cols);
        const unsigned bit = pick.below(element_bits);
        const unsigned row = pick.below(kSwapAt);  // the first row that sees the flipped weight
        found = run(seed, [&](Mxu& unit, unsigned edge) {
            if (edge != row + array.delay(r) + array.delay(c)) return;
            Register weight(unit.pe(r, c).weight, unit.lib().info().element_bytes);
            EXPECT_EQ(weight.value(), tiles[0][r][c]);
            weight.flip(bit);
            unit.lib().settle(unit.array());
        });
        Tile flipped = tiles[0];
        flipped[r][c] ^= static_cast<Element>(1u << bit);
        std::vector<Sums> expected = clean();
        for (unsigned n = row; n < kSwapAt; ++n)
            expected[n][c] = column_sum(array, activations[n], flipped, c, 0, array.rows);
        return expected;
    });
}

TEST_P(MxuState, FlippedShadowWeightTakesEffectWithTheSwap) {
    for_seeds([&](unsigned seed, std::vector<Sums>& found) {
        Random pick(seed, array);
        const unsigned r = pick.below(array.rows), c = pick.below(array.cols);
        const unsigned bit = pick.below(element_bits);
        found = run(seed, [&](Mxu& unit, unsigned edge) {
            // the swap takes it at the next edge
            if (edge != kSwapAt + array.delay(r) + array.delay(c) - 1) return;
            Register shadow(unit.pe(r, c).shadow, unit.lib().info().element_bytes);
            EXPECT_EQ(shadow.value(), tiles[1][r][c]);
            shadow.flip(bit);
            unit.lib().settle(unit.array());
        });
        Tile flipped = tiles[1];
        flipped[r][c] ^= static_cast<Element>(1u << bit);
        std::vector<Sums> expected = clean();
        for (unsigned n = kSwapAt; n < kRowCount; ++n)
            expected[n][c] = column_sum(array, activations[n], flipped, c, 0, array.rows);
        return expected;
    });
}

INSTANTIATE_TEST_SUITE_P(Arrays, MxuState, testing::ValuesIn(tested_arrays()), array_name);

}  // namespace
}  // namespace tandem::testbench
