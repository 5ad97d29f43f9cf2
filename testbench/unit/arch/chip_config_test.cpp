// SPDX-License-Identifier: Apache-2.0
// Chip files: what is read, and what follows from it.
#include <algorithm>

#include "base/error.h"
#include "testbench/unit/arch/small_chip.h"

namespace tandem::arch {
namespace {

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
    EXPECT_EQ(chip.memory.efficiency_percent, 90u);
    EXPECT_EQ(chip.memory.refresh_interval_ps, 0u);
    EXPECT_EQ(chip.memory.refresh_duration_ps, 0u);
    EXPECT_EQ(chip.cmem.bytes, 0u);
    EXPECT_TRUE(chip.vector.fixed_pipeline);
    EXPECT_EQ(chip.vector.transcendental_lanes, 0u);
    EXPECT_EQ(chip.vector.drain_lanes, 0u);
    EXPECT_EQ(chip.dma.in_flight, 1u);
    EXPECT_FALSE(chip.sequencer.layer_sync);
    EXPECT_EQ(chip.sequencer.program_launch_ps, 0u);
    EXPECT_EQ(chip.sequencer.kernel_launch_ps, 0u);
    EXPECT_EQ(chip.sequencer.sync_latency_ps, 0u);
    EXPECT_EQ(chip.sequencer.cross_core_latency_ps, 0u);
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
        load(with_memory("channels: 3, channel_interleave: 512 B, efficiency: 80 %, "
                         "refresh_interval: 7.8 us, refresh_duration: 350 ns"));
    EXPECT_EQ(chip.memory.channels, 3u);
    EXPECT_EQ(chip.memory.channel_interleave, 512u);
    EXPECT_EQ(chip.memory.efficiency_percent, 80u);
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

TEST(ChipConfigLoad, ReadsAVectorUnitOfSteps) {
    const ChipConfig chip = load(with(
        "latency: 7 cycles", "latency: 7 cycles, fixed_pipeline: false, transcendental_lanes: 4"));
    EXPECT_FALSE(chip.vector.fixed_pipeline);
    EXPECT_EQ(chip.vector.transcendental_lanes, 4u);
}

TEST(ChipConfigLoad, ReadsTheSynchronisationOfLayers) {
    const ChipConfig chip = load(with_sequencer("layer_sync: true, sync_latency: 2500 ns"));
    EXPECT_TRUE(chip.sequencer.layer_sync);
    EXPECT_EQ(chip.sequencer.sync_latency_ps, 2500000u);
    EXPECT_EQ(chip.sync_cycles(), 1250u) << "at 500 MHz";
}

TEST(ChipConfigLoad, ReadsTheTimesOfTheSequencer) {
    const ChipConfig chip = load(with_sequencer(
        "program_launch: 1.5 us, kernel_launch: 300 ns, cross_core_latency: 100 ns"));
    EXPECT_EQ(chip.sequencer.program_launch_ps, 1500000u);
    EXPECT_EQ(chip.sequencer.kernel_launch_ps, 300000u);
    EXPECT_EQ(chip.sequencer.cross_core_latency_ps, 100000u);
}

TEST(ChipConfigLoad, TellsWhichFiguresAreDefaults) {
    const auto has = [](const ChipConfig& chip, const std::string& path) {
        return std::ranges::count(chip.defaulted, path) == 1;
    };
    EXPECT_TRUE(has(load(kChip), "memory.efficiency"));
    EXPECT_TRUE(has(load(kChip), "cores"));
    EXPECT_FALSE(has(load(kChip), "clock")) << "which the file gives";
    EXPECT_FALSE(has(load(with_memory("efficiency: 90 %")), "memory.efficiency"))
        << "stated, though it is the default";
    EXPECT_FALSE(has(load(kChip, {"memory.efficiency=90%"}), "memory.efficiency"));
    EXPECT_FALSE(has(load(kChip), "published.peak")) << "which has no default";
}

TEST(ChipConfigLoad, ReadsWhatIsPublished) {
    const ChipConfig chip =
        load(std::string(kChip) +
             "published: {peak: 1.5 TFLOPS, bandwidth: 3 GB/s, ridge: 9 ops/byte}\n");
    EXPECT_EQ(chip.published.peak_ops_per_second, 1.5e12);
    EXPECT_EQ(chip.published.memory_bytes_per_second, 3e9);
    EXPECT_EQ(chip.published.ridge_ops_per_byte, 9);
}

// 700 MHz: a cycle is 10000/7 ps. 2572 cycles are 3674285.7 ps, 2573 are 3675714.3.
TEST(ChipConfigFigures, TimesTakeWholeCyclesRoundedUp) {
    ChipConfig chip;
    chip.clock_hz = 700'000'000;
    EXPECT_EQ(chip.cycles_in(0), 0u);
    EXPECT_EQ(chip.cycles_in(1), 1u);
    EXPECT_EQ(chip.cycles_in(1'428), 1u);
    EXPECT_EQ(chip.cycles_in(1'429), 2u);
    EXPECT_EQ(chip.cycles_in(3'674'285), 2572u);
    EXPECT_EQ(chip.cycles_in(3'675'000), 2573u) << "2572.5";
    EXPECT_EQ(chip.cycles_in(3'675'714), 2573u);
    EXPECT_EQ(chip.cycles_in(1'000'000'000), 700'000u) << "a millisecond, exactly";
    chip.clock_hz = 10'000'000'000;
    EXPECT_EQ(chip.cycles_in(100), 1u);
    EXPECT_EQ(chip.cycles_in(1'000'000'000'000'000), 10'000'000'000'000u) << "no overflow";
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

TEST(ChipConfigLoad, ADrainTakesALaneForEachColumnOrWhatTheFileSays) {
    ChipConfig chip = load(with("lanes: 16", "lanes: 16, drain_lanes: 5"));
    EXPECT_EQ(chip.drain_lanes(), 5u);
    EXPECT_EQ(chip.drains_at_a_time(), 3u);
    chip = load(kChip);  // 4 columns, 16 lanes
    EXPECT_EQ(chip.drain_lanes(), 4u);
    EXPECT_EQ(chip.drains_at_a_time(), 4u);
    chip.vector.lanes = 3;
    EXPECT_EQ(chip.drain_lanes(), 3u);
    EXPECT_EQ(chip.drains_at_a_time(), 1u);
}

TEST(ChipConfigLoad, ReadsTransfersInFlight) {
    EXPECT_EQ(load(std::string(kChip) + "dma: {in_flight: 6}\n").dma.in_flight, 6u);
}

}  // namespace
}  // namespace tandem::arch
