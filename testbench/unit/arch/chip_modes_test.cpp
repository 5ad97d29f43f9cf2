// SPDX-License-Identifier: Apache-2.0
// A chip in the element types that it has.
#include "arch/chip_modes.h"
#include "testbench/unit/arch/small_chip.h"

namespace tandem::arch {
namespace {

ChipConfig bf16_chip(const std::string& rate) {
    return load(with_array("bf16\n  pipeline: 4\n  sum4: true\n  int8_rate: " + rate));
}

TEST(ChipModes, OwnTypeIsTheChipAsItIs) {
    for (const char* rate : {"0", "1", "2"}) {
        const ChipConfig chip = bf16_chip(rate);
        const auto own = for_dtype(chip, Dtype::kBf16);
        ASSERT_TRUE(own);
        EXPECT_EQ(own->hash(), chip.hash());
        EXPECT_TRUE(own->mxu.sum4);
        EXPECT_EQ(own->mxu.rows, 8u);
    }
    EXPECT_EQ(for_dtype(load(kChip), Dtype::kInt8)->hash(), load(kChip).hash());
}

TEST(ChipModes, Int8HasAsManyRowsAsTheRateSays) {
    for (const uint32_t rate : {1u, 2u}) {
        const ChipConfig chip = bf16_chip(std::to_string(rate));
        const auto int8 = for_dtype(chip, Dtype::kInt8);
        ASSERT_TRUE(int8);
        EXPECT_EQ(int8->mxu.dtype, Dtype::kInt8);
        EXPECT_EQ(int8->mxu.rows, 8 * rate);
        EXPECT_EQ(int8->mxu.cols, 4u);
        EXPECT_FALSE(int8->mxu.sum4) << "int8 sums are exact";
        EXPECT_EQ(int8->mxu.pipeline, 4u);
        EXPECT_EQ(int8->mxu.accumulator_rows, chip.mxu.accumulator_rows);
        EXPECT_EQ(int8->peak_ops_per_second(), rate * chip.peak_ops_per_second());
        EXPECT_EQ(2 * int8->tile_bytes(), rate * chip.tile_bytes()) << "bf16 has two bytes";
        EXPECT_NE(int8->hash(), chip.hash());
        EXPECT_EQ(for_dtype(*int8, Dtype::kInt8)->hash(), int8->hash()) << "in it already";
        EXPECT_FALSE(for_dtype(*int8, Dtype::kBf16)) << "one type per program";
    }
}

TEST(ChipModes, Int8OfABf16ChipIsAnInt8ChipOfThatShape) {
    std::string text = with_array("int8\n  pipeline: 4");
    text.replace(text.find("rows: 8"), 7, "rows: 16");
    EXPECT_EQ(for_dtype(bf16_chip("2"), Dtype::kInt8)->hash(), load(text).hash());
}

TEST(ChipModes, WhatAChipHasNotIsNothing) {
    EXPECT_FALSE(for_dtype(bf16_chip("0"), Dtype::kInt8));
    EXPECT_FALSE(for_dtype(load(kChip), Dtype::kBf16));
    EXPECT_EQ(modes(bf16_chip("0")).size(), 1u);
    EXPECT_EQ(modes(load(kChip)).size(), 1u);
    const auto both = modes(bf16_chip("2"));
    ASSERT_EQ(both.size(), 2u);
    EXPECT_EQ(both[0].mxu.dtype, Dtype::kBf16) << "its own first";
    EXPECT_EQ(both[1].mxu.dtype, Dtype::kInt8);
}

TEST(ChipModes, ShippedChipsSayWhatTheyTake) {
    const auto chips = testbench::source_dir() / "arch/chips";
    const std::vector<std::string> int8 = {"edge_tpu", "test_16x16", "test_8x8", "tpu_v1", "tpu_v4",
                                           "tpu_v4i",  "tpu_v5e",    "tpu_v5p",  "tpu_v6e"};
    const std::vector<std::string> bf16 = {"test_16x16_bf16", "test_8x8_bf16", "tpu_v2",
                                           "tpu_v3",          "tpu_v4",        "tpu_v4i",
                                           "tpu_v5e",         "tpu_v5p",       "tpu_v6e"};
    EXPECT_EQ(shipped_chips_for(Dtype::kInt8, chips), int8);
    EXPECT_EQ(shipped_chips_for(Dtype::kBf16, chips), bf16);
}

}  // namespace
}  // namespace tandem::arch
