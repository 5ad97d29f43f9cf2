// SPDX-License-Identifier: Apache-2.0
// One product of one tile, followed cycle by cycle from the first fetch to the end by the rules of
// docs/timing.md; and what a layer that does not fit is told.
#include <gtest/gtest.h>

#include <stdexcept>

#include "arch/error.h"
#include "explore/workload_run.h"

namespace tandem::explore {
namespace {

/// 8 x 8 array at 1 GHz; memory 8 bytes a cycle after 50 cycles; everything fits.
arch::ChipConfig plain_chip() {
    arch::ChipConfig chip;
    chip.name = "plain";
    chip.clock_hz = 1'000'000'000;
    chip.mxu = {8, 8, arch::Dtype::kInt8, 1, false, 64, 2};
    chip.unified_buffer_bytes = 4096;
    chip.memory = {1 << 20, 8'000'000'000, 50'000};
    chip.vector = {8, 8};
    chip.host = {8'000'000'000, 500'000, 500'000'000};
    chip.sequencer = {16, 1'000'000};
    return chip;
}

workload::Workload product(uint64_t m, uint64_t k, uint64_t n) {
    workload::Layer layer;
    layer.name = "only";
    layer.where = "hand.csv:2";
    layer.m = m;
    layer.k = k;
    layer.n = n;
    layer.input_elements = m * k;
    layer.output_elements = m * n;
    workload::Workload workload;
    workload.name = workload.file = "hand";
    workload.layers = {layer};
    return workload;
}

uint64_t cause(const WorkloadResult& result, const std::string& unit, const std::string& name) {
    for (const auto& each : result.units)
        if (each.name == "core0." + unit) return each.causes.at(name);
    ADD_FAILURE() << "no unit " << unit;
    return 0;
}

constexpr uint64_t kLatency = 50, kFetch = 256 / 8;  // cycles
constexpr uint64_t kRows = 20, kInput = kRows * 8 / 8, kOutput = kRows * 8 / 8, kTile = 64 / 8;
constexpr uint64_t kDrain = 2 + (kRows - 1) * 1 + 8;  // a row each cycle, latency 8

// set_window, read_weights, read_memory, nop, matmul, activate, set_pool_window, write_memory;
// halt.
TEST(WorkloadCycles, AreThoseOfTheStepsWithoutLayerSync) {
    const auto result = run_workload_apart(product(kRows, 8, 8), plain_chip());
    const uint64_t fetched = kFetch + kLatency;    // 82: first block; the second one is asked for
    const uint64_t second = fetched + kFetch;      // 114: it is through, 50 later it is there
    const uint64_t tile_through = second + kTile;  // asked for at 83
    const uint64_t tile_in_fifo = tile_through + kLatency;         // 172
    const uint64_t shifted_in = tile_in_fifo + 1 + 8;              // 181: rows may swap
    const uint64_t input_here = tile_through + kInput + kLatency;  // 192: the nop has its flag
    const uint64_t at_array = input_here + 1 + 1;  // 194: next instruction, its issue
    ASSERT_GT(at_array, shifted_in);
    const uint64_t last_row = at_array + kRows - 1;           // 213
    const uint64_t committed = last_row + 8 + 8 + 1;          // 230: R + C + 1
    const uint64_t retired = committed + 1;                   // 231
    const uint64_t drained = retired + kDrain;                // 260
    const uint64_t signalled = drained + 1;                   // 261: set_pool_window
    const uint64_t written = signalled + kOutput + kLatency;  // 331
    EXPECT_EQ(result.cycles, written);
    EXPECT_EQ(cause(result, "mxu", "busy"), kRows);
    EXPECT_EQ(cause(result, "mxu", "wait_weights"), 0u);
    EXPECT_EQ(cause(result, "mxu", "wait_shift"), 0u);
    EXPECT_EQ(cause(result, "vector", "busy"), kDrain + 1);
    EXPECT_EQ(cause(result, "dma_out", "busy"), kOutput + kLatency);
    EXPECT_EQ(cause(result, "sequencer", "wait_memory"), fetched);
    EXPECT_EQ(cause(result, "sequencer", "wait_flag"), input_here - (fetched + 3));
    EXPECT_EQ(result.instructions, 9u);
    EXPECT_EQ(result.tiles, 1u);
    EXPECT_EQ(result.rows, kRows);
    EXPECT_EQ(result.macs, kRows * 64);
}

// set_window, read_memory, read_weights, nop, matmul, activate, set_pool_window, nop; write_memory,
// halt. Both nops pay for the synchronisation.
TEST(WorkloadCycles, AreThoseOfTheStepsWithLayerSync) {
    arch::ChipConfig chip = plain_chip();
    chip.sequencer.layer_sync = true;
    chip.sequencer.sync_cycles = 100;
    const auto result = run_workload_apart(product(kRows, 8, 8), chip);
    const uint64_t fetched = kFetch + kLatency;                         // 82
    const uint64_t input_here = fetched + kFetch + kInput + kLatency;   // 184
    const uint64_t matmul = input_here + 100 + 1;                       // 285: the nop, itself
    const uint64_t at_array = matmul + 1;                               // 286
    const uint64_t committed = at_array + kRows - 1 + 8 + 8 + 1;        // 322
    const uint64_t signalled = committed + 1 + kDrain + 1;              // 353
    const uint64_t written = signalled + 100 + 1 + kOutput + kLatency;  // 524
    EXPECT_EQ(result.cycles, written);
    // From the fourth instruction to its flag, and from the eighth to the drained block.
    EXPECT_EQ(cause(result, "sequencer", "wait_flag"),
              (input_here + 100 - (fetched + 3)) + (signalled + 100 - (matmul + 3)));
}

// A tile that is long in coming: the array waits for it, then for its shift.
TEST(WorkloadCycles, WaitForTheTileAndForItsShift) {
    const auto result = run_workload_apart(product(1, 8, 8), plain_chip());
    const uint64_t fetched = kFetch + kLatency;               // 82
    const uint64_t tile_through = fetched + kFetch + kTile;   // 122
    const uint64_t first_beat = tile_through + kLatency + 1;  // 173
    const uint64_t input_here = tile_through + 1 + kLatency;  // 173: 8 bytes
    const uint64_t at_array = input_here + 1 + 1;             // 175
    const uint64_t row = first_beat + 8;                      // 181
    EXPECT_EQ(cause(result, "mxu", "wait_weights"), 0u);
    EXPECT_EQ(cause(result, "mxu", "wait_shift"), row - at_array);
    EXPECT_EQ(result.cycles, row + 8 + 8 + 1 + 1 + (2 + 8) + 1 + 1 + kLatency);
}

void expect_refused(const workload::Workload& workload, const arch::ChipConfig& chip,
                    const std::string& where, const std::string& layer) {
    try {
        run_workload_apart(workload, chip);
        ADD_FAILURE() << where << " fits";
    } catch (const UserError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find(where), std::string::npos) << text;
        EXPECT_NE(text.find(layer), std::string::npos) << text;
    }
}

TEST(WorkloadThatDoesNotFit, NamesTheLayerAndItsLine) {
    workload::Workload workload = product(20, 8, 8);
    workload.layers.push_back(workload.layers[0]);
    workload.layers[1].name = "large";
    workload.layers[1].where = "hand.csv:3";
    // 16 MiB of tiles for 1 MiB of memory.
    workload.layers[1].k = workload.layers[1].n = 4096;
    workload.layers[1].input_elements = 20 * 4096;
    workload.layers[1].output_elements = 20 * 4096;
    expect_refused(workload, plain_chip(), "hand.csv:3", "large");
}

TEST(WorkloadThatDoesNotFit, RowsThatAreLongerThanTheBuffer) {
    workload::Workload workload = product(40, 100'000, 1);
    arch::ChipConfig chip = plain_chip();
    chip.unified_buffer_bytes = 256;
    chip.mxu.accumulator_rows = 1024;
    expect_refused(workload, chip, "hand.csv:2", "only");
}

/// Buffer and accumulators as small as a chip may have them.
arch::ChipConfig tiny_chip(uint64_t buffer_bytes, uint32_t accumulator_rows, bool layer_sync) {
    arch::ChipConfig chip = plain_chip();
    chip.unified_buffer_bytes = buffer_bytes;
    chip.mxu.accumulator_rows = accumulator_rows;
    chip.sequencer.layer_sync = layer_sync;
    return chip;
}

// Accumulators of 2 rows make blocks of one row, and chunks of a layer may differ by a row: the
// shorter ones have fewer blocks.
TEST(WorkloadOfOneRowBlocks, IsWhole) {
    for (const bool layer_sync : {false, true})
        for (const uint64_t m : {13, 30, 41, 50, 67})
            for (const uint64_t k : {8, 33})
                for (const uint64_t n : {8, 17}) {
                    SCOPED_TRACE(testing::Message() << m << " x " << k << " x " << n
                                                    << (layer_sync ? ", layer_sync" : ""));
                    try {
                        const auto result =
                            run_workload_apart(product(m, k, n), tiny_chip(512, 2, layer_sync));
                        EXPECT_EQ(result.macs, m * k * n);
                        EXPECT_GE(result.rows, m * ((k + 7) / 8) * ((n + 7) / 8));
                    } catch (const std::exception& error) {
                        ADD_FAILURE() << error.what();
                    }
                }
}

// With layer_sync the output of a chunk is written at once. Where the input goes in slices the
// chunk is the whole layer, larger than the buffer: it takes several transfers.
TEST(WorkloadOutput, LargerThanTheBufferIsWrittenWhole) {
    for (const bool layer_sync : {false, true}) {
        const auto result =
            run_workload_apart(product(300, 54, 191), tiny_chip(4096, 256, layer_sync));
        EXPECT_GE(result.traffic_bytes.at("memory_write"), 300u * 191)
            << "bytes" << (layer_sync ? ", layer_sync" : "");
    }
}

// A wave's output is 150 rows of 8 bytes, more than the buffer.
TEST(WorkloadOutput, OfAWaveLargerThanTheBufferIsWrittenWhole) {
    workload::Workload workload = product(300, 8, 8);
    workload.layers[0].input_elements = 100;  // windows that share elements
    const auto result = run_workload_apart(workload, tiny_chip(512, 512, false));
    EXPECT_GE(result.traffic_bytes.at("memory_write"), 300u * 8) << "bytes";
}

// What stays in the buffer leaves room for what leaves by waves.
TEST(WorkloadBuffer, IsNotUsedBeyondItsEnd) {
    workload::Workload workload = product(80, 8, 45);
    workload.layers.push_back(product(80, 45, 15).layers[0]);
    workload.chained = true;
    const auto result = run_workload_apart(workload, tiny_chip(4400, 104, false));
    EXPECT_LE(result.peak_buffer_bytes, 4400u);
}

}  // namespace
}  // namespace tandem::explore
