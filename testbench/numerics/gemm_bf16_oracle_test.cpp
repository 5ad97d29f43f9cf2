// SPDX-License-Identifier: Apache-2.0
// Whole column sums of the model's bf16 kernels, with and without groups of four and accumulation,
// against MPFR.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "engine/gemm_bf16.h"
#include "testbench/numerics/mpfr_oracle.h"
#include "testbench/numerics/operands.h"

namespace tandem::testbench {
namespace {

/// Values of one row: mostly near 1, so that sums round and cancel; some rows reach fp32's borders
/// or hold what is no number.
std::vector<uint16_t> values(SplitMix& random, std::size_t count) {
    const uint32_t range = random.below(16);
    const int spread = random.between(0, 14);
    std::vector<uint16_t> out(count);
    for (uint16_t& value : out) {
        const auto number = [&](int first, int last) {
            return static_cast<uint16_t>(random.bits(1) << 15 |
                                         static_cast<uint32_t>(random.between(first, last)) << 7 |
                                         random.bits(7));
        };
        switch (range) {
            case 0:
                value = number(1, 254);
                break;
            case 1:
                value = number(56, 70);
                break;
            case 2:
                value = number(185, 192);
                break;
            case 3:
                value = static_cast<uint16_t>(random.bits(1) << 15 | random.below(0x82));
                break;
            case 4:
                value = static_cast<uint16_t>(random.bits(1) << 15 | random.below(3) << 7);
                break;
            case 5:
            case 6:
                value = static_cast<uint16_t>(0x3f80 | random.bits(1) << 15);
                break;
            case 9:
            case 10:
                value = number(127 - spread, 127 + spread);
                break;
            default:
                value = number(122, 131);
        }
    }
    if (range == 7) out[random.below(static_cast<uint32_t>(count))] = 0x7f80;
    if (range == 8) out[random.below(static_cast<uint32_t>(count))] = 0xffff;
    return out;
}

void expect_products_match(engine::Bf16Kernel kernel) {
    SCOPED_TRACE(to_string(kernel));
    engine::GemmBf16 gemm(kernel);
    MpfrOracle oracle;
    for (uint64_t seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        SplitMix random(seed);
        const uint32_t k_len = 1 + random.below(seed % 8 == 0 ? 130 : 20);
        const uint32_t array_rows = k_len + (random.bits(1) ? random.below(9) : 0);
        const uint32_t cols = 1 + random.below(70), rows = 1 + random.below(5);
        const bool accumulate = random.bits(1), sum4 = random.bits(1);
        std::vector<std::vector<uint16_t>> activations, weights(cols);
        std::vector<uint16_t> packed_rows, tile;
        for (uint32_t m = 0; m < rows; ++m) {
            activations.push_back(values(random, k_len));
            packed_rows.insert(packed_rows.end(), activations[m].begin(), activations[m].end());
            activations[m].resize(array_rows);
        }
        for (uint32_t k = 0; k < k_len; ++k) {
            const std::vector<uint16_t> row = values(random, cols);
            tile.insert(tile.end(), row.begin(), row.end());
            for (uint32_t c = 0; c < cols; ++c) weights[c].push_back(row[c]);
        }
        for (std::vector<uint16_t>& column : weights) column.resize(array_rows);
        std::vector<int32_t> sums(std::size_t{rows} * cols), before;
        for (int32_t& sum : sums) {  // a few zeros, subnormals, infinities among the accumulators
            const uint32_t corner = random.below(12);
            const uint32_t bits =
                corner == 0   ? random.bits(1) << 31
                : corner == 1 ? random.bits(1) << 31 | random.bits(22)
                : corner == 2
                    ? random.bits(1) << 31 | 0x7f800000
                    : random.bits(1) << 31 | (120 + random.below(14)) << 23 | random.bits(23);
            sum = static_cast<int32_t>(bits);
        }
        before = sums;
        gemm.multiply(packed_rows.data(), rows, k_len, tile.data(), k_len, array_rows, cols,
                      accumulate, sums.data(), sum4);
        for (uint32_t m = 0; m < rows; ++m)
            for (uint32_t c = 0; c < cols; ++c) {
                const std::size_t at = std::size_t{m} * cols + c;
                const uint32_t column = oracle.column_sum(activations[m], weights[c], sum4);
                ASSERT_EQ(static_cast<uint32_t>(sums[at]),
                          oracle.commit(static_cast<uint32_t>(before[at]), column, accumulate))
                    << "row " << m << ", column " << c << ", " << array_rows
                    << " rows of the array";
            }
    }
}

/// Groups of four that are a tie but for a bit far below: 1 + 2^-24 + c + d, where c + d is
/// 2^-(t+14) although c and d are near 2^-t. A sum in double is wrong from some t on.
void expect_ties_match(engine::Bf16Kernel kernel) {
    SCOPED_TRACE(to_string(kernel));
    constexpr uint32_t kCols = 20, kRows = 3;
    engine::GemmBf16 gemm(kernel);
    MpfrOracle oracle;
    for (uint32_t t = 1; t <= 100; ++t)
        for (const bool negative : {false, true}) {
            struct Factors {
                uint16_t activation, weight;
            };
            const auto sign = static_cast<uint16_t>(negative << 15);
            const auto scaled = [&](uint32_t fraction) {
                return static_cast<uint16_t>((127 - t) << 7 | fraction);
            };
            const std::array<Factors, 4> group = {
                Factors{0x3f80, 0x3f80},
                Factors{0x3380, 0x3f80},
                Factors{static_cast<uint16_t>(scaled(1) ^ sign), 0x3f81},
                Factors{static_cast<uint16_t>(scaled(2) ^ sign ^ 0x8000), 0x3f80},
            };
            std::array<uint32_t, 4> order = {0, 1, 2, 3};
            do {
                std::vector<uint16_t> activations, weights, rows, tile;
                for (const uint32_t i : order) {
                    activations.push_back(group[i].activation);
                    weights.push_back(group[i].weight);
                    tile.insert(tile.end(), kCols, group[i].weight);
                }
                for (uint32_t m = 0; m < kRows; ++m)
                    rows.insert(rows.end(), activations.begin(), activations.end());
                std::vector<int32_t> sums(kRows * kCols);
                gemm.multiply(rows.data(), kRows, 4, tile.data(), 4, 4, kCols, false, sums.data(),
                              true);
                const uint32_t expected = oracle.column_sum(activations, weights, true);
                for (const int32_t sum : sums)
                    ASSERT_EQ(static_cast<uint32_t>(sum), expected) << "t " << t;
            } while (std::next_permutation(order.begin(), order.end()));
        }
}

/// Products at the borders of fp32, all of one or two binades: kernels that skip a check for
/// overflow, for tiny products or for sums that became -0 differ here.
void expect_borders_match(engine::Bf16Kernel kernel) {
    SCOPED_TRACE(to_string(kernel));
    engine::GemmBf16 gemm(kernel);
    MpfrOracle oracle;
    SplitMix random(0);
    std::vector<int> exponents;  // of a product: the sum of the biased ones of its factors
    for (int e = 120; e <= 134; ++e) exponents.push_back(e);
    for (int e = 374; e <= 386; ++e) exponents.push_back(e);
    for (const int exponent : exponents)
        for (int n = 0; n < 40; ++n) {
            const uint32_t k_len = 1 + random.below(7), array_rows = k_len + random.below(6);
            const uint32_t cols = 1 + random.below(40);
            const bool sum4 = random.bits(1);
            // Few significands: sums cancel often.
            const auto element = [&](int biased) {
                constexpr std::array<uint32_t, 4> kFractions = {0, 0, 1, 127};
                return static_cast<uint16_t>(random.bits(1) << 15 |
                                             static_cast<uint32_t>(biased) << 7 |
                                             kFractions[random.below(4)]);
            };
            std::vector<uint16_t> activations(array_rows), tile;
            std::vector<std::vector<uint16_t>> weights(cols, std::vector<uint16_t>(array_rows));
            for (uint32_t k = 0; k < k_len; ++k) {
                const int factor =
                    random.between(std::max(1, exponent - 254), std::min(254, exponent - 1));
                activations[k] = element(factor);
                for (uint32_t c = 0; c < cols; ++c) {
                    weights[c][k] =
                        element(std::min(254, exponent - factor + random.between(0, 1)));
                    tile.push_back(weights[c][k]);
                }
            }
            std::vector<int32_t> sums(cols);
            gemm.multiply(activations.data(), 1, k_len, tile.data(), k_len, array_rows, cols, false,
                          sums.data(), sum4);
            for (uint32_t c = 0; c < cols; ++c)
                ASSERT_EQ(static_cast<uint32_t>(sums[c]),
                          oracle.column_sum(activations, weights[c], sum4))
                    << "exponent " << exponent << ", " << k_len << " of " << array_rows << " rows"
                    << (sum4 ? ", sum4" : "");
        }
}

void expect_all_match(engine::Bf16Kernel kernel) {
    expect_products_match(kernel);
    expect_ties_match(kernel);
    expect_borders_match(kernel);
}

TEST(GemmBf16AgainstMpfr, Plain) { expect_all_match(engine::Bf16Kernel::kPlain); }

TEST(GemmBf16AgainstMpfr, EveryKernelOfThisMachine) {
    for (const engine::Bf16Kernel kernel : {engine::Bf16Kernel::kAvx2, engine::Bf16Kernel::kAvx512})
        if (kernel <= engine::best_bf16_kernel()) expect_all_match(kernel);
}

}  // namespace
}  // namespace tandem::testbench
