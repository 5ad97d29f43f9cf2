// SPDX-License-Identifier: Apache-2.0
// The chips that are shipped: what they say against what is published, and where it comes from.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "arch/chip_config.h"
#include "arch/chip_modes.h"
#include "base/error.h"
#include "base/yaml_section.h"
#include "testbench/support/source_tree.h"

namespace tandem::arch {
namespace {

class ShippedChip : public testing::Test {
  protected:
    /// Chips that somebody made; the others are for tests.
    std::vector<std::string> real_chips() const {
        std::vector<std::string> names = shipped_chips(chips_);
        std::erase_if(names, [](const std::string& name) { return name.starts_with("test_"); });
        return names;
    }
    YAML::Node yaml(const std::string& name) const {
        return base::load_yaml(chips_ / (name + ".yaml"));
    }

    std::filesystem::path chips_ = testbench::source_dir() / "arch" / "chips";
};

TEST_F(ShippedChip, LoadsUnderItsFileName) {
    for (const std::string& name : shipped_chips(chips_))
        EXPECT_EQ(find_chip(name, chips_).name, name) << "name in " << name << ".yaml";
}

TEST_F(ShippedChip, ListIsSorted) {
    const std::vector<std::string> expected = {
        "edge_tpu", "test_16x16", "test_16x16_bf16", "test_8x8", "test_8x8_bf16",
        "tpu_v1",   "tpu_v2",     "tpu_v3",          "tpu_v4",   "tpu_v4i",
        "tpu_v5e",  "tpu_v5p",    "tpu_v6e"};
    EXPECT_EQ(shipped_chips(chips_), expected);
}

TEST_F(ShippedChip, IsABf16ArrayWhereItsNameSaysSo) {
    const std::set<std::string> int8 = {"edge_tpu", "test_16x16", "test_8x8", "tpu_v1"};
    for (const std::string& name : shipped_chips(chips_))
        EXPECT_EQ(find_chip(name, chips_).mxu.dtype == Dtype::kInt8, int8.contains(name)) << name;
}

// From v2 on the vector unit is a machine of registers, each ALU of which does an operation per
// cycle.
TEST_F(ShippedChip, HasAFixedVectorPipelineUpToV1) {
    for (const std::string& name : shipped_chips(chips_)) {
        const bool later = name.starts_with("tpu_v") && name != "tpu_v1";
        EXPECT_EQ(find_chip(name, chips_).vector.fixed_pipeline, !later) << name;
    }
}

/// Half of the last digit that was printed: 0.5 of "92", 0.05 of "2.6", 50 of "2700", whose zeros
/// may be rounded too.
double half_a_digit(const std::string& printed) {
    const size_t point = printed.find('.');
    if (point != std::string::npos)
        return 0.5 * std::pow(10.0, -static_cast<double>(printed.size() - point - 1));
    const size_t zeros = printed.size() - 1 - printed.find_last_not_of('0');
    return 0.5 * std::pow(10.0, static_cast<double>(zeros));
}

TEST(Published, DigitsAreThoseThatArePrinted) {
    EXPECT_DOUBLE_EQ(half_a_digit("92"), 0.5);
    EXPECT_DOUBLE_EQ(half_a_digit("2700"), 50.0);
    EXPECT_DOUBLE_EQ(half_a_digit("136.7"), 0.05);
}

struct PublishedFigure {
    double value = 0, half = 0;  ///< in the base unit
};

/// As the file prints it; nothing when it does not.
std::optional<PublishedFigure> published(const YAML::Node& chip, const std::string& key,
                                         base::Dimension dimension) {
    const YAML::Node node = chip["published"][key];
    if (!node) return std::nullopt;
    const auto text = node["value"].as<std::string>();
    const size_t space = text.find(' ');
    const auto unit =
        static_cast<double>(*base::parse_quantity("1" + text.substr(space), dimension));
    const std::string number = text.substr(0, space);
    return PublishedFigure{std::stod(number) * unit, half_a_digit(number) * unit};
}

TEST_F(ShippedChip, HasThePublishedPeakToThePrintedDigits) {
    for (const std::string& name : real_chips()) {
        const auto peak = published(yaml(name), "peak", base::Dimension::kOpsPerSecond);
        ASSERT_TRUE(peak) << name << ": published.peak is missing";
        EXPECT_NEAR(find_chip(name, chips_).peak_ops_per_second(), peak->value, peak->half)
            << name << ", ops/s";
    }
}

TEST_F(ShippedChip, HasThePublishedPeakInInt8ToThePrintedDigits) {
    size_t chips = 0;
    for (const std::string& name : real_chips()) {
        const ChipConfig chip = find_chip(name, chips_);
        const auto peak = published(yaml(name), "peak_int8", base::Dimension::kOpsPerSecond);
        EXPECT_EQ(peak.has_value(), chip.mxu.int8_rate != 0) << name;
        if (!peak) continue;
        ++chips;
        EXPECT_NEAR(for_dtype(chip, Dtype::kInt8)->peak_ops_per_second(), peak->value, peak->half)
            << name << ", ops/s";
    }
    EXPECT_EQ(chips, 5u);
}

TEST_F(ShippedChip, HasThePublishedBandwidthToThePrintedDigits) {
    for (const std::string& name : real_chips()) {
        const auto bandwidth = published(yaml(name), "bandwidth", base::Dimension::kBytesPerSecond);
        if (!bandwidth && name == "edge_tpu") continue;  // has no memory of its own
        ASSERT_TRUE(bandwidth) << name << ": published.bandwidth is missing";
        EXPECT_NEAR(static_cast<double>(find_chip(name, chips_).memory.bytes_per_second),
                    bandwidth->value, bandwidth->half)
            << name << ", bytes/s";
    }
}

// Where no ridge point is printed, it lies between the extremes of the figures that are.
TEST_F(ShippedChip, HasTheRidgePointOfThePublishedFigures) {
    for (const std::string& name : real_chips()) {
        const YAML::Node file = yaml(name);
        const double ridge = find_chip(name, chips_).ridge_ops_per_byte();
        if (const auto printed = published(file, "ridge", base::Dimension::kOpsPerByte)) {
            EXPECT_NEAR(ridge, printed->value, printed->half) << name << ", ops/byte";
        }
        const auto peak = published(file, "peak", base::Dimension::kOpsPerSecond);
        const auto bandwidth = published(file, "bandwidth", base::Dimension::kBytesPerSecond);
        if (!peak || !bandwidth) continue;
        EXPECT_GE(ridge, (peak->value - peak->half) / (bandwidth->value + bandwidth->half)) << name;
        EXPECT_LE(ridge, (peak->value + peak->half) / (bandwidth->value - bandwidth->half)) << name;
    }
}

/// Calls `figure` for every figure below `node`.
void for_each_figure(const YAML::Node& node, const std::string& path,
                     const std::function<void(const std::string&, const YAML::Node&)>& figure) {
    for (const auto& entry : node) {
        const std::string key = path + entry.first.as<std::string>();
        const YAML::Node child = entry.second;
        if (child.IsMap() && !child["value"] && !child["source"])
            for_each_figure(child, key + ".", figure);
        else if (key != "name" && key != "description")
            figure(key, child);
    }
}

TEST_F(ShippedChip, NamesASourceForEveryFigure) {
    const std::filesystem::path readme = testbench::source_dir() / "arch" / "README.md";
    const std::string rows = testbench::read_text(readme);
    for (const std::string& name : real_chips())
        for_each_figure(yaml(name), "", [&](const std::string& key, const YAML::Node& figure) {
            ASSERT_TRUE(figure.IsMap() && figure["source"]) << name << ": " << key;
            const auto source = figure["source"].as<std::string>();
            EXPECT_TRUE(rows.find("| `" + source + "` |") != std::string::npos)
                << name << ": " << key << ": " << readme << " has no row for " << source;
            const bool explain =
                source == "assumed" || source == "derived" || source == "calibrated";
            EXPECT_TRUE(!explain || figure["note"]) << name << ": " << key << ": says not why";
        });
}

TEST_F(ShippedChip, TpuV1HasThePublishedFigures) {
    const ChipConfig chip = find_chip("tpu_v1", chips_);
    EXPECT_EQ(chip.clock_hz, 700000000u) << "Hz";
    EXPECT_EQ(chip.tile_bytes(), 65536u) << "bytes of a tile";
    EXPECT_EQ(chip.unified_buffer_bytes, 25165824u) << "bytes";
    EXPECT_EQ(chip.memory.bytes_per_second, 34000000000u) << "bytes/s";
    EXPECT_NEAR(chip.peak_ops_per_second(), 92e12, 0.5e12) << "ops/s";
}

TEST_F(ShippedChip, RejectsAnUnknownNameAndListsTheKnown) {
    try {
        find_chip("tpu_v9", chips_);
        FAIL() << "expected a UserError, found none";
    } catch (const UserError& error) {
        const std::string message = error.what();
        for (const char* part : {"tpu_v9", "test_8x8", "test_16x16", "tpu_v1"})
            EXPECT_NE(message.find(part), std::string::npos)
                << "expected \"" << part << "\" in: " << message;
    }
}

TEST_F(ShippedChip, IsFoundByPathToo) {
    EXPECT_EQ(find_chip((chips_ / "test_8x8.yaml").string(), chips_).name, "test_8x8");
}

}  // namespace
}  // namespace tandem::arch
