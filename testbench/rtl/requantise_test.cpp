// SPDX-License-Identifier: Apache-2.0
// `tpu_requantise` at its ports: values against docs/numerics.md as MPFR and wide integers compute
// it, edges against rtl/README.md.
#include <gtest/gtest.h>
#include <mpfr.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "cosim/requantise_bench.h"
#include "testbench/rtl/requantise_fixture.h"

namespace tandem::testbench {
namespace {

using cosim::RequantiseRow;
using cosim::RequantiseShape;
using cosim::RequantiseUnit;
using Wide = __int128;

/// An fp32 rounded to even, times another, rounded to even, to a whole number, to even.
int64_t naive_single(int32_t sum, float factor) {
    if (std::isnan(factor) || (sum == 0 && std::isinf(factor))) return 0;
    mpfr_t x, m;
    mpfr_init2(x, 24);
    mpfr_init2(m, 24);
    mpfr_set_si(x, sum, MPFR_RNDN);
    mpfr_set_flt(m, factor, MPFR_RNDN);
    mpfr_mul(x, x, m, MPFR_RNDN);
    mpfr_rint(x, x, MPFR_RNDN);
    const double whole = mpfr_get_d(x, MPFR_RNDN);
    mpfr_clears(x, m, static_cast<mpfr_ptr>(nullptr));
    return static_cast<int64_t>(std::clamp(whole, -2147483648.0, 2147483647.0));
}

Wide floor_divide(Wide a, Wide b) { return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0); }

int64_t naive_gemmlowp(int32_t sum, uint32_t multiplier, int32_t shift) {
    const int64_t left = std::clamp<int64_t>(shift, 0, 30);
    const int64_t right = std::clamp<int64_t>(-int64_t{shift}, 0, 31);
    const auto x = static_cast<int32_t>(Wide{sum} << left);
    const Wide q = std::bit_cast<int32_t>(multiplier);
    // To nearest, ties upwards
    Wide high = floor_divide(Wide{2} * x * q + (Wide{1} << 31), Wide{1} << 32);
    if (high > 2147483647) high = 2147483647;
    // To nearest, ties away from zero
    const Wide size = high < 0 ? -high : high, by = Wide{1} << right;
    const Wide rounded = (2 * size + by) / (2 * by);
    return static_cast<int64_t>(high < 0 ? -rounded : rounded);
}

int8_t naive(const RequantiseRow& row, uint32_t col) {
    const auto& p = row.params[col];
    const auto sum = static_cast<int32_t>(Wide{row.sums[col]} + p.bias);
    const int64_t scaled = row.gemmlowp ? naive_gemmlowp(sum, p.multiplier, p.shift)
                                        : naive_single(sum, std::bit_cast<float>(p.multiplier));
    const int64_t value = scaled + row.zero_point;
    if (value < row.clamp_min || row.clamp_max < row.clamp_min) return row.clamp_min;
    return static_cast<int8_t>(std::min<int64_t>(value, row.clamp_max));
}

class RequantiseTest : public testing::TestWithParam<RequantiseShape> {
  protected:
    RequantiseTest() : unit_(GetParam(), requantise_library(GetParam())) {
        unit_.set_reset(true);
        edge();
        unit_.set_reset(false);
        unit_.set_out_ready(true);
    }
    void edge() {
        unit_.settle();
        unit_.edge();
    }
    RequantiseRow row(uint32_t cols, int32_t sum) const {
        RequantiseRow out;
        out.cols = cols;
        out.sums.assign(GetParam().cols, sum);
        out.params.assign(GetParam().cols, {0, std::bit_cast<uint32_t>(1.0f), 0});
        return out;
    }
    /// Edges from the next one, which accepts it, until a row stands at the output.
    uint32_t edges_until_out(const RequantiseRow& given) {
        unit_.set_valid(true);
        unit_.set_row(given);
        edge();
        unit_.set_valid(false);
        uint32_t edges = 0;
        for (; !unit_.out_valid() && edges < 1000; ++edges) edge();
        return edges;
    }

