// SPDX-License-Identifier: Apache-2.0
#include "firmware/driver/image.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "testbench/firmware/image_builder.h"

namespace tandem::firmware {
namespace {

using testbench::build_image;

constexpr uint64_t kIsaHash = 0xfedcba9876543210;
constexpr uint64_t kHash = 0x0123456789abcdef;

/// Parses a copy that ends where the heap block ends, so that a sanitizer sees the first byte
/// beyond.
Status parse(const std::vector<uint8_t>& bytes, Image* image) {
    const auto copy = std::make_unique<uint8_t[]>(bytes.size());
    if (!bytes.empty()) std::memcpy(copy.get(), bytes.data(), bytes.size());
    return parse_image(copy.get(), bytes.size(), image);
}

Status parse(const std::vector<uint8_t>& bytes) {
    Image image;
    return parse(bytes, &image);
}

TEST(Image, FindsCodeAndDataOfAnImageOfTheCompiler) {
    const auto bytes = build_image(kIsaHash, kHash, 3, {1, 2, 3, 4, 5});
    Image image;
    ASSERT_EQ(parse(bytes, &image), Status::kOk);
    EXPECT_EQ(image.isa_hash, kIsaHash);
    EXPECT_EQ(image.chip_hash, kHash);
    EXPECT_EQ(image.code_bytes, 96u);
    EXPECT_EQ(image.cores, 1u);
    EXPECT_EQ(image.table_offset, 48u);
    EXPECT_EQ(image.table_bytes, 16u);
    EXPECT_EQ(image.code_offset, 64u);
    EXPECT_EQ(image.data_bytes, 5u);
    EXPECT_EQ(bytes.at(image.data_offset + 4), 5u);
}

TEST(Image, AcceptsAProgramWithoutData) {
    EXPECT_EQ(parse(build_image(kIsaHash, kHash, 1, {})), Status::kOk);
}

TEST(Image, RejectsAProgramWithoutCode) {
    EXPECT_EQ(parse(build_image(kIsaHash, kHash, 0, {1})), Status::kImageCode);
}

TEST(Image, FindsTheProgramsOfSeveralCores) {
    const auto bytes = build_image(kIsaHash, kHash, 9, {1}, 3);
    Image image;
    ASSERT_EQ(parse(bytes, &image), Status::kOk);
    EXPECT_EQ(image.cores, 3u);
    EXPECT_EQ(image.table_bytes, 48u);
    EXPECT_EQ(image.code_bytes, 2 * 512u + 9 * 32u) << "each at a multiple of 256";
    uint64_t offset = 0;
    std::memcpy(&offset, bytes.data() + image.table_offset + 32, sizeof offset);
    EXPECT_EQ(offset, 1024u) << "of core 2";
}

/// CODE with a field changed and its checksum made good.
std::vector<uint8_t> with_code_field(size_t offset, uint64_t value, size_t bytes) {
    auto image = build_image(kIsaHash, kHash, 9, {1}, 2);
    uint64_t length = 0;
    std::memcpy(&length, image.data() + 32, sizeof length);
    std::memcpy(image.data() + 40 + offset, &value, bytes);
    const uint32_t checksum = crc32(image.data() + 40, length);
    std::memcpy(image.data() + 28, &checksum, sizeof checksum);
    return image;
}

TEST(Image, RejectsTablesThatAreNotThoseOfItsCode) {
    EXPECT_EQ(parse(with_code_field(0, 2, 4)), Status::kOk) << "unchanged";
    for (const uint64_t cores : {0u, 1u, 3u, 257u, 0xffffffffu})
        EXPECT_EQ(parse(with_code_field(0, cores, 4)), Status::kImageCode) << cores << " cores";
    for (const size_t field : {8u, 16u, 24u, 32u})
        for (const uint64_t value : {uint64_t{1}, uint64_t{20}, uint64_t{256}, uint64_t{1} << 59,
                                     ~uint64_t{0}, ~uint64_t{31}})
            EXPECT_EQ(parse(with_code_field(field, value, 8)), Status::kImageCode)
                << "field " << field << " is " << value;
}

TEST(Image, RejectsNullArguments) {
    const auto bytes = build_image(kIsaHash, kHash, 1, {});
    Image image;
    EXPECT_EQ(parse_image(nullptr, 16, &image), Status::kBadArgument);
    EXPECT_EQ(parse_image(bytes.data(), bytes.size(), nullptr), Status::kBadArgument);
}

TEST(Image, RejectsEveryTruncation) {
    const auto bytes = build_image(kIsaHash, kHash, 2, {1, 2, 3});
    for (size_t size = 0; size < bytes.size(); ++size) {
        const std::vector<uint8_t> part(bytes.begin(), bytes.begin() + static_cast<long>(size));
        EXPECT_EQ(parse(part), Status::kImageTruncated) << "size " << size;
    }
}

TEST(Image, RejectsBytesBehindTheLastSection) {
    auto bytes = build_image(kIsaHash, kHash, 2, {1, 2, 3});
    bytes.push_back(0);
    EXPECT_EQ(parse(bytes), Status::kImageTruncated);
}

TEST(Image, RejectsEverySingleBitFlipButInTheHashes) {
    const auto good = build_image(kIsaHash, kHash, 2, {1, 2, 3});
    for (size_t bit = 0; bit < good.size() * 8; ++bit) {
        auto bytes = good;
        bytes[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
        const bool in_hash = bit / 8 >= 8 && bit / 8 < 24;
        EXPECT_EQ(parse(bytes) == Status::kOk, in_hash) << "bit " << bit;
    }
}

TEST(Image, RejectsLengthsThatWrapAround) {
    const auto good = build_image(kIsaHash, kHash, 2, {1, 2, 3});
    for (const uint64_t length : {~uint64_t{0}, ~uint64_t{0} - 15, ~uint64_t{0} - 31,
                                  uint64_t{1} << 63, uint64_t{1} << 32}) {
        auto bytes = good;
        std::memcpy(bytes.data() + 32, &length, sizeof length);
        EXPECT_EQ(parse(bytes), Status::kImageTruncated) << length;
    }
}

TEST(Image, LeavesTheResultAloneOnFailure) {
    auto bytes = build_image(kIsaHash, kHash, 2, {1, 2, 3});
    bytes.back() ^= 1;
    Image image;
    image.code_bytes = 77;
    EXPECT_EQ(parse(bytes, &image), Status::kImageChecksum);
    EXPECT_EQ(image.code_bytes, 77u);
}

/// Several random bytes changed, sometimes cut: whatever passes must lie inside the bytes given.
TEST(Image, SurvivesRandomDamage) {
    for (const uint32_t seed : {0u, 1u, 2u, 3u}) {
        std::mt19937 random(seed);
        for (int round = 0; round < 20000; ++round) {
            auto bytes = build_image(kIsaHash, kHash, 1 + random() % 4,
                                     std::vector<uint8_t>(random() % 40, 7));
            for (unsigned i = random() % 6; i > 0; --i) {
                bytes[random() % std::min<size_t>(bytes.size(), 100)] =
                    static_cast<uint8_t>(random());
            }
            if (random() % 4 == 0) bytes.resize(random() % (bytes.size() + 1));
            Image image;
            if (parse(bytes, &image) != Status::kOk) continue;
            ASSERT_LE(image.code_offset + image.code_bytes, bytes.size()) << "seed " << seed;
            ASSERT_LE(image.data_offset + image.data_bytes, bytes.size()) << "seed " << seed;
        }
    }
}

}  // namespace
}  // namespace tandem::firmware
