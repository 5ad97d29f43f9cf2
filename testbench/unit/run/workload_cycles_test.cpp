// SPDX-License-Identifier: Apache-2.0
// One product of one tile, followed cycle by cycle from the first fetch to the end by the rules of
// docs/timing.md; and what a layer that does not fit is told.
#include <gtest/gtest.h>

#include <stdexcept>

#include "base/error.h"
#include "run/graph_run.h"

namespace tandem::run {
namespace {

/// 8 x 8 array at 1 GHz; memory 8 bytes a cycle after 50 cycles; everything fits.
arch::ChipConfig plain_chip() {
    arch::ChipConfig chip;
    chip.name = "plain";
    chip.clock_hz = 1'000'000'000;
    chip.mxu = {8, 8, arch::Dtype::kInt8, 1, false, 0, 64, 2};
    chip.unified_buffer_bytes = 4096;
    chip.memory = {1 << 20, 8'000'000'000, 50'000};
    chip.memory.efficiency_percent = 100;
    chip.vector = {8, 8};
    chip.host = {8'000'000'000, 500'000, 500'000'000};
    chip.sequencer = {16, 1'000'000};
    return chip;
}

tables::Workload product(uint64_t m, uint64_t k, uint64_t n) {
    tables::Layer layer;
    layer.name = "only";
    layer.where = "hand.csv:2";
    layer.m = m;
    layer.k = k;
    layer.n = n;
    layer.input_elements = m * k;
    layer.output_elements = m * n;
    tables::Workload workload;
    workload.name = workload.file = "hand";
    workload.layers = {layer};
    return workload;
}

uint64_t cause(const run::RunResult& result, const std::string& unit, const std::string& name) {
    for (const auto& each : result.units)
        if (each.name == "core0." + unit) return each.cause(name);
    ADD_FAILURE() << "no unit " << unit;
    return 0;
}

constexpr uint64_t kLatency = 50;
constexpr uint64_t kBlock = 256 / 8;                      // cycles of 8 instructions
constexpr uint64_t kFetched = kBlock + kLatency;          // 82: the first one is there
constexpr uint64_t kParams = 8 * 12 / 8, kTile = 64 / 8;  // 12 bytes for each output channel
constexpr uint64_t kRows = 20, kInput = kRows * 8 / 8, kOutput = kRows * 8 / 8;
constexpr uint64_t kDrain = 2 + (kRows - 1) * 1 + 8;  // a row each cycle, latency 8

// The program is the one by rules.
RunResult time_by_rules(const tables::Workload& workload, const arch::ChipConfig& chip) {
    return run::time_list_apart(workload, chip, compiler::PlanMode::kRules);
}

// read_memory (parameters), read_memory (input), read_weights, set_window, matmul, requantise,
// write_memory, halt: one block. Instruction i is at its unit in cycle 82 + i.
TEST(WorkloadCycles, AreThoseOfTheStepsWithoutLayerSync) {
    const auto result = time_by_rules(product(kRows, 8, 8), plain_chip());
    const uint64_t params_through = kFetched + kParams;      // 94
    const uint64_t params_here = params_through + kLatency;  // 144: the engine takes the next one
    const uint64_t tile_through = params_through + kTile;    // 102: asked for at 84, behind them
    const uint64_t shifted_in = tile_through + kLatency + 1 + 8;  // 161: rows may swap
    const uint64_t input_here = params_here + kInput + kLatency;  // 214: the matmul's flag
    const uint64_t at_array = input_here + 1;                     // 215: its issue
    ASSERT_GT(at_array, shifted_in);
    const uint64_t last_row = at_array + kRows - 1;         // 234
    const uint64_t committed = last_row + 8 + 8 + 1;        // 251: R + C + 1
    const uint64_t retired = committed + 1;                 // 252
    const uint64_t drained = retired + kDrain;              // 281
    const uint64_t written = drained + kOutput + kLatency;  // 351
    EXPECT_EQ(result.cycles, written);
    EXPECT_EQ(cause(result, "mxu", "busy"), kRows);
    EXPECT_EQ(cause(result, "mxu", "wait_weights"), 0u);
    EXPECT_EQ(cause(result, "mxu", "wait_shift"), 0u);
    EXPECT_EQ(cause(result, "vector", "busy"), kDrain);
    EXPECT_EQ(cause(result, "dma_out", "busy"), kOutput + kLatency);
    EXPECT_EQ(cause(result, "sequencer", "wait_memory"), kFetched);
    EXPECT_EQ(cause(result, "sequencer", "wait_flag"), 0u) << "units wait, not the sequencer";
    EXPECT_EQ(result.instructions, 8u);
    EXPECT_EQ(result.tiles, 1u);
    EXPECT_EQ(result.rows, kRows);
    EXPECT_EQ(result.macs, kRows * 64);
}

// read_memory, read_memory, read_weights, nop, set_window, matmul, requantise, nop; write_memory,
// halt. Both nops pay for the synchronisation; the first one waits for the input, while the first
// tile comes and moves in, the second one for the drained chunk.
TEST(WorkloadCycles, AreThoseOfTheStepsWithLayerSync) {
    arch::ChipConfig chip = plain_chip();
    chip.sequencer.layer_sync = true;
    chip.sequencer.sync_latency_ps = 100'000;
    const auto result = time_by_rules(product(kRows, 8, 8), chip);
    // The second block, of two instructions, goes before what is asked for in the same cycle.
    const uint64_t fetch_through = kFetched + 2 * 32 / 8;               // 90
    const uint64_t params_here = fetch_through + kParams + kLatency;    // 152
    const uint64_t input_here = params_here + kInput + kLatency;        // 222
    const uint64_t window_set = input_here + 100 + 1;                   // 323: the nop, itself
    const uint64_t row = window_set + 1 + 1;                            // 325: the matmul's issue
    const uint64_t drained = row + kRows - 1 + 8 + 8 + 1 + 1 + kDrain;  // 391
    const uint64_t written = drained + 100 + 1 + kOutput + kLatency;    // 562
    EXPECT_EQ(result.cycles, written);
    EXPECT_EQ(cause(result, "mxu", "wait_weights"), 0u);
    EXPECT_EQ(cause(result, "mxu", "wait_shift"), 0u);
    // From the fourth instruction to its flag, and from the eighth to the drained chunk.
    const uint64_t first_nop = kFetched + 3, second_nop = window_set + 3;
    EXPECT_EQ(cause(result, "sequencer", "wait_flag"),
              (input_here + 100 - first_nop) + (drained + 100 - second_nop));
    EXPECT_EQ(result.instructions, 10u);
}

// 1 GHz: a cycle is a nanosecond. Nothing happens before the start is over.
TEST(WorkloadCycles, AreMoreByTheStartOfTheProgram) {
    arch::ChipConfig chip = plain_chip();
    const auto before = run::time_list_apart(product(kRows, 8, 8), chip);
    chip.sequencer.program_launch_ps = 1'000'000;
    const auto result = run::time_list_apart(product(kRows, 8, 8), chip);
    EXPECT_EQ(result.cycles, before.cycles + 1000);
    EXPECT_EQ(cause(result, "sequencer", "launch"), 1000u);
    EXPECT_EQ(cause(result, "mxu", "launch"), 0u);
    EXPECT_EQ(result.instructions, before.instructions);
}

TEST(WorkloadCycles, PayForEveryKernelAndTimeStep) {
    tables::Workload workload = product(kRows, 8, 8);
    workload.layers.push_back(workload.layers[0]);
    workload.layers[1].name = "repeated";
    workload.layers[1].repeat = 3;
    for (const bool layer_sync : {false, true}) {
        arch::ChipConfig chip = plain_chip();
        chip.sequencer.layer_sync = layer_sync;
        const auto before = run::time_list_apart(workload, chip);
        chip.sequencer.kernel_launch_ps = 24'001;  // 25 cycles
        const auto result = run::time_list_apart(workload, chip);
        EXPECT_EQ(result.instructions, before.instructions + 1 + 3);
        EXPECT_EQ(cause(result, "sequencer", "launch"), 4u * 25);
        EXPECT_EQ(cause(before, "sequencer", "launch"), 0u);
    }
}

// A tile that is long in coming, there being room for one: the array waits for it, then for its
// shift. read_memory, read_memory, read_weights (two tiles), set_window, matmul, matmul,
// requantise, write_memory; halt.
TEST(WorkloadCycles, WaitForTheTileAndForItsShift) {
    arch::ChipConfig chip = plain_chip();
    chip.mxu.weight_fifo_tiles = 1;
    const auto result = time_by_rules(product(1, 16, 8), chip);
    const uint64_t fetch_through = kFetched + 32 / 8;                      // 86
    const uint64_t params_through = fetch_through + kParams;               // 98
    const uint64_t input_here = params_through + kLatency + 2 + kLatency;  // 200: 16 bytes
    const uint64_t first_tile_in = params_through + kTile + kLatency + 8;  // 164: its last row
    ASSERT_LT(first_tile_in, input_here);
    const uint64_t first_row = input_here + 1;                             // 201
    const uint64_t at_array = first_row + 1 + 1;                           // 203: next matmul
    const uint64_t first_beat = first_tile_in + 1 + kTile + kLatency + 1;  // 224
    const uint64_t row = first_beat + 8;                                   // 232
    EXPECT_EQ(cause(result, "mxu", "wait_weights"), first_beat - at_array);
    EXPECT_EQ(cause(result, "mxu", "wait_shift"), row - first_beat);
    EXPECT_EQ(result.cycles, row + 8 + 8 + 1 + 1 + (2 + 8) + 1 + kLatency);
    EXPECT_EQ(result.tiles, 2u);
}

void expect_refused(const tables::Workload& workload, const arch::ChipConfig& chip,
                    const std::string& where, const std::string& layer) {
    try {
        run::time_list_apart(workload, chip);
        ADD_FAILURE() << where << " fits";
    } catch (const UserError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find(where), std::string::npos) << text;
        EXPECT_NE(text.find(layer), std::string::npos) << text;
    }
}

TEST(WorkloadThatDoesNotFit, NamesTheLayerAndItsLine) {
    tables::Workload workload = product(20, 8, 8);
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
    tables::Workload workload = product(40, 100'000, 1);
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
                            run::time_list_apart(product(m, k, n), tiny_chip(512, 2, layer_sync));
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
            run::time_list_apart(product(300, 54, 191), tiny_chip(4096, 256, layer_sync));
        EXPECT_GE(result.traffic.memory_write, 300u * 191)
            << "bytes" << (layer_sync ? ", layer_sync" : "");
    }
}

// The windows of a line share their elements: 307 bytes come in, and 300 rows of 8 bytes leave,
// more than the buffer holds.
TEST(WorkloadOutput, OfALineLargerThanTheBufferIsWrittenWhole) {
    tables::Workload workload = product(300, 8, 8);
    tables::Layer& layer = workload.layers[0];
    layer.kind = tables::LayerKind::kConvolution;
    layer.convolution.emplace();
    layer.convolution->width = 307;
    layer.convolution->window.kernel_w = 8;
    layer.input_elements = 307;
    const auto result = run::time_list_apart(workload, tiny_chip(512, 512, false));
    EXPECT_GE(result.traffic.memory_write, 300u * 8) << "bytes";
    EXPECT_EQ(result.macs, 300u * 64);
}

// What stays in the buffer leaves room for what leaves by waves.
TEST(WorkloadBuffer, IsNotUsedBeyondItsEnd) {
    tables::Workload workload = product(80, 8, 45);
    workload.layers.push_back(product(80, 45, 15).layers[0]);
    workload.chained = true;
    const auto result = run::time_list_apart(workload, tiny_chip(4400, 104, false));
    EXPECT_LE(result.peak_buffer_bytes.value(), 4400u);
}

}  // namespace
}  // namespace tandem::run
