// SPDX-License-Identifier: Apache-2.0
// Chip files: what is read, how each kind of mistake is told, and what shipped chips promise.
#include "arch/chip_config.h"

#include <gtest/gtest.h>

#include <set>

#include "arch/error.h"
#include "arch/yaml_section.h"
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

/// The chip with more keys in the section that ends with `last`.
std::string with_more(const std::string& last, const std::string& keys) {
    return with(last + "}", last + ", " + keys + "}");
}
std::string with_memory(const std::string& keys) { return with_more("latency: 100 ns", keys); }
std::string with_sequencer(const std::string& keys) {
    return with_more("watchdog: 10000 cycles", keys);
}

std::string with_rows_of_256(const std::string& dtype, const std::string& unified_buffer) {
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

TEST(ChipConfigLoad, TakesABufferOfOneSquareOfActivations) {
    EXPECT_EQ(load(with_rows_of_256("bf16", "128 KiB")).unified_buffer_bytes, 131072u);
    EXPECT_EQ(load(with_rows_of_256("int8", "64 KiB")).unified_buffer_bytes, 65536u);
}

TEST(ChipConfigLoad, KeepsTheDefaultsOfWhatIsLeftOut) {
    const ChipConfig chip = load(kChip), defaults;
    EXPECT_EQ(chip.cores, 1u);
    EXPECT_EQ(chip.mxu.count, 1u);
    EXPECT_EQ(chip.buffer_ports.read_bytes_per_cycle, 0u);
    EXPECT_EQ(chip.buffer_ports.write_bytes_per_cycle, 0u);
    EXPECT_EQ(chip.memory.channels, 1u);
    EXPECT_EQ(chip.memory.channel_interleave, defaults.memory.channel_interleave);
    EXPECT_EQ(chip.memory.efficiency_percent, 100u);
    EXPECT_EQ(chip.memory.refresh_interval_ps, 0u);
    EXPECT_EQ(chip.memory.refresh_duration_ps, 0u);
    EXPECT_EQ(chip.cmem.bytes, 0u);
    EXPECT_FALSE(chip.sequencer.layer_sync);
    EXPECT_EQ(chip.sequencer.sync_cycles, 0u);
    EXPECT_EQ(chip.published.peak_ops_per_second, 0);
    EXPECT_EQ(chip.published.memory_bytes_per_second, 0);
    EXPECT_EQ(chip.published.ridge_ops_per_byte, 0);
}

TEST(ChipConfigLoad, ReadsCoresAndArrays) {
    const ChipConfig chip = load(with_array("int8\n  count: 4") + "cores: 2\n");
    EXPECT_EQ(chip.cores, 2u);
    EXPECT_EQ(chip.mxu.count, 4u);
    EXPECT_EQ(chip.arrays(), 8u);
}

TEST(ChipConfigLoad, TakesAnArrayBeyondWhatTheRtlHas) {
    const ChipConfig chip = load(with("  rows: 8\n  cols: 4", "  rows: 250\n  cols: 1024"));
    EXPECT_EQ(chip.mxu.cols, 1024u);
}

TEST(ChipConfigLoad, ReadsBufferPortsNarrowerThanARow) {
    const ChipConfig chip =
        load(std::string(kChip) + "buffer_ports: {read: 4 B/cycle, write: 3 B/cycle}\n");
    EXPECT_EQ(chip.buffer_ports.read_bytes_per_cycle, 4u);
    EXPECT_EQ(chip.buffer_ports.write_bytes_per_cycle, 3u);
}

TEST(ChipConfigLoad, TakesOneBufferPortAlone) {
    const ChipConfig chip = load(std::string(kChip) + "buffer_ports: {write: 1 KiB/cycle}\n");
    EXPECT_EQ(chip.buffer_ports.read_bytes_per_cycle, 0u);
    EXPECT_EQ(chip.buffer_ports.write_bytes_per_cycle, 1024u);
}

TEST(ChipConfigLoad, ReadsChannelsEfficiencyAndRefresh) {
    const ChipConfig chip =
        load(with_memory("channels: 3, channel_interleave: 512 B, efficiency: 90 %, "
                         "refresh_interval: 7.8 us, refresh_duration: 350 ns"));
    EXPECT_EQ(chip.memory.channels, 3u);
    EXPECT_EQ(chip.memory.channel_interleave, 512u);
    EXPECT_EQ(chip.memory.efficiency_percent, 90u);
    EXPECT_EQ(chip.memory.refresh_interval_ps, 7800000u);
    EXPECT_EQ(chip.memory.refresh_duration_ps, 350000u);
}

TEST(ChipConfigLoad, ReadsCmem) {
    const ChipConfig chip =
        load(std::string(kChip) + "cmem: {size: 1 MiB, bandwidth: 20 GB/s, latency: 50 ns}\n");
    EXPECT_EQ(chip.cmem.bytes, 1048576u);
    EXPECT_EQ(chip.cmem.bytes_per_second, 20000000000u);
    EXPECT_EQ(chip.cmem.latency_ps, 50000u);
}

TEST(ChipConfigLoad, ReadsTheSynchronisationOfLayers) {
    const ChipConfig chip = load(with_sequencer("layer_sync: true, sync_latency: 2500 cycles"));
    EXPECT_TRUE(chip.sequencer.layer_sync);
    EXPECT_EQ(chip.sequencer.sync_cycles, 2500u);
}

TEST(ChipConfigLoad, ReadsWhatIsPublished) {
    const ChipConfig chip =
        load(std::string(kChip) +
             "published: {peak: 1.5 TFLOPS, bandwidth: 3 GB/s, ridge: 9 ops/byte}\n");
    EXPECT_EQ(chip.published.peak_ops_per_second, 1.5e12);
    EXPECT_EQ(chip.published.memory_bytes_per_second, 3e9);
    EXPECT_EQ(chip.published.ridge_ops_per_byte, 9);
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

TEST(ChipConfigFigures, PeakAndRidgeCountEveryArrayOfEveryCore) {
    const ChipConfig chip = load(with_array("int8\n  count: 3") + "cores: 2\n");
    EXPECT_DOUBLE_EQ(chip.peak_ops_per_second(), 6 * load(kChip).peak_ops_per_second()) << "ops/s";
    EXPECT_DOUBLE_EQ(chip.ridge_ops_per_byte(), 6 * load(kChip).ridge_ops_per_byte()) << "ops/byte";
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
                {"mxu.rows (line 5)", "from 1 to 1024", "found 0"}},
        Mistake{"TooLarge",
                with("cols: 4", "cols: 1025"),
                {"mxu.cols (line 6)", "from 1 to 1024", "found 1025"}},
        Mistake{"TooLargeForItsType",
                with("cols: 4", "cols: 4294967297"),
                {"mxu.cols (line 6)", "from 1 to 1024"}},
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
        Mistake{"BufferBelowOneSquareOfBf16",
                with_rows_of_256("bf16", "131071 B"),
                {"unified_buffer (line 10)", "256 x 256, 131072 B", "found 131071 B"}},
        Mistake{"BufferBelowOneSquareOfInt8",
                with_rows_of_256("int8", "32 KiB"),
                {"unified_buffer (line 10)", "activations for one weight tile", "found 32768 B"}},
        Mistake{"OneAccumulatorRow",
                with("accumulator_rows: 64", "accumulator_rows: 1"),
                {"mxu.accumulator_rows (line 8)", "from 2 to 65536", "found 1"}},
        Mistake{"NoFifoTile",
                with("fifo_tiles: 2", "fifo_tiles: 0"),
                {"mxu.weight_fifo_tiles (line 9)", "from 1 to 1024", "found 0"}},
        Mistake{"NoMemoryBandwidth",
                with("3 GB/s", "0 GB/s"),
                {"memory.bandwidth (line 11)", "from 1000000 to", "found 0"}},
        Mistake{"NoHostBandwidth",
                with("4 GB/s", "0 B/s"),
                {"host.bandwidth (line 13)", "from 1000000 to", "found 0"}},
        Mistake{"NoCore",
                std::string(kChip) + "cores: 0\n",
                {"cores (line 15)", "from 1 to 16", "found 0"}},
        Mistake{"TooManyCores",
                std::string(kChip) + "cores: 17\n",
                {"cores (line 15)", "from 1 to 16", "found 17"}},
        Mistake{"NoArray",
                with_array("int8\n  count: 0"),
                {"mxu.count (line 8)", "from 1 to 16", "found 0"}},
        Mistake{"TooManyArrays",
                with_array("int8\n  count: 17"),
                {"mxu.count (line 8)", "from 1 to 16", "found 17"}},
        Mistake{"NoPortWidth",
                std::string(kChip) + "buffer_ports: {read: 0 B/cycle}\n",
                {"buffer_ports.read (line 15)", "from 1 to", "found 0"}},
        Mistake{"PortWidthPerSecond",
                std::string(kChip) + "buffer_ports: {read: 3 B/cycle, write: 3 B/s}\n",
                {"buffer_ports.write (line 15)", "256 B/cycle", "found \"3 B/s\""}},
        Mistake{"UnknownPort",
                std::string(kChip) + "buffer_ports: {reed: 3 B/cycle}\n",
                {"buffer_ports.reed (line 15)", "one of: read, write", "unknown key"}},
        Mistake{"NoChannel",
                with_memory("channels: 0"),
                {"memory.channels (line 11)", "from 1 to 1024", "found 0"}},
        Mistake{"InterleaveWithoutUnit",
                with_memory("channel_interleave: 256"),
                {"memory.channel_interleave (line 11)", "number of bytes", "found \"256\""}},
        Mistake{"NoInterleave",
                with_memory("channel_interleave: 0 B"),
                {"memory.channel_interleave (line 11)", "from 16 to 1048576", "found 0"}},
        Mistake{"NoEfficiency",
                with_memory("efficiency: 0 %"),
                {"memory.efficiency (line 11)", "from 1 to 100", "found 0"}},
        Mistake{"TooMuchEfficiency",
                with_memory("efficiency: 101 %"),
                {"memory.efficiency (line 11)", "from 1 to 100", "found 101"}},
        Mistake{"EfficiencyWithoutUnit",
                with_memory("efficiency: 0.9"),
                {"memory.efficiency (line 11)", "\"90 %\"", "found \"0.9\""}},
        Mistake{"RefreshLongerThanItsInterval",
                with_memory("refresh_interval: 1 us, refresh_duration: 2 us"),
                {"memory.refresh_duration (line 11)", "less than refresh_interval (1000000 ps)",
                 "found 2000000 ps"}},
        Mistake{"RefreshAsLongAsItsInterval",
                with_memory("refresh_interval: 1 us, refresh_duration: 1 us"),
                {"memory.refresh_duration (line 11)", "less than", "found 1000000 ps"}},
        Mistake{"RefreshIntervalAlone",
                with_memory("refresh_interval: 1 us"),
                {"memory.refresh_duration", "line 11", "expected the key", "found nothing"}},
        Mistake{"RefreshDurationAlone",
                with_memory("refresh_duration: 1 us"),
                {"memory.refresh_interval", "line 11", "expected the key", "found nothing"}},
        Mistake{"CmemWithoutBandwidth",
                std::string(kChip) + "cmem: {size: 1 MiB, latency: 1 ns}\n",
                {"cmem.bandwidth", "line 15", "expected the key", "found nothing"}},
        Mistake{"CmemOfZeroBandwidth",
                std::string(kChip) + "cmem: {size: 1 MiB, bandwidth: 0 GB/s, latency: 1 ns}\n",
                {"cmem.bandwidth (line 15)", "from 1000000 to", "found 0"}},
        Mistake{"CmemOfNoSize",
                std::string(kChip) + "cmem: {size: 0 B, bandwidth: 1 GB/s, latency: 1 ns}\n",
                {"cmem.size (line 15)", "from 1024 to", "found 0"}},
        Mistake{"LayerSyncNoTruthValue",
                with_sequencer("layer_sync: yes"),
                {"sequencer.layer_sync (line 14)", "true or false", "found \"yes\""}},
        Mistake{"SyncLatencyWithoutUnit",
                with_sequencer("sync_latency: 5"),
                {"sequencer.sync_latency (line 14)", "8 cycles", "found \"5\""}},
        Mistake{"PublishedPeakOfBytes",
                std::string(kChip) + "published: {peak: 92 GB}\n",
                {"published.peak (line 15)", "92 TOPS", "found \"92 GB\""}},
        Mistake{"PublishedRidgeWithoutUnit",
                std::string(kChip) + "published: {ridge: 225}\n",
                {"published.ridge (line 15)", "225 ops/byte", "found \"225\""}},
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
    EXPECT_EQ(load(kChip).hash(), load(with_array("int8\n  count: 1") + "cores: 1\n").hash());
    EXPECT_EQ(load(kChip).hash(), load(with_memory("channels: 1, efficiency: 100 %")).hash());
    EXPECT_EQ(load(kChip).hash(), load(with_sequencer("layer_sync: false")).hash());
}

TEST(ChipConfigHash, LeavesOutWhatIsOnlyCompared) {
    EXPECT_EQ(load(kChip).hash(),
              load(std::string(kChip) + "published: {peak: 1 TOPS, bandwidth: 3 GB/s}\n").hash());
}

std::string cmem(const std::string& size, const std::string& bandwidth,
                 const std::string& latency) {
    return kChip + ("cmem: {size: " + size) + ", bandwidth: " + bandwidth +
           ", latency: " + latency + "}\n";
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
        {"watchdog", with("10000", "10001")},
        {"cores", std::string(kChip) + "cores: 2\n"},
        {"count", with_array("int8\n  count: 2")},
        {"buffer_ports.read", std::string(kChip) + "buffer_ports: {read: 2 B/cycle}\n"},
        {"buffer_ports.write", std::string(kChip) + "buffer_ports: {write: 2 B/cycle}\n"},
        {"memory.channels", with_memory("channels: 2")},
        {"memory.channel_interleave", with_memory("channel_interleave: 64 B")},
        {"memory.efficiency", with_memory("efficiency: 99 %")},
        {"memory.refresh", with_memory("refresh_interval: 9 us, refresh_duration: 1 us")},
        {"memory.refresh_interval", with_memory("refresh_interval: 8 us, refresh_duration: 1 us")},
        {"memory.refresh_duration", with_memory("refresh_interval: 9 us, refresh_duration: 2 us")},
        {"cmem", cmem("1 MiB", "2 GB/s", "3 ns")},
        {"cmem.size", cmem("2 MiB", "2 GB/s", "3 ns")},
        {"cmem.bandwidth", cmem("1 MiB", "3 GB/s", "3 ns")},
        {"cmem.latency", cmem("1 MiB", "2 GB/s", "4 ns")},
        {"layer_sync", with_sequencer("layer_sync: true")},
        {"sync_latency", with_sequencer("sync_latency: 2 cycles")}};
    std::set<uint64_t> seen = {load(kChip).hash()};
    for (const auto& [figure, text] : changes)
        EXPECT_TRUE(seen.insert(load(text).hash()).second)
            << "hash expected to change with " << figure;
}

}  // namespace
}  // namespace tandem::arch
