// SPDX-License-Identifier: Apache-2.0
// Mistakes in chip files: each kind is told with file, key, line, what was expected and what was
// found.
#include "base/error.h"
#include "testbench/unit/arch/small_chip.h"

namespace tandem::arch {
namespace {

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
        Mistake{"ClockTooSlow",
                with("500 MHz", "999 kHz"),
                {"clock (line 3)", "from 1 MHz to 10 GHz", "found 999 kHz"}},
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
        Mistake{"Int8RateOfInt8",
                with_array("int8\n  int8_rate: 2"),
                {"mxu.int8_rate (line 8)", "dtype bf16", "found 2 with dtype int8"}},
        Mistake{"Int8RateThatNoChipHas",
                with_array("bf16\n  int8_rate: 3"),
                {"mxu.int8_rate (line 8)", "from 0 to 2", "found 3"}},
        Mistake{"BufferBelowOneSquareOfItsInt8",
                with_rows_of_256("bf16\n  int8_rate: 2", "262143 B"),
                {"unified_buffer (line 11)", "512 x 512, 262144 B", "found 262143 B"}},
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
                {"memory.bandwidth (line 11)", "from 1 MB/s to 100 TB/s", "found 0 GB/s"}},
        Mistake{"NoHostBandwidth",
                with("4 GB/s", "0 B/s"),
                {"host.bandwidth (line 13)", "from 1 MB/s to 10 TB/s", "found 0 B/s"}},
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
        Mistake{
            "NoPortWidth",
            std::string(kChip) + "buffer_ports: {read: 0 B/cycle}\n",
            {"buffer_ports.read (line 15)", "from 1 B/cycle to 1024 KiB/cycle", "found 0 B/cycle"}},
        Mistake{"PortWidthPerSecond",
                std::string(kChip) + "buffer_ports: {read: 3 B/cycle, write: 3 B/s}\n",
                {"buffer_ports.write (line 15)", "256 B/cycle", "found \"3 B/s\""}},
        Mistake{
            "UnknownPort",
            std::string(kChip) + "buffer_ports: {reed: 3 B/cycle}\n",
            {"buffer_ports.reed (line 15)", "one of: read, write (nearest: read)", "unknown key"}},
        Mistake{"NoChannel",
                with_memory("channels: 0"),
                {"memory.channels (line 11)", "from 1 to 1024", "found 0"}},
        Mistake{"InterleaveWithoutUnit",
                with_memory("channel_interleave: 256"),
                {"memory.channel_interleave (line 11)", "number of bytes", "found \"256\""}},
        Mistake{"NoInterleave",
                with_memory("channel_interleave: 0 B"),
                {"memory.channel_interleave (line 11)", "from 16 B to 1 MiB", "found 0 B"}},
        Mistake{"NoEfficiency",
                with_memory("efficiency: 0 %"),
                {"memory.efficiency (line 11)", "from 1 % to 100 %", "found 0 %"}},
        Mistake{"TooMuchEfficiency",
                with_memory("efficiency: 101 %"),
                {"memory.efficiency (line 11)", "from 1 % to 100 %", "found 101 %"}},
        Mistake{"EfficiencyWithoutUnit",
                with_memory("efficiency: 0.9"),
                {"memory.efficiency (line 11)", "\"90 %\"", "found \"0.9\""}},
        Mistake{"RefreshLongerThanItsInterval",
                with_memory("refresh_interval: 1 us, refresh_duration: 2 us"),
                {"memory.refresh_duration (line 11)", "less than refresh_interval (1 us)",
                 "found 2 us"}},
        Mistake{"RefreshAsLongAsItsInterval",
                with_memory("refresh_interval: 1 us, refresh_duration: 1 us"),
                {"memory.refresh_duration (line 11)", "less than", "found 1 us"}},
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
                {"cmem.bandwidth (line 15)", "from 1 MB/s to", "found 0 GB/s"}},
        Mistake{"CmemOfNoSize",
                std::string(kChip) + "cmem: {size: 0 B, bandwidth: 1 GB/s, latency: 1 ns}\n",
                {"cmem.size (line 15)", "from 1 KiB to 16 GiB", "found 0 B"}},
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

}  // namespace
}  // namespace tandem::arch
