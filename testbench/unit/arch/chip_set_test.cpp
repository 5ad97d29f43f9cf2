// SPDX-License-Identifier: Apache-2.0
// Figures that a command line changes: what is taken, what is refused and who is blamed.
#include "base/error.h"
#include "testbench/unit/arch/small_chip.h"

namespace tandem::arch {
namespace {

using Sets = std::vector<std::string>;

std::string refusal(const Sets& sets, const std::string& chip = kChip) {
    try {
        load(chip, sets);
    } catch (const UserError& error) {
        return error.what();
    }
    return "nothing refused";
}

TEST(ChipSet, TakesThePlaceOfTheFile) {
    const ChipConfig chip = load(kChip, {"mxu.rows=32", "clock=1.05GHz", "mxu.dtype=bf16"});
    EXPECT_EQ(chip.mxu.rows, 32u);
    EXPECT_EQ(chip.clock_hz, 1050000000u);
    EXPECT_EQ(chip.mxu.dtype, Dtype::kBf16);
    EXPECT_EQ(chip.mxu.cols, 4u) << "which nobody changed";
}

TEST(ChipSet, AddsWhatTheFileLeavesOut) {
    const ChipConfig chip =
        load(kChip, {"mxu.count=2", "buffer_ports.read=64 B/cycle", "sequencer.layer_sync=true",
                     "cmem.size=1MiB", "cmem.bandwidth=2 TB/s", "cmem.latency=0 ns"});
    EXPECT_EQ(chip.mxu.count, 2u);
    EXPECT_EQ(chip.buffer_ports.read_bytes_per_cycle, 64u);
    EXPECT_TRUE(chip.sequencer.layer_sync);
    EXPECT_EQ(chip.cmem.bytes, 1048576u);
    EXPECT_EQ(chip.cmem.bytes_per_second, 2000000000000u);
}

TEST(ChipSet, KeepsTheNameAndTellsTheChanges) {
    const Sets sets = {"mxu.count=2", "memory.bandwidth=1200GB/s"};
    const ChipConfig chip = load(kChip, sets);
    EXPECT_EQ(chip.name, "small");
    EXPECT_EQ(chip.overrides, sets);
    EXPECT_TRUE(load(kChip).overrides.empty());
}

TEST(ChipSet, GivesTheHashOfTheSameFile) {
    EXPECT_EQ(load(kChip, {"mxu.rows=9"}).hash(), load(with("rows: 8", "rows: 9")).hash());
    EXPECT_EQ(load(kChip, {"mxu.rows=8"}).hash(), load(kChip).hash()) << "which changes nothing";
}

TEST(ChipSet, NamesTheNearestKeyOfOneThatNobodyKnows) {
    EXPECT_EQ(refusal({"mxu.cuont=2"}),
              "--set: mxu.cuont: expected a key of a chip (nearest: mxu.count), found an unknown "
              "key");
    EXPECT_EQ(refusal({"rows=2"}),
              "--set: rows: expected a key of a chip (nearest: mxu.rows), found an unknown key");
    EXPECT_EQ(refusal({"colour=red"}),
              "--set: colour: expected a key of a chip, found an unknown key");
    EXPECT_EQ(refusal({"mxu=2"}), "--set: mxu: expected a key of a chip, found an unknown key")
        << "a section is no figure";
}

TEST(ChipSet, RefusesWhatIsNoKeyAndValue) {
    EXPECT_EQ(refusal({"mxu.count"}),
              "--set: \"mxu.count\": expected KEY=VALUE such as mxu.count=2, found no \"=\"");
    EXPECT_EQ(refusal({"=2"}),
              "--set: \"=2\": expected KEY=VALUE such as mxu.count=2, found no key");
    EXPECT_EQ(refusal({"mxu.count="}),
              "--set: mxu.count: expected a whole number without a unit, found \"\"");
    EXPECT_EQ(refusal({"mxu.count=2", "mxu.count=3"}),
              "--set: mxu.count: expected the key once, found the key twice");
    EXPECT_EQ(refusal({"name=other"}),
              "--set: name: expected a key of a chip, found a text, which stays the file's");
}

TEST(ChipSet, IsBlamedForARuleThatItBreaks) {
    EXPECT_EQ(refusal({"mxu.sum4=true"}),
              "--set: mxu.sum4: expected false, or dtype bf16, found true with dtype int8");
    EXPECT_EQ(refusal({"mxu.pipeline=6"}, with_array("bf16\n  pipeline: 4\n  sum4: true")),
              "--set: mxu.sum4: expected false, or a pipeline that is a multiple of 4, found true "
              "with pipeline 6");
    EXPECT_EQ(refusal({"mxu.int8_rate=1"}),
              "--set: mxu.int8_rate: expected 0, or dtype bf16, found 1 with dtype int8");
    EXPECT_EQ(refusal({"mxu.rows=513"}, with_array("bf16\n  int8_rate: 2")),
              "--set: mxu.int8_rate: expected at most 1024 rows of int8, found 1026");
    EXPECT_EQ(refusal({"mxu.rows=1024"}),
              "--set: unified_buffer: expected at least a square of activations for one weight "
              "tile (1024 x 1024, 1048576 B), found 65536 B");
    EXPECT_EQ(refusal({"memory.refresh_interval=1us", "memory.refresh_duration=2us"}),
              "--set: memory.refresh_duration: expected less than refresh_interval (1 us), found 2 "
              "us");
    EXPECT_EQ(refusal({"memory.refresh_interval=1us"}),
              "--set: memory.refresh_duration: expected the key, found nothing");
    EXPECT_EQ(refusal({"mxu.dtype=bf16"}, std::string(kChip) + "buffer_ports: {read: 1 B/cycle}\n"),
              "--set: buffer_ports.read: expected at least one element of mxu.dtype bf16 (2 "
              "B/cycle), found 1 B/cycle");
    EXPECT_EQ(refusal({"vector.lanes=4"}, with("lanes: 16", "lanes: 16, drain_lanes: 8")),
              "--set: vector.drain_lanes: expected at most vector.lanes (4), found 8");
    EXPECT_EQ(refusal({"dma.in_flight=0"}),
              "--set: dma.in_flight: expected a value from 1 to 1024, found 0");
    EXPECT_EQ(refusal({"sequencer.kernel_launch=1 ms"}),
              "--set: sequencer.kernel_launch: expected less than sequencer.watchdog (10000 "
              "cycles), found 1 ms (500000 cycles)");
}

TEST(ChipSet, IsNotBlamedForWhatTheFileBreaksAlone) {
    const std::string message =
        refusal({"vector.lanes=4"}, with_array("int8\n  pipeline: 4\n  sum4: true"));
    EXPECT_NE(message.find("chip.yaml: mxu.sum4 (line 9): "), std::string::npos) << message;
}

TEST(ChipSet, AsksForTheRestOfASection) {
    EXPECT_EQ(refusal({"cmem.size=1MiB"}),
              "--set: cmem.bandwidth: expected the key, found nothing");
}

}  // namespace
}  // namespace tandem::arch
