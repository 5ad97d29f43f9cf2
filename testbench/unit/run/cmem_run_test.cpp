// SPDX-License-Identifier: Apache-2.0
// Lists whose values go through CMEM, on the model of the chip.
#include <gtest/gtest.h>

#include "run/graph_run.h"
#include "testbench/support/image_chain.h"

namespace tandem::run {
namespace {

/// Four layers of 16 KiB each on a chip with 12 KiB of buffer and slow memory.
RunResult run_with(uint64_t cmem_bytes) {
    arch::ChipConfig chip;
    chip.name = "small";
    chip.clock_hz = 1'000'000'000;
    chip.mxu = {16, 16, arch::Dtype::kInt8, 1, false, 0, 64, 4};
    chip.unified_buffer_bytes = 12 << 10;
    chip.memory = {1 << 20, 2'000'000'000, 100'000};
    chip.memory.efficiency_percent = 100;
    chip.vector = {16, 8};
    chip.host = {64'000'000'000, 100'000, 500'000'000};
    chip.sequencer = {16, 10'000'000};
    if (cmem_bytes != 0) chip.cmem = {cmem_bytes, 16'000'000'000, 30'000};
    return time_list_apart(testbench::image_chain(4, 32, 16), chip);
}

constexpr uint64_t kWeights = 4 * 9 * 256, kValue = 32 * 32 * 16;

TEST(CmemRun, IsFasterAndNeverSlowerWithMoreOfIt) {
    uint64_t before = run_with(0).cycles;
    const uint64_t without = before;
    for (const uint64_t bytes : {kWeights / 2, kWeights, kWeights + kValue, kWeights + 2 * kValue,
                                 kWeights + 3 * kValue}) {
        const uint64_t cycles = run_with(bytes).cycles;
        EXPECT_LE(cycles, before) << bytes << " bytes of CMEM";
        before = cycles;
    }
    EXPECT_LT(before * 2, without);
}

TEST(CmemRun, CountsItsBytesApart) {
    const RunResult all = run_with(1 << 20), none = run_with(0);
    EXPECT_EQ(none.traffic.cmem, 0u);
    // Three values written and read, with what neighbouring chunks share; and weights.
    EXPECT_GE(all.traffic.cmem, 6 * kValue + kWeights);
    const uint64_t of_memory =
        all.traffic.memory_read + all.traffic.memory_write - all.traffic.cmem;
    EXPECT_LT(of_memory, all.instructions * 32 + 4096) << "instructions and parameters";
    EXPECT_TRUE(all.laws_broken.empty());
}

}  // namespace
}  // namespace tandem::run
