// SPDX-License-Identifier: Apache-2.0
// The table of figures, row by row: ranges, defaults, writing and reading back, hash, document.
// What single rows say is pinned by chip_config_test and chip_mistakes_test.
#include "arch/chip_figures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <sstream>

#include "arch/chip_rules.h"
#include "base/error.h"
#include "testbench/support/source_tree.h"

namespace tandem::arch {
namespace {

using testbench::ScratchFile;

/// Figures as a chip file writes them, by path.
using Texts = std::map<std::string, std::string>;

/// A chip in which each figure alone may become one more or less without breaking a rule.
Texts lenient_chip() {
    return {{"name", "lenient"},
            {"description", "text"},
            {"clock", "500 MHz"},
            {"mxu.rows", "8"},
            {"mxu.cols", "4"},
            {"mxu.dtype", "bf16"},
            {"mxu.pipeline", "4"},
            {"mxu.accumulator_rows", "64"},
            {"mxu.weight_fifo_tiles", "2"},
            {"unified_buffer", "64 KiB"},
            {"buffer_ports.read", "8 B/cycle"},
            {"buffer_ports.write", "8 B/cycle"},
            {"memory.size", "64 MiB"},
            {"memory.bandwidth", "3 GB/s"},
            {"memory.latency", "100 ns"},
            {"memory.refresh_interval", "8 us"},
            {"memory.refresh_duration", "300 ns"},
            {"cmem.size", "1 MiB"},
            {"cmem.bandwidth", "20 GB/s"},
            {"cmem.latency", "50 ns"},
            {"vector.lanes", "16"},
            {"vector.latency", "7 cycles"},
            {"host.bandwidth", "4 GB/s"},
            {"host.latency", "500 ns"},
            {"host.cpu_clock", "600 MHz"},
            {"sequencer.queue_entries", "9"},
            {"sequencer.watchdog", "10000 cycles"}};
}

std::string yaml(const Texts& texts) {
    std::map<std::string, std::string> sections;
    std::string top;
    for (const auto& [path, text] : texts) {
        const size_t dot = path.find('.');
        if (dot == std::string::npos)
            top += path + ": " + text + "\n";
        else
            sections[path.substr(0, dot)] += "  " + path.substr(dot + 1) + ": " + text + "\n";
    }
    for (const auto& [section, keys] : sections) top += section + ":\n" + keys;
    return top;
}

ChipConfig load(const Texts& texts, const std::vector<std::string>& sets = {}) {
    const ScratchFile file("chip.yaml", yaml(texts));
    return load_chip(file.path(), sets);
}

/// What load() says; empty when it is content.
std::string refusal(const Texts& texts, const std::vector<std::string>& sets = {}) {
    try {
        load(texts, sets);
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

Texts with(const std::string& path, const std::string& text) {
    Texts texts = lenient_chip();
    texts[path] = text;
    return texts;
}

void expect_told(const std::string& message, const std::vector<std::string>& parts) {
    for (const std::string& part : parts)
        EXPECT_NE(message.find(part), std::string::npos)
            << "expected \"" << part << "\" in: " << message;
}

/// Another value than the lenient chip's, as a chip file writes it.
std::string another(const ChipFigure& figure) {
    const ChipConfig chip = load(lenient_chip());
    const uint64_t value = figure.value(chip);
    if (figure.is_flag()) return value != 0 ? "false" : "true";
    if (figure.is_dtype()) return value != 0 ? "int8" : "bf16";
    return base::format_quantity(value < figure.high ? value + 1 : value - 1, figure.dimension);
}

/// By path.
class Figure : public testing::TestWithParam<std::string> {
  protected:
    const std::string path_ = GetParam();
    const ChipFigure& figure_ = *find_figure(path_);
};

class NumberFigure : public Figure {};

std::vector<std::string> number_paths() {
    std::vector<std::string> paths;
    for (const ChipFigure& figure : chip_figures())
        if (figure.is_number()) paths.emplace_back(figure.path);
    return paths;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
    std::string name = info.param;
    std::replace(name.begin(), name.end(), '.', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Table, Figure, testing::ValuesIn(settable_paths()), test_name);
INSTANTIATE_TEST_SUITE_P(Table, NumberFigure, testing::ValuesIn(number_paths()), test_name);

TEST_P(NumberFigure, OutOfRangeIsRefusedInAFileAndOnTheCommandLine) {
    const auto text = [&](uint64_t value) {
        return base::format_quantity(value, figure_.dimension);
    };
    // Numbers are read as doubles: above 2^53 the next one is not one more.
    const double next = std::nextafter(static_cast<double>(figure_.high), HUGE_VAL);
    std::vector<std::string> beyond = {
        text(std::max(figure_.high + 1, static_cast<uint64_t>(next)))};
    if (figure_.low > 0) beyond.push_back(text(figure_.low - 1));
    for (const std::string& value : beyond) {
        const std::vector<std::string> told = {
            "from " + text(figure_.low) + " to " + text(figure_.high), "found " + value};
        expect_told(refusal(with(path_, value)), told);
        expect_told(refusal(with(path_, value)), {path_ + " (line "});
        const std::string message = refusal(lenient_chip(), {path_ + "=" + value});
        expect_told(message, told);
        EXPECT_TRUE(message.starts_with("--set: " + path_ + ": expected ")) << message;
    }
}

TEST_P(Figure, OfAnotherUnitIsRefused) {
    for (const std::string& text : {std::string("fast"), std::string("1 parsec")}) {
        expect_told(refusal(with(path_, text)), {path_ + " (line ", "expected ", text});
        expect_told(refusal(lenient_chip(), {path_ + "=" + text}),
                    {"--set: " + path_ + ": expected ", text});
    }
}

TEST_P(Figure, IsReadFromAFileAndSetAndLeavesTheOthersAlone) {
    const ChipConfig before = load(lenient_chip());
    const std::string text = another(figure_);
    for (const ChipConfig& chip :
         {load(with(path_, text)), load(lenient_chip(), {path_ + "=" + text})}) {
        EXPECT_EQ(figure_.written(chip), text);
        for (const ChipFigure& other : chip_figures())
            EXPECT_EQ(other.value(chip) == other.value(before),
                      other.path != figure_.path || other.is_text())
                << other.path;
    }
}

TEST_P(Figure, ChangesTheHashUnlessItIsOnlyCompared) {
    const bool published = path_.starts_with("published.");
    EXPECT_EQ(load(with(path_, another(figure_))).hash() == load(lenient_chip()).hash(), published);
}

TEST_P(Figure, IsAskedForOrHasADefault) {
    Texts texts = lenient_chip();
    texts.erase(path_);
    // A rule asks for the other half of a refresh.
    const bool of_rule = path_.starts_with("memory.refresh");
    const std::string message = refusal(texts);
    if (figure_.presence == Presence::kOptional && !of_rule) {
        EXPECT_EQ(message, "");
        EXPECT_EQ(figure_.value(load(texts)), figure_.value(ChipConfig{}));
        EXPECT_TRUE(figure_.has_default_value(load(texts)));
    } else {
        expect_told(message, {path_, "expected the key, found nothing"});
    }
}

TEST(Figures, HaveAHashOfTheirOwnEach) {
    std::set<uint64_t> seen = {load(lenient_chip()).hash()};
    for (const ChipFigure& figure : chip_figures())
        if (figure.is_hashed()) {
            const std::string path(figure.path);
            EXPECT_TRUE(seen.insert(load(with(path, another(figure))).hash()).second) << path;
        }
}

TEST(Figures, WrittenOutGiveTheSameChip) {
    Texts texts = lenient_chip();
    for (const ChipFigure& figure : chip_figures())
        if (!figure.is_text() && texts.contains(std::string(figure.path)))
            texts[std::string(figure.path)] = figure.written(load(lenient_chip()));
    EXPECT_EQ(load(texts).hash(), load(lenient_chip()).hash());
}

TEST(Figures, AreRowsThatMakeSense) {
    std::set<std::string_view> paths;
    const ChipConfig defaults;
    for (const ChipFigure& figure : chip_figures()) {
        EXPECT_TRUE(paths.insert(figure.path).second) << figure.path << " stands twice";
        EXPECT_EQ(find_figure(figure.path), &figure);
        EXPECT_EQ(figure.text.find_first_of("|\n"), std::string_view::npos) << figure.path;
        EXPECT_FALSE(figure.text.empty()) << figure.path;
        EXPECT_LE(figure.low, figure.high) << figure.path;
        ChipConfig chip;
        if (std::holds_alternative<uint32_t*>(figure.member(chip))) {
            EXPECT_LE(figure.high, std::numeric_limits<uint32_t>::max()) << figure.path;
        }
        if (figure.presence == Presence::kOptional && figure.is_number()) {
            EXPECT_TRUE(figure.value(defaults) == 0 || figure.value(defaults) >= figure.low)
                << figure.path << ": its default is neither none nor in its range";
            EXPECT_LE(figure.value(defaults), figure.high) << figure.path;
        }
    }
    EXPECT_EQ(find_figure("mxu"), nullptr);
    EXPECT_EQ(find_figure(""), nullptr);
}

TEST(ChipRules, NameFiguresOfTheTable) {
    for (const ChipRule& rule : chip_rules()) {
        EXPECT_GE(rule.keys.size(), 2u);
        for (const auto key : rule.keys) EXPECT_NE(find_figure(key), nullptr) << key;
    }
}

TEST(ChipFiguresDocument, HasTheTable) {
    const std::string document =
        testbench::read_text(testbench::source_dir() / "docs/recipes/add_a_chip.md");
    const std::string begin = "<!-- figures: written by scripts/figures -->\n",
                      end = "<!-- end of figures -->\n";
    const size_t from = document.find(begin), to = document.find(end);
    ASSERT_NE(from, std::string::npos);
    ASSERT_NE(to, std::string::npos);
    EXPECT_EQ(document.substr(from + begin.size(), to - from - begin.size()),
              chip_figures_markdown())
        << "run scripts/figures";
}

}  // namespace
}  // namespace tandem::arch