    RequantiseUnit unit_;
};

TEST_P(RequantiseTest, EveryColumnIsTheExactDefinition) {
    cosim::RequantiseTraffic rows(GetParam(), 7);
    uint64_t values = 0, inside = 0;
    for (int i = 0; i < 20000; ++i) {
        const RequantiseRow given = rows.next().row;
        rows.note(true);
        ASSERT_LT(edges_until_out(given), 1000u);
        for (uint32_t col = 0; col < given.cols; ++col) {
            const int8_t expected = naive(given, col);
            ASSERT_EQ(unit_.out(col), expected) << given.operands(col);
            ASSERT_EQ(given.expected(col), expected) << "model: " << given.operands(col);
            inside += expected != given.clamp_min && expected != given.clamp_max;
            ++values;
        }
    }
    EXPECT_GT(values, 20000u);
    EXPECT_GT(inside * 5, values) << "too many values are ends of the clamp";
    EXPECT_EQ(unit_.failure(), "");
}

TEST_P(RequantiseTest, ARowIsThereAfterItsLatency) {
    const auto [cols, lanes] = GetParam();
    for (uint32_t n = 1; n <= cols; ++n) {
        EXPECT_EQ(edges_until_out(row(n, 5)), (n + lanes - 1) / lanes + 4) << n << " columns";
        EXPECT_EQ(unit_.out(n - 1), 5);
    }
}

TEST_P(RequantiseTest, RowsFollowEachOtherAtTheirRate) {
    const auto [cols, lanes] = GetParam();
    const uint32_t beats = (cols + lanes - 1) / lanes;
    unit_.set_valid(true);
    uint32_t accepted = 0, taken = 0;
    for (uint32_t n = 0; n < 100 * beats; ++n) {
        unit_.set_row(row(cols, static_cast<int32_t>(accepted % 100)));
        unit_.settle();
        EXPECT_EQ(unit_.row_ready(), n % beats == 0) << n;
        accepted += unit_.row_ready();
        unit_.edge();
        if (!unit_.out_valid()) continue;
        EXPECT_EQ(unit_.out(cols - 1), static_cast<int8_t>(taken % 100));
        ++taken;
    }
    EXPECT_EQ(accepted, 100u);
    EXPECT_GE(taken + 10, accepted);
}

TEST_P(RequantiseTest, ARowWaitsUnchangedAndHoldsTheOthers) {
    unit_.set_out_ready(false);
    edges_until_out(row(GetParam().cols, 3));
    unit_.set_valid(true);
    unit_.set_row(row(GetParam().cols, 4));
    for (int n = 0; n < 10; ++n) {
        unit_.settle();
        EXPECT_FALSE(unit_.row_ready());
        unit_.edge();
        EXPECT_TRUE(unit_.out_valid());
        EXPECT_EQ(unit_.out(0), 3);
    }
    unit_.set_out_ready(true);
    unit_.settle();
    EXPECT_TRUE(unit_.row_ready());
}

TEST_P(RequantiseTest, AResetDropsWhatIsInWork) {
    unit_.set_valid(true);
    unit_.set_row(row(GetParam().cols, 3));
    edge();
    EXPECT_TRUE(unit_.busy());
    unit_.set_reset(true);
    unit_.settle();
    EXPECT_FALSE(unit_.row_ready());
    unit_.edge();
    EXPECT_FALSE(unit_.busy());
    unit_.set_reset(false);
    unit_.set_valid(false);
    for (int n = 0; n < 50; ++n) {
        edge();
        EXPECT_FALSE(unit_.out_valid());
    }
}

TEST_P(RequantiseTest, ARowWithoutColumnsIsTheCallersFault) {
    unit_.set_valid(true);
    unit_.set_row(row(0, 3));
    edge();
    edge();
    EXPECT_NE(unit_.failure().find("tpu_requantise.sv:"), std::string::npos);
}

TEST_P(RequantiseTest, StreamsAtThePortsAreAsTheContractSays) {
    cosim::RequantiseCounters counters;
    const auto library = requantise_library(GetParam());
    for (uint64_t seed = 0; seed < 10; ++seed) {
        cosim::RequantiseBench bench(GetParam(), library, seed);
        const auto found = bench.run(2000, counters);
        ASSERT_FALSE(found) << found->text();
    }
    EXPECT_GT(counters.rows, 1000u);
    EXPECT_GT(counters.stalls, 1000u);
    EXPECT_GT(counters.resets, 50u);
}

INSTANTIATE_TEST_SUITE_P(Shapes, RequantiseTest,
                         testing::Values(RequantiseShape{16, 16}, RequantiseShape{5, 2}),
                         [](const auto& info) {
                             return "Of" + std::to_string(info.param.cols) + "By" +
                                    std::to_string(info.param.lanes);
                         });

}  // namespace
}  // namespace tandem::testbench
