// SPDX-License-Identifier: Apache-2.0
// Window addressing against the formula of arch/README.md, element by element.
#include "engine/activation_reader.h"
#include "arch/geometry.h"

#include <gtest/gtest.h>

#include "testbench/support/seeded.h"

namespace tandem::engine {
namespace {

using testbench::Seeded;

constexpr uint32_t kArrayRows = 16;

/// Element k of product row m, of one byte or two.
uint32_t element(const std::vector<uint8_t>& buffer, const isa::Geometry& g, uint64_t ub_addr,
                 uint64_t m, uint64_t k, uint32_t element_bytes) {
    const uint64_t image = m / (uint64_t{g.out_height} * g.out_width);
    const auto oh = static_cast<int64_t>(m / g.out_width % g.out_height),
               ow = static_cast<int64_t>(m % g.out_width);
    const uint64_t channel = k % g.channels;
    const auto kw = static_cast<int64_t>(k / g.channels % g.kernel_w),
               kh = static_cast<int64_t>(k / (uint64_t{g.channels} * g.kernel_w));
    const int64_t ih = oh * g.stride_h + kh * g.dilation_h - g.pad_top,
                  iw = ow * g.stride_w + kw * g.dilation_w - g.pad_left;
    if (ih < 0 || iw < 0 || ih >= g.in_height || iw >= g.in_width)
        return element_bytes == 1 ? static_cast<uint8_t>(g.pad_value) : 0;
    const uint64_t at =
        ub_addr + image * g.image_stride +
        (static_cast<uint64_t>(ih) * g.in_width + static_cast<uint64_t>(iw)) * g.pixel_stride +
        channel * element_bytes;
    return element_bytes == 1 ? buffer.at(at) : buffer.at(at) | uint32_t{buffer.at(at + 1)} << 8;
}

isa::Geometry random_geometry(Seeded& random, uint32_t element_bytes) {
    const auto small = [&](uint64_t most) { return 1 + random.below(most); };
    isa::Geometry g;
    g.in_height = static_cast<uint16_t>(small(7)), g.in_width = static_cast<uint16_t>(small(7));
    g.channels = static_cast<uint16_t>(small(9));
    g.pixel_stride = static_cast<uint16_t>(
        g.channels * element_bytes +
        (random.chance(50) ? random.below(9) : 0));  // more: a slice of the depth
    g.kernel_h = static_cast<uint8_t>(small(4)), g.kernel_w = static_cast<uint8_t>(small(4));
    g.stride_h = static_cast<uint8_t>(small(3)), g.stride_w = static_cast<uint8_t>(small(3));
    g.dilation_h = static_cast<uint8_t>(small(3)), g.dilation_w = static_cast<uint8_t>(small(3));
    g.pad_top = static_cast<uint8_t>(random.below(4)),
    g.pad_left = static_cast<uint8_t>(random.below(4));
    g.out_height = static_cast<uint16_t>(small(6)), g.out_width = static_cast<uint16_t>(small(6));
    g.image_stride = static_cast<uint32_t>(uint64_t{g.in_height} * g.in_width * g.pixel_stride +
                                           random.below(20));
    g.pad_value = random.int8();
    if (random.chance(80)) return g;
    // One pixel for each output, all inside: a way of its own.
    g.kernel_h = g.kernel_w = 1;
    g.pad_top = g.pad_left = 0;
    g.out_height = static_cast<uint16_t>((g.in_height - 1) / g.stride_h + 1);
    g.out_width = static_cast<uint16_t>((g.in_width - 1) / g.stride_w + 1);
    return g;
}

class ActivationReaderOf : public testing::TestWithParam<uint32_t> {};

TEST_P(ActivationReaderOf, ReadsEveryElementOfTheFormula) {
    const uint32_t element_bytes = GetParam();
    for (uint64_t seed = 0; seed < 1000; ++seed) {
        Seeded random(seed);
        const auto buffer = random.bytes(1 << 14);
        const isa::Geometry g = random_geometry(random, element_bytes);
        ActivationReader reader(buffer, kArrayRows, element_bytes);
        reader.set_geometry(g);
        const uint64_t reduction = uint64_t{g.kernel_h} * g.kernel_w * g.channels,
                       positions = uint64_t{g.out_height} * g.out_width * 3;
        ASSERT_EQ(reader.reduction(), reduction) << "seed " << seed;
        isa::Matmul matmul;
        matmul.ub_addr = static_cast<uint32_t>(random.below(100));
        matmul.row_start = static_cast<uint32_t>(random.below(positions));
        matmul.rows = static_cast<uint16_t>(1 + random.below(positions - matmul.row_start));
        matmul.k_start = static_cast<uint32_t>(random.below(reduction));
        matmul.k_len = static_cast<uint16_t>(
            1 + random.below(std::min<uint64_t>(kArrayRows, reduction - matmul.k_start)));
        ASSERT_TRUE(reader.inside_buffer(matmul)) << "seed " << seed;
        std::vector<uint8_t> found(size_t{matmul.rows} * kArrayRows * element_bytes, 99);
        reader.read(matmul, reinterpret_cast<std::byte*>(found.data()));
        for (uint32_t i = 0; i < matmul.rows; ++i)
            for (uint32_t j = 0; j < kArrayRows; ++j) {
                const uint32_t expected =
                    j < matmul.k_len
                        ? element(buffer, g, matmul.ub_addr, uint64_t{matmul.row_start} + i,
                                  matmul.k_start + j, element_bytes)
                        : 0;
                const uint8_t* at = &found[(size_t{i} * kArrayRows + j) * element_bytes];
                ASSERT_EQ(element_bytes == 1 ? at[0] : at[0] | uint32_t{at[1]} << 8, expected)
                    << "row " << i << " element " << j << ", seed " << seed;
            }
    }
}

INSTANTIATE_TEST_SUITE_P(Bytes, ActivationReaderOf, testing::Values(1u, 2u));

class ReaderBounds : public testing::Test {
  protected:
    ReaderBounds() { reader_.set_geometry(geometry_); }
    isa::Matmul at(uint32_t ub_addr, uint32_t row_start, uint16_t rows) {
        isa::Matmul matmul;
        matmul.ub_addr = ub_addr, matmul.row_start = row_start, matmul.rows = rows,
        matmul.k_len = 1;
        return matmul;
    }
    // Two by three pixels of four bytes, two by three outputs, images 30 bytes apart.
    const isa::Geometry geometry_{.in_height = 2,
                                  .in_width = 3,
                                  .pixel_stride = 4,
                                  .channels = 4,
                                  .kernel_h = 1,
                                  .kernel_w = 1,
                                  .stride_h = 1,
                                  .stride_w = 1,
                                  .dilation_h = 1,
                                  .dilation_w = 1,
                                  .pad_top = 0,
                                  .pad_left = 0,
                                  .out_height = 2,
                                  .out_width = 3,
                                  .image_stride = 30,
                                  .pad_value = 0};
    std::vector<uint8_t> buffer_ = std::vector<uint8_t>(100);
    ActivationReader reader_{buffer_, kArrayRows};
};

TEST_F(ReaderBounds, TakeAnImageThatEndsWithTheBuffer) {
    EXPECT_TRUE(reader_.inside_buffer(at(100 - 24, 0, 6)));
}

TEST_F(ReaderBounds, CountChannelsInElements) {
    ActivationReader reader(buffer_, kArrayRows, 2);
    reader.set_geometry(geometry_);
    // The last pixel's four channels have eight bytes.
    EXPECT_TRUE(reader.inside_buffer(at(100 - 28, 0, 6)));
    EXPECT_FALSE(reader.inside_buffer(at(100 - 27, 0, 6)));
}

TEST_F(ReaderBounds, RefuseAnImageThatEndsOneByteLater) {
    EXPECT_FALSE(reader_.inside_buffer(at(100 - 23, 0, 6)));
}

TEST_F(ReaderBounds, CountTheImageOfTheLastRow) {
    EXPECT_TRUE(reader_.inside_buffer(at(100 - 24 - 30, 0, 7)));
    EXPECT_FALSE(reader_.inside_buffer(at(100 - 23 - 30, 0, 7)));
}

TEST_F(ReaderBounds, RefuseTheLargestAddress) {
    EXPECT_FALSE(reader_.inside_buffer(at(0xffffffff, 0, 1)));
}

TEST_F(ReaderBounds, RefuseAnImageThatWrapsAround) {
    isa::Geometry geometry = geometry_;
    geometry.in_height = geometry.in_width = geometry.out_height = geometry.out_width = 1;
    geometry.image_stride = 0xffffffff;
    geometry.channels = 2;
    reader_.set_geometry(geometry);
    EXPECT_FALSE(reader_.inside_buffer(at(0xffffffff, 0xffffffff, 2)))
        << "image 2^32 at 2^32 - 1 bytes each";
}

TEST(ActivationReaderGeometry, IsInvalidWithAnyZeroSize) {
    const isa::Geometry good = isa::kSinglePixel;
    ASSERT_TRUE(ActivationReader::valid(good));
    const auto zero = [&](auto member) {
        isa::Geometry bad = good;
        bad.*member = 0;
        return ActivationReader::valid(bad);
    };
    for (const auto member :
         {&isa::Geometry::in_height, &isa::Geometry::in_width, &isa::Geometry::channels,
          &isa::Geometry::out_height, &isa::Geometry::out_width})
        EXPECT_FALSE(zero(member));
    for (const auto member :
         {&isa::Geometry::kernel_h, &isa::Geometry::kernel_w, &isa::Geometry::stride_h,
          &isa::Geometry::stride_w, &isa::Geometry::dilation_h, &isa::Geometry::dilation_w})
        EXPECT_FALSE(zero(member));
}

}  // namespace
}  // namespace tandem::engine
