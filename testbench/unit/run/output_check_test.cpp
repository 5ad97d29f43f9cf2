// SPDX-License-Identifier: Apache-2.0
#include "run/output_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace tandem::testbench {
namespace {

std::vector<uint8_t> bytes_of(const std::vector<float>& values) {
    std::vector<uint8_t> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

run::FloatCheck check(const std::vector<float>& outputs, const std::vector<float>& expected,
                      double tolerance) {
    return run::compare_floats(bytes_of(outputs), bytes_of(expected), 2 * sizeof(float),
                               {.of_largest = tolerance});
}

TEST(CompareFloats, MeasuresByTheLargestExpectedMagnitude) {
    const auto found = check({1, -3.75f, 0.5f, 0.25f}, {1, -4, 0.25f, 0.25f}, 0.0625);
    EXPECT_EQ(found.values, 4u);
    EXPECT_EQ(found.largest, 4);
    EXPECT_EQ(found.largest_difference, 0.25);
    EXPECT_EQ(found.worst_sample, 0u);
    EXPECT_EQ(found.worst_element, 1u);
    EXPECT_EQ(found.beyond, 0u) << "a sixteenth of 4 is allowed";
    EXPECT_EQ(check({1, -3.75f}, {1, -4}, 0.0624).beyond, 1u);
    EXPECT_EQ(check({1, 2}, {1, 2}, 0).beyond, 0u);
}

TEST(CompareFloats, MayMeasureEachValueByItself) {
    const auto beyond = [](const std::vector<float>& outputs, const std::vector<float>& expected) {
        return run::compare_floats(bytes_of(outputs), bytes_of(expected), 2 * sizeof(float),
                                   {.is_of_each = true, .relative = 0.125, .absolute = 0.5})
            .beyond;
    };
    EXPECT_EQ(beyond({9.5f, -0.5f}, {8, 0}), 0u);
    EXPECT_EQ(beyond({9.75f, 0.75f}, {8, 0}), 2u);
    const float inf = std::numeric_limits<float>::infinity();
    EXPECT_EQ(beyond({inf, 1}, {inf, inf}), 1u) << "beside an infinity nothing else is near";
}

TEST(CompareFloats, CountsSamplesOfTheSameClass) {
    const auto found = check({1, 2, 4, 3, 5, 5}, {0, 9, 3, 4, 6, 6}, 1);
    EXPECT_EQ(found.samples, 3u);
    EXPECT_EQ(found.same_class, 2u) << "the first of equal ones";
}

TEST(CompareFloats, TakesWhatIsNoNumberAsFarAway) {
    const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
    EXPECT_EQ(check({nan, 1}, {nan, 1}, 0).largest_difference, 0);
    EXPECT_EQ(check({inf, 1}, {inf, 1}, 0).largest_difference, 0);
    for (const float other : {1.0f, inf, -inf}) {
        const auto found = check({nan, 1}, {other, 1}, 1);
        EXPECT_EQ(found.beyond, 1u) << other;
        EXPECT_TRUE(std::isinf(found.largest_difference)) << other;
    }
    EXPECT_EQ(check({-inf, 1}, {inf, 1}, 1).beyond, 1u);
}

TEST(AccuracyOf, TakesEveryType) {
    const std::vector<uint8_t> labels = {1, 0};
    EXPECT_EQ(run::accuracy_of({0x80, 0x7f, 0xff, 0xfe}, 1, labels, 2), 1.0);
    EXPECT_EQ(run::accuracy_of({0x80, 0x3f, 0x00, 0x40, 0x80, 0x3f, 0x00, 0x40}, 2, labels, 4),
              0.5);
    EXPECT_EQ(run::accuracy_of(bytes_of({1, 2, -2, -1}), 4, labels, 8), 0.5);
}

}  // namespace
}  // namespace tandem::testbench
