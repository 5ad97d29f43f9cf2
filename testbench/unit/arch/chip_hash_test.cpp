// SPDX-License-Identifier: Apache-2.0
// The hash of a chip: of figures only, by their paths.
#include "arch/chip_figures.h"
#include "testbench/unit/arch/small_chip.h"

namespace tandem::arch {
namespace {

/// FNV-1a, written out once more.
struct Fnv {
    uint64_t value = 14695981039346656037ull;
    void add(const std::string& bytes) {
        for (const char byte : bytes) {
            value ^= static_cast<uint8_t>(byte);
            value *= 1099511628211ull;
        }
    }
    void add(uint64_t number) {
        std::string bytes;
        for (int i = 0; i < 8; ++i) bytes += static_cast<char>(number >> (8 * i) & 255);
        add(bytes);
    }
};

// What a chip file must say, sorted by path. A figure that comes into being with a default does not
// change this, nor does another order of the table.
TEST(ChipConfigHash, IsThatOfThePathsAndValuesThatAreNoDefaults) {
    const std::vector<std::pair<std::string, uint64_t>> figures = {{"clock", 500000000},
                                                                   {"host.bandwidth", 4000000000},
                                                                   {"host.cpu_clock", 600000000},
                                                                   {"host.latency", 500000},
                                                                   {"memory.bandwidth", 3000000000},
                                                                   {"memory.latency", 100000},
                                                                   {"memory.size", 67108864},
                                                                   {"mxu.accumulator_rows", 64},
                                                                   {"mxu.cols", 4},
                                                                   {"mxu.dtype", 0},
                                                                   {"mxu.rows", 8},
                                                                   {"mxu.weight_fifo_tiles", 2},
                                                                   {"sequencer.queue_entries", 9},
                                                                   {"sequencer.watchdog", 10000},
                                                                   {"unified_buffer", 65536},
                                                                   {"vector.lanes", 16},
                                                                   {"vector.latency", 7}};
    Fnv hash;
    for (const auto& [path, value] : figures) {
        hash.add(path);
        hash.add(value);
    }
    EXPECT_EQ(load(kChip).hash(), hash.value);
}

TEST(ChipConfigHash, IsNotThatOfTexts) {
    EXPECT_EQ(load(kChip).hash(), load(with("small", "other")).hash());
    EXPECT_EQ(load(kChip).hash(), load(with("a chip", "another chip")).hash());
}

TEST(ChipConfigHash, TakesADefaultForTheSameWrittenOut) {
    EXPECT_EQ(load(kChip).hash(), load(with_array("int8\n  pipeline: 1\n  sum4: false")).hash());
    EXPECT_EQ(load(kChip).hash(), load(with_array("int8\n  count: 1") + "cores: 1\n").hash());
    EXPECT_EQ(load(kChip).hash(), load(with_memory("channels: 1, efficiency: 90 %")).hash());
    EXPECT_EQ(load(kChip).hash(), load(with_sequencer("layer_sync: false")).hash());
    EXPECT_EQ(load(kChip).hash(), load(with("latency: 7 cycles",
                                            "latency: 7 cycles, fixed_pipeline: true, "
                                            "transcendental_lanes: 0"))
                                      .hash());
}

TEST(ChipConfigHash, LeavesOutWhatIsOnlyCompared) {
    EXPECT_EQ(load(kChip).hash(),
              load(std::string(kChip) + "published: {peak: 1 TOPS, bandwidth: 3 GB/s}\n").hash());
}

}  // namespace
}  // namespace tandem::arch
