// SPDX-License-Identifier: Apache-2.0
// Chip files: what is read, and how each kind of mistake is told.
#include "arch/chip_config.h"

#include <gtest/gtest.h>

#include <set>

#include "arch/error.h"
#include "testbench/support/source_tree.h"

namespace tandem::arch {
namespace {

using testbench::ScratchFile;

constexpr const char* kChip =
    "name: small\n"
    "description: a chip\n"
    "clock: 500 MHz\n"
    "mxu:\n"
    "  rows: 8\n"
    "  cols: 4\n"
    "  dtype: int8\n"
    "  accumulator_rows: 64\n"
    "  weight_fifo_tiles: 2\n"
    "unified_buffer: 64 KiB\n"
    "memory: {size: 64 MiB, bandwidth: 3 GB/s, latency: 100 ns}\n"
    "vector: {lanes: 16, latency: 7 cycles}\n"
    "host: {bandwidth: 4 GB/s, latency: 500 ns, cpu_clock: 600 MHz}\n"
    "sequencer: {queue_entries: 9, watchdog: 10000 cycles}\n";

std::string with(const std::string& old_text, const std::string& new_text) {
    std::string chip = kChip;
    const size_t at = chip.find(old_text);
    EXPECT_NE(at, std::string::npos) << "the test's chip has no \"" << old_text << '"';
    return chip.replace(at, old_text.size(), new_text);
}

/// The chip with other text after "dtype: ".
std::string with_array(const std::string& text) { return with("int8", text); }

std::string with_row_of_256(const std::string& dtype, const std::string& unified_buffer) {
    std::string chip = with("rows: 8", "rows: 256");
    chip.replace(chip.find("int8"), 4, dtype);
    return chip.replace(chip.find("64 KiB"), 6, unified_buffer);
}

ChipConfig load(const std::string& text) {
    const ScratchFile file("chip.yaml", text);
    return load_chip(file.path());
}

TEST(ChipConfigLoad, ReadsEveryFigureInItsUnit) {
    const ChipConfig chip = load(kChip);
    EXPECT_EQ(chip.name, "small");
    EXPECT_EQ(chip.description, "a chip");
    EXPECT_EQ(chip.clock_hz, 500000000u);
    EXPECT_EQ(chip.mxu.rows, 8u);
    EXPECT_EQ(chip.mxu.cols, 4u);
    EXPECT_EQ(chip.mxu.dtype, Dtype::kInt8);
    EXPECT_EQ(chip.mxu.pipeline, 1u) << "where the file says nothing";
    EXPECT_FALSE(chip.mxu.sum4) << "where the file says nothing";
    EXPECT_EQ(chip.mxu.accumulator_rows, 64u);
    EXPECT_EQ(chip.mxu.weight_fifo_tiles, 2u);
    EXPECT_EQ(chip.unified_buffer_bytes, 65536u);
    EXPECT_EQ(chip.memory.bytes, 67108864u);
    EXPECT_EQ(chip.memory.bytes_per_second, 3000000000u);
    EXPECT_EQ(chip.memory.latency_ps, 100000u);
    EXPECT_EQ(chip.vector.lanes, 16u);
    EXPECT_EQ(chip.vector.latency_cycles, 7u);
    EXPECT_EQ(chip.host.bytes_per_second, 4000000000u);
    EXPECT_EQ(chip.host.latency_ps, 500000u);
    EXPECT_EQ(chip.host.cpu_clock_hz, 600000000u);
    EXPECT_EQ(chip.sequencer.queue_entries, 9u);
    EXPECT_EQ(chip.sequencer.watchdog_cycles, 10000u);
}

TEST(ChipConfigLoad, TakesAFigureWithSourceAndNoteForTheBareOne) {
    const ChipConfig chip = load(with("500 MHz", "{value: 500 MHz, source: isca17, note: text}"));
    EXPECT_EQ(chip.hash(), load(kChip).hash());
}

TEST(ChipConfigLoad, ReadsABf16Array) {
    const ChipConfig chip = load(with_array("bf16\n  pipeline: 8\n  sum4: true"));
    EXPECT_EQ(chip.mxu.dtype, Dtype::kBf16);
    EXPECT_EQ(chip.mxu.pipeline, 8u);
    EXPECT_TRUE(chip.mxu.sum4);
}

TEST(ChipConfigLoad, TakesAPipelineForInt8AndALongOneForASmallArray) {
    EXPECT_EQ(load(with_array("int8\n  pipeline: 3")).mxu.pipeline, 3u);
    EXPECT_EQ(load(with_array("int8\n  pipeline: 256\n  sum4: false")).mxu.pipeline, 256u);
}

TEST(ChipConfigLoad, TakesABufferOfOneRow) {
    EXPECT_EQ(load(with_row_of_256("bf16", "512 B")).unified_buffer_bytes, 512u);
    EXPECT_EQ(load(with_row_of_256("int8", "256 B")).unified_buffer_bytes, 256u);
}

TEST(ChipConfigFigures, TileHasOneByteOrTwoPerElement) {
    EXPECT_EQ(load(kChip).tile_bytes(), 32u);
    EXPECT_EQ(load(with_array("bf16")).tile_bytes(), 64u);
}

TEST(Dtype, HasANameThatReadsBack) {
    for (const Dtype dtype : {Dtype::kInt8, Dtype::kBf16})
        EXPECT_EQ(parse_dtype(to_string(dtype)), dtype);
    EXPECT_EQ(parse_dtype("fp16"), std::nullopt);
    EXPECT_EQ(parse_dtype(""), std::nullopt);
}

TEST(RequireInt8Array, RefusesABf16ChipByName) {
    EXPECT_NO_THROW(require_int8_array(load(kChip), "net.tflite"));
    try {
        require_int8_array(load(with_array("bf16")), "net.tflite");
        FAIL() << "expected a UserError, found none";
    } catch (const UserError& error) {
        const std::string message = error.what();
        for (const char* part :
             {"net.tflite: chip small", "expected an int8 array", "found a bf16"})
            EXPECT_NE(message.find(part), std::string::npos)
                << "expected \"" << part << "\" in: " << message;
    }
}

TEST(ChipConfigFigures, PeakCountsTwoOperationsPerCell) {
    EXPECT_DOUBLE_EQ(load(kChip).peak_ops_per_second(), 2.0 * 8 * 4 * 500e6) << "ops/s";
}

TEST(ChipConfigFigures, RidgeIsPeakOverBandwidth) {
    EXPECT_DOUBLE_EQ(load(kChip).ridge_ops_per_byte(), 2.0 * 8 * 4 * 500e6 / 3e9) << "ops/byte";
}

struct Mistake {
    const char* name;
    std::string text;
    std::vector<std::string> told;  ///< parts of the message
};

void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.name; }

class ChipConfigRejects : public testing::TestWithParam<Mistake> {};

TEST_P(ChipConfigRejects, AndSaysFileKeyLineExpectedAndFound) {
    const ScratchFile file("chip.yaml", GetParam().text);
    try {
        load_chip(file.path());
        FAIL() << GetParam().name << ": expected a UserError, found none";
    } catch (const UserError& error) {
        const std::string message = error.what();
        EXPECT_TRUE(message.starts_with(file.path().string() + ": "))
            << "file missing in: " << message;
        for (const std::string& part : GetParam().told)
            EXPECT_NE(message.find(part), std::string::npos)
                << "expected \"" << part << "\" in: " << message;
    }
}

std::string without(const std::string& text) { return with(text, ""); }

INSTANTIATE_TEST_SUITE_P(
    Mistakes, ChipConfigRejects,
    testing::Values(
        Mistake{"UnknownKey",
                std::string(kChip) + "colour: red\n",
                {"colour (line 15)", "expected one of", "found an unknown key"}},
        Mistake{"UnknownKeyInSection",
                with("  rows: 8\n", "  rows: 8\n  depth: 3\n"),
                {"mxu.depth (line 6)", "unknown key"}},
        Mistake{"UnknownKeyInFigure",
                with("500 MHz", "{value: 500 MHz, why: x}"),
                {"clock.why", "line 3", "value, source, note"}},
        Mistake{"DuplicateKey",
                std::string(kChip) + "clock: 600 MHz\n",
                {"clock (line", "expected the key once", "found the key twice"}},
        Mistake{"DuplicateKeyInSection",
                with("  cols: 4\n", "  cols: 4\n  rows: 9\n"),
                {"mxu.rows (line", "twice"}},
        Mistake{"DuplicateKeyInFigure",
                with("500 MHz", "{value: 500 MHz, value: 600 MHz}"),
                {"clock", "line 3", "twice"}},
        Mistake{"FigureWithoutValue",
                with("500 MHz", "{source: isca17}"),
                {"clock.value", "expected the key", "found nothing"}},
        Mistake{"MissingKey",
                without("clock: 500 MHz\n"),
                {"clock", "line 1", "expected the key", "found nothing"}},
        Mistake{"MissingKeyInSection",
                without("  rows: 8\n"),
                {"mxu.rows", "line 5", "expected the key"}},
        Mistake{"MissingSection",
                without("vector: {lanes: 16, latency: 7 cycles}\n"),
                {"vector", "expected the key"}},
        Mistake{"WrongUnit",
                with("500 MHz", "500 MB"),
                {"clock (line 3)", "expected a frequency", "found \"500 MB\""}},
        Mistake{"NoUnit",
                with("64 KiB", "65536"),
                {"unified_buffer (line 10)", "expected a whole number of bytes", "\"65536\""}},
        Mistake{"UnitOnACount",
                with("rows: 8", "rows: 8 cycles"),
                {"mxu.rows (line 5)", "without a unit", "\"8 cycles\""}},
        Mistake{"Fraction",
                with("rows: 8", "rows: 8.5"),
                {"mxu.rows (line 5)", "whole number", "\"8.5\""}},
        Mistake{"Negative", with("rows: 8", "rows: -8"), {"mxu.rows (line 5)", "\"-8\""}},
        Mistake{"TooSmall",
                with("rows: 8", "rows: 0"),
                {"mxu.rows (line 5)", "from 1 to 256", "found 0"}},
        Mistake{"TooLarge",
                with("cols: 4", "cols: 257"),
                {"mxu.cols (line 6)", "from 1 to 256", "found 257"}},
        Mistake{"TooLargeForItsType",
                with("cols: 4", "cols: 4294967297"),
                {"mxu.cols (line 6)", "from 1 to 256"}},
        Mistake{"ClockTooSlow", with("500 MHz", "999 kHz"), {"clock (line 3)", "found 999000"}},
        Mistake{"WatchdogTooShort",
                with("10000 cycles", "999 cycles"),
                {"sequencer.watchdog (line 14)", "found 999"}},
        Mistake{"OtherDtype",
                with("int8", "fp16"),
                {"mxu.dtype (line 7)", "expected int8 or bf16", "found fp16"}},
        Mistake{"NoPipeline",
                with_array("bf16\n  pipeline: 0"),
                {"mxu.pipeline (line 8)", "from 1 to 256", "found 0"}},
        Mistake{"PipelineTooLong",
                with_array("bf16\n  pipeline: 257"),
                {"mxu.pipeline (line 8)", "from 1 to 256", "found 257"}},
        Mistake{"Sum4NoTruthValue",
                with_array("bf16\n  pipeline: 4\n  sum4: 1"),
                {"mxu.sum4 (line 9)", "expected true or false", "found \"1\""}},
        Mistake{"Sum4OfInt8",
                with_array("int8\n  pipeline: 4\n  sum4: true"),
                {"mxu.sum4 (line 9)", "dtype bf16", "found true with dtype int8"}},
        Mistake{"Sum4AcrossARegister",
                with_array("bf16\n  pipeline: 6\n  sum4: true"),
                {"mxu.sum4 (line 9)", "multiple of 4", "found true with pipeline 6"}},
        Mistake{"Sum4WithoutPipeline",
                with_array("bf16\n  sum4: true"),
                {"mxu.sum4 (line 8)", "multiple of 4", "pipeline 1"}},
        Mistake{"BufferBelowOneRowOfBf16",
                with_row_of_256("bf16", "511 B"),
                {"unified_buffer (line 10)", "one activation row (512 B)", "found 511 B"}},
        Mistake{"ListForText",
                with("small", "[a, b]"),
                {"name (line 1)", "expected a text", "found a list"}},
        Mistake{"ScalarForSection",
                with("{lanes: 16, latency: 7 cycles}", "fast"),
                {"vector", "expected a mapping", "found \"fast\""}},
        Mistake{"ListForSection",
                with("{lanes: 16, latency: 7 cycles}", "[1]"),
                {"vector", "a mapping", "a list"}},
        Mistake{"EmptyValue",
                with("500 MHz", ""),
                {"clock (line 3)", "expected a text", "found nothing"}},
        Mistake{"EmptyFile", "", {"top level", "expected a mapping", "found nothing"}},
        Mistake{"ListAtTop", "- a\n", {"top level", "expected a mapping", "found a list"}},
        Mistake{"OpenBracket", with("500 MHz", "[500 MHz"), {"line ", "expected well-formed YAML"}},
        Mistake{"OpenQuote", with("small", "\"small"), {"line 1"}},
        Mistake{"BadIndent", with("  cols", "   cols"), {"line ", "expected well-formed YAML"}},
        Mistake{"KeyThatIsAList", std::string(kChip) + "[1, 2]: x\n", {"line 15"}},
        Mistake{
            "UnknownAnchor", with("500 MHz", "*nowhere"), {"line 3", "expected well-formed YAML"}}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(ChipConfigRejectsFile, ThatIsMissing) {
    try {
        load_chip("no/such/chip.yaml");
        FAIL() << "expected a UserError, found none";
    } catch (const UserError& error) {
        EXPECT_STREQ(error.what(), "no/such/chip.yaml: cannot be read");
    }
}

TEST(ChipConfigHash, TakesADefaultForTheSameWrittenOut) {
    EXPECT_EQ(load(kChip).hash(), load(with_array("int8\n  pipeline: 1\n  sum4: false")).hash());
}

TEST(ChipConfigHash, ChangesWithEachFigure) {
    std::vector<std::pair<const char*, std::string>> changes = {
        {"clock", with("500 MHz", "501 MHz")},
        {"rows", with("rows: 8", "rows: 9")},
        {"cols", with("cols: 4", "cols: 5")},
        {"dtype", with_array("bf16")},
        {"pipeline", with_array("int8\n  pipeline: 4")},
        {"dtype and pipeline", with_array("bf16\n  pipeline: 4")},
        {"sum4", with_array("bf16\n  pipeline: 4\n  sum4: true")},
        {"accumulator_rows", with("rows: 64", "rows: 65")},
        {"weight_fifo_tiles", with("tiles: 2", "tiles: 3")},
        {"unified_buffer", with("64 KiB", "65 KiB")},
        {"memory.size", with("64 MiB", "65 MiB")},
        {"memory.bandwidth", with("3 GB/s", "5 GB/s")},
        {"memory.latency", with("100 ns", "101 ns")},
        {"vector.lanes", with("lanes: 16", "lanes: 17")},
        {"vector.latency", with("7 cycles", "6 cycles")},
        {"host.bandwidth", with("4 GB/s", "6 GB/s")},
        {"host.latency", with("500 ns", "501 ns")},
        {"host.cpu_clock", with("600 MHz", "601 MHz")},
        {"queue_entries", with("entries: 9", "entries: 8")},
        {"watchdog", with("10000", "10001")}};
    std::set<uint64_t> seen = {load(kChip).hash()};
    for (const auto& [figure, text] : changes)
        EXPECT_TRUE(seen.insert(load(text).hash()).second)
            << "hash expected to change with " << figure;
}

class ShippedChip : public testing::Test {
  protected:
    std::filesystem::path chips_ = testbench::source_dir() / "arch" / "chips";
};

TEST_F(ShippedChip, LoadsUnderItsFileName) {
    for (const std::string& name : shipped_chips(chips_))
        EXPECT_EQ(find_chip(name, chips_).name, name) << "name in " << name << ".yaml";
}

TEST_F(ShippedChip, ListIsSorted) {
    const std::vector<std::string> expected = {"test_16x16", "test_16x16_bf16", "test_8x8",
                                               "test_8x8_bf16", "tpu_v1"};
    EXPECT_EQ(shipped_chips(chips_), expected);
}

TEST_F(ShippedChip, IsABf16ArrayWhereItsNameSaysSo) {
    for (const std::string& name : shipped_chips(chips_))
        EXPECT_EQ(find_chip(name, chips_).mxu.dtype == Dtype::kBf16, name.ends_with("_bf16"))
            << name;
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
