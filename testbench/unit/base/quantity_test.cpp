// SPDX-License-Identifier: Apache-2.0
// Numbers with units. Expected values are written as integers, never computed in floating point.
#include "base/quantity.h"

#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>

namespace tandem::base {
namespace {

struct Good {
    const char* text;
    Dimension dimension;
    uint64_t value;
};
struct Bad {
    const char* text;
    Dimension dimension;
};

class QuantityTakes : public testing::TestWithParam<Good> {};
class QuantityRejects : public testing::TestWithParam<Bad> {};

TEST_P(QuantityTakes, ValueInTheBaseUnit) {
    const auto found = parse_quantity(GetParam().text, GetParam().dimension);
    ASSERT_TRUE(found.has_value())
        << '"' << GetParam().text << "\" expected " << GetParam().value << ", found nothing";
    EXPECT_EQ(*found, GetParam().value) << "quantity \"" << GetParam().text << '"';
}

INSTANTIATE_TEST_SUITE_P(
    Units, QuantityTakes,
    testing::Values(
        Good{"1 B", Dimension::kBytes, 1}, Good{"1 kB", Dimension::kBytes, 1000},
        Good{"1 KiB", Dimension::kBytes, 1024}, Good{"1 MB", Dimension::kBytes, 1000000},
        Good{"1 MiB", Dimension::kBytes, 1048576}, Good{"1 GB", Dimension::kBytes, 1000000000},
        Good{"24 MiB", Dimension::kBytes, 25165824}, Good{"8 GiB", Dimension::kBytes, 8589934592},
        Good{"1.5 KiB", Dimension::kBytes, 1536}, Good{"64KiB", Dimension::kBytes, 65536},
        Good{"0 B", Dimension::kBytes, 0}, Good{"34 GB/s", Dimension::kBytesPerSecond, 34000000000},
        Good{"12.5 GB/s", Dimension::kBytesPerSecond, 12500000000},
        Good{"2 TB/s", Dimension::kBytesPerSecond, 2000000000000},
        Good{"1 GiB/s", Dimension::kBytesPerSecond, 1073741824},
        Good{"700 MHz", Dimension::kHertz, 700000000},
        Good{"2.3 GHz", Dimension::kHertz, 2300000000}, Good{"1 kHz", Dimension::kHertz, 1000},
        Good{"7 Hz", Dimension::kHertz, 7}, Good{"120 ns", Dimension::kPicoseconds, 120000},
        Good{"1 us", Dimension::kPicoseconds, 1000000},
        Good{"3 ms", Dimension::kPicoseconds, 3000000000}, Good{"9 ps", Dimension::kPicoseconds, 9},
        Good{"1 cycle", Dimension::kCycles, 1}, Good{"8 cycles", Dimension::kCycles, 8},
        Good{"42", Dimension::kPlain, 42}));

TEST_P(QuantityRejects, OtherTexts) {
    const auto found = parse_quantity(GetParam().text, GetParam().dimension);
    EXPECT_FALSE(found.has_value())
        << '"' << GetParam().text << "\" expected nothing, found " << found.value_or(0);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, QuantityRejects,
    testing::Values(Bad{"", Dimension::kPlain}, Bad{"B", Dimension::kBytes},
                    Bad{"one B", Dimension::kBytes}, Bad{"1", Dimension::kBytes},
                    Bad{"1 Hz", Dimension::kBytes}, Bad{"1 kb", Dimension::kBytes},
                    Bad{"1 KB", Dimension::kBytes}, Bad{"1 kiB", Dimension::kBytes},
                    Bad{"1 GB", Dimension::kBytesPerSecond}, Bad{"1 GB/s", Dimension::kBytes},
                    Bad{"1 mhz", Dimension::kHertz}, Bad{"1 s", Dimension::kPicoseconds},
                    Bad{"1 ns", Dimension::kCycles}, Bad{"1 cycles", Dimension::kPlain},
                    Bad{"-1", Dimension::kPlain}, Bad{"-1 B", Dimension::kBytes},
                    Bad{"0.5 B", Dimension::kBytes}, Bad{"0.5 cycles", Dimension::kCycles},
                    Bad{"2.5", Dimension::kPlain}, Bad{"nan", Dimension::kPlain},
                    Bad{"inf", Dimension::kPlain}, Bad{"1e999 B", Dimension::kBytes},
                    Bad{"1e30 B", Dimension::kBytes}, Bad{"0x10", Dimension::kPlain},
                    Bad{"1 B B", Dimension::kBytes}, Bad{"1,5 KiB", Dimension::kBytes},
                    Bad{"1 B ", Dimension::kBytes}));

// Every figure with up to three decimals that is a whole number of bytes.
TEST(QuantityDecimals, AreExactWhereTheValueIsWhole) {
    for (const auto& [unit, factor] : {std::pair{"kB", 1ull}, {"MB", 1000ull}, {"GB", 1000000ull}})
        for (uint64_t thousandths = 1; thousandths < 20000; ++thousandths) {
            std::string decimals = std::to_string(thousandths % 1000);
            decimals.insert(0, 3 - decimals.size(), '0');
            const std::string text =
                std::to_string(thousandths / 1000) + "." + decimals + " " + unit;
            const uint64_t expected = thousandths * factor;
            const auto found = parse_quantity(text, Dimension::kBytes);
            ASSERT_TRUE(found.has_value())
                << '"' << text << "\" expected " << expected << ", found nothing";
            ASSERT_EQ(*found, expected) << '"' << text << '"';
        }
}

struct Written {
    uint64_t value;
    Dimension dimension;
    const char* text;
};

class QuantityIsWritten : public testing::TestWithParam<Written> {};

TEST_P(QuantityIsWritten, InTheLargestUnitThatLeavesAWholeNumber) {
    EXPECT_EQ(format_quantity(GetParam().value, GetParam().dimension), GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(
    Values, QuantityIsWritten,
    testing::Values(
        Written{0, Dimension::kBytes, "0 B"}, Written{1, Dimension::kBytes, "1 B"},
        Written{1001, Dimension::kBytes, "1001 B"}, Written{2000, Dimension::kBytes, "2 kB"},
        Written{2048, Dimension::kBytes, "2 KiB"}, Written{25165824, Dimension::kBytes, "24 MiB"},
        Written{8589934592, Dimension::kBytes, "8 GiB"},
        Written{34000000000, Dimension::kBytesPerSecond, "34 GB/s"},
        Written{10737418240, Dimension::kBytesPerSecond, "10 GiB/s"},
        Written{2000000000000, Dimension::kBytesPerSecond, "2 TB/s"},
        Written{1500000000, Dimension::kHertz, "1500 MHz"},
        Written{7800000, Dimension::kPicoseconds, "7800 ns"},
        Written{0, Dimension::kPicoseconds, "0 ps"}, Written{1, Dimension::kCycles, "1 cycles"},
        Written{256, Dimension::kBytesPerCycle, "256 B/cycle"},
        Written{90, Dimension::kPercent, "90 %"},
        Written{92000000000000, Dimension::kOpsPerSecond, "92 TOPS"},
        Written{2700, Dimension::kOpsPerByte, "2700 ops/byte"}, Written{0, Dimension::kPlain, "0"},
        Written{42, Dimension::kPlain, "42"}));

constexpr Dimension kDimensions[] = {Dimension::kBytes,         Dimension::kBytesPerSecond,
                                     Dimension::kBytesPerCycle, Dimension::kHertz,
                                     Dimension::kPicoseconds,   Dimension::kCycles,
                                     Dimension::kPercent,       Dimension::kOpsPerSecond,
                                     Dimension::kOpsPerByte,    Dimension::kPlain};

// Up to 2^53: from there on not every whole number is a double.
TEST(QuantityFormat, ReadsBackInEveryDimension) {
    for (const Dimension dimension : kDimensions)
        for (uint64_t value = 0; value < uint64_t{1} << 43; value = value * 5 / 2 + 1)
            for (const uint64_t scale : {1, 1000, 1024}) {
                const std::string text = format_quantity(value * scale, dimension);
                EXPECT_EQ(parse_quantity(text, dimension), value * scale) << text;
            }
}

TEST(QuantityBetween, TakesTheEndsOfTheRangeAndRefusesTheNextValues) {
    const Refuse refuse = [](const std::string& expected, const std::string& found) {
        throw std::runtime_error(expected + "|" + found);
    };
    const auto read = [&](const char* text) -> std::string {
        try {
            return std::to_string(quantity_between(text, Dimension::kHertz, 2000, 3000000, refuse));
        } catch (const std::runtime_error& error) {
            return error.what();
        }
    };
    EXPECT_EQ(read("2 kHz"), "2000");
    EXPECT_EQ(read("3 MHz"), "3000000");
    EXPECT_EQ(read("1999 Hz"), "a value from 2 kHz to 3 MHz|1999 Hz");
    EXPECT_EQ(read("3.000001 MHz"), "a value from 2 kHz to 3 MHz|3.000001 MHz");
    EXPECT_EQ(read("5 GB"), "a frequency such as \"700 MHz\"|\"5 GB\"");
}

TEST(QuantityUnits, AreAllTaken) {
    EXPECT_EQ(unit_names(Dimension::kHertz), "Hz, kHz, MHz, GHz");
    EXPECT_EQ(unit_names(Dimension::kPlain), "");
    for (const Dimension dimension : kDimensions) {
        std::stringstream names(unit_names(dimension));
        for (std::string name; std::getline(names, name, ',');)
            EXPECT_TRUE(parse_quantity("1 " + name, dimension)) << name;
    }
}

TEST(QuantityExpectedForm, ShowsATextThatIsTaken) {
    for (const auto dimension : {Dimension::kBytes, Dimension::kBytesPerSecond, Dimension::kHertz,
                                 Dimension::kPicoseconds, Dimension::kCycles}) {
        const std::string form = expected_form(dimension);
        const size_t open = form.find('"');
        ASSERT_NE(open, std::string::npos) << form;
        const std::string example = form.substr(open + 1, form.find('"', open + 1) - open - 1);
        EXPECT_TRUE(parse_quantity(example, dimension).has_value())
            << "example \"" << example << '"';
    }
}

}  // namespace
}  // namespace tandem::base
