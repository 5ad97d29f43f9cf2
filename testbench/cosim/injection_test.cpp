// SPDX-License-Identifier: Apache-2.0
// The text of --inject and random injections.
#include "cosim/injection.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"

namespace tandem::cosim {
namespace {

const engine::MxuShape kShape{8, 4, 16};

TEST(InjectionParse, ReadsEveryPart) {
    const Injection found =
        parse_injection("pe[3][15].weight:bit7@cycle=123456789012", {4, 16, 16});
    EXPECT_EQ(found.which, PeRegister::kWeight);
    EXPECT_EQ(found.pe_row, 3u);
    EXPECT_EQ(found.pe_col, 15u);
    EXPECT_EQ(found.bit, 7u);
    EXPECT_EQ(found.cycle, 123456789012u);
    EXPECT_FALSE(found.at_row.has_value());
}

TEST(InjectionParse, GivesBackItsOwnText) {
    for (const char* text : {"pe[0][0].psum:bit31@cycle=0", "pe[7][3].activation:bit0@cycle=1",
                             "pe[1][2].shadow:bit7@cycle=99", "pe[2][1].weight:bit5@cycle=18",
                             "pe[2][2].swap:bit0@cycle=18", "pe[2][1].load:bit0@cycle=18"})
        EXPECT_EQ(parse_injection(text, kShape).to_string(), text);
}

TEST(InjectionParse, OfAnyLengthIsRefusedAndShortened) {
    for (const std::string& text :
         {"pe[0][0]." + std::string(1'000'000, 'a') + ":bit0@cycle=1", std::string(1'000'000, '['),
          "pe[" + std::string(1'000'000, '1')})
        try {
            parse_injection(text, kShape);
            FAIL() << "expected a UserError, found none";
        } catch (const UserError& error) {
            EXPECT_LT(std::string(error.what()).size(), 400u);
        }
}

struct Bad {
    const char* text;
    const char* told;
};

class InjectionRejects : public testing::TestWithParam<Bad> {};

TEST_P(InjectionRejects, AndNamesThePart) {
    try {
        parse_injection(GetParam().text, kShape);
        FAIL() << GetParam().text << ": expected a UserError, found none";
    } catch (const UserError& error) {
        EXPECT_NE(std::string(error.what()).find(GetParam().told), std::string::npos)
            << GetParam().text << ": expected \"" << GetParam().told << "\" in: " << error.what();
    }
}

INSTANTIATE_TEST_SUITE_P(
    Texts, InjectionRejects,
    testing::Values(
        Bad{"",
            "form: expected pe[R][C].psum:bitB@cycle=T (or .weight, .activation, .shadow, .swap, "
            ".load), or seed=N, found nothing"},
        Bad{"pe", "form"}, Bad{"pe[0][0].psum:bit0", "form"},
        Bad{"pe[0][0].psum:bit0@cycle=", "form"}, Bad{"pe[-1][0].psum:bit0@cycle=1", "form"},
        Bad{"pe[0].psum:bit0@cycle=1", "form"}, Bad{" pe[0][0].psum:bit0@cycle=1", "form"},
        Bad{"pe[0][0].psum:bit0@cycle=1 ", "form"},
        Bad{"pe[0][0].psum:bit0@cycle=99999999999999999999", "form"},
        Bad{"pe[99999999999][0].psum:bit0@cycle=1", "form"},
        Bad{"pe[8][0].psum:bit0@cycle=1", "PE row: expected 0..7, found 8"},
        Bad{"pe[0][4].psum:bit0@cycle=1", "PE column: expected 0..3, found 4"},
        Bad{"pe[0][0].sum:bit0@cycle=1",
            "register: expected psum, weight, shadow, activation, swap or load, found sum"},
        Bad{"pe[0][0].psum:bit32@cycle=1", "bit: expected 0..31, found 32"},
        Bad{"pe[0][0].weight:bit8@cycle=1", "bit: expected 0..7, found 8"},
        Bad{"pe[0][0].shadow:bit8@cycle=1", "bit: expected 0..7"},
        Bad{"pe[0][0].swap:bit1@cycle=1", "bit: expected 0..0"},
        Bad{"pe[0][0].activation:bit8@cycle=1", "bit: expected 0..7"}));

TEST(InjectionParse, TakesAllBitsOfABf16) {
    const engine::MxuShape shape{8, 4, 16, arch::Dtype::kBf16};
    EXPECT_EQ(parse_injection("pe[0][0].weight:bit15@cycle=1", shape).bit, 15u);
    EXPECT_THROW(parse_injection("pe[0][0].weight:bit16@cycle=1", shape), UserError);
}

TEST(InjectionSeed, IsReadFromItsForm) {
    EXPECT_EQ(parse_injection_seed("seed=17"), 17u);
    EXPECT_EQ(parse_injection_seed("pe[0][0].psum:bit0@cycle=1"), std::nullopt);
    EXPECT_THROW(parse_injection_seed("seed=x"), UserError);
    EXPECT_THROW(parse_injection_seed("seed="), UserError);
}

TEST(InjectionRandom, HitsOnlyRegistersThatTheArrayHas) {
    const engine::MxuShape shape{7, 9, 16, arch::Dtype::kBf16, 4};
    for (uint64_t seed = 0; seed < 2000; ++seed) {
        const Injection found = random_injection(seed, shape, 7);
        ASSERT_LT(found.pe_row, 7u) << "seed " << seed;
        if (found.which == PeRegister::kActivation) {
            ASSERT_EQ(found.pe_col % 4, 0u) << "seed " << seed;
        }
        if (found.which == PeRegister::kPsum) {
            ASSERT_TRUE(found.pe_row == 3 || found.pe_row == 6)
                << "row " << found.pe_row << ", seed " << seed;
        }
    }
}

TEST(InjectionRandom, StaysInsideTheArray) {
    for (uint64_t seed = 0; seed < 5000; ++seed) {
        const Injection found = random_injection(seed, {3, 5, 16}, 7);
        ASSERT_LT(found.pe_row, 3u) << "seed " << seed;
        ASSERT_LT(found.pe_col, 5u) << "seed " << seed;
        ASSERT_LT(found.bit, found.which == PeRegister::kPsum ? 32u : 8u) << "seed " << seed;
        ASSERT_LT(found.at_row.value(), 7u) << "seed " << seed;
    }
}

TEST(InjectionRandom, IsTheSameForTheSameSeed) {
    for (uint64_t seed = 0; seed < 100; ++seed)
        EXPECT_EQ(random_injection(seed, kShape, 100).to_string(),
                  random_injection(seed, kShape, 100).to_string())
            << "seed " << seed;
}

TEST(InjectionRandom, ReachesEveryPe) {
    std::set<std::pair<uint32_t, uint32_t>> seen;
    for (uint64_t seed = 0; seed < 2000; ++seed) {
        const Injection found = random_injection(seed, {3, 5, 16}, 7);
        seen.insert({found.pe_row, found.pe_col});
    }
    EXPECT_EQ(seen.size(), 15u) << "PEs";
}

}  // namespace
}  // namespace tandem::cosim
