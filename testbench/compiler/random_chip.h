// SPDX-License-Identifier: Apache-2.0
// Random small chips, and the tightest ones that a graph fits onto.
#pragma once

#include <random>
#include <string>

#include "base/error.h"
#include "compiler/pipeline.h"
#include "testbench/compiler/test_chips.h"

namespace tandem::testbench {

struct ChipLimits {
    uint32_t cores = 3, arrays = 4;
};

inline arch::ChipConfig random_chip(std::mt19937& random, const ChipLimits& limits = {}) {
    const auto pick = [&](uint32_t low, uint32_t high) {
        return low + static_cast<uint32_t>(random() % (high - low + 1));
    };
    arch::ChipConfig chip = test_chip(pick(2, 20), pick(2, 20));
    chip.cores = pick(1, limits.cores);
    chip.mxu.count = pick(1, limits.arrays);
    chip.mxu.accumulator_rows = pick(2, 200);
    chip.mxu.weight_fifo_tiles = pick(1, 4);
    chip.mxu.sum4 = pick(0, 1) == 1;
    chip.sequencer.queue_entries = pick(1, 16);
    chip.sequencer.layer_sync = pick(0, 3) == 0;
    if (pick(0, 2) == 0) chip.cmem = {1 << 20, 8'000'000'000, 50'000};
    // Not drawn, so that chips of a seed stay what they are.
    chip.sequencer.kernel_launch_ps = chip.sequencer.queue_entries % 2 * uint64_t{100'000};
    return chip;
}

inline std::string text_of(const arch::ChipConfig& chip) {
    const auto& m = chip.mxu;
    return std::to_string(m.rows) + "x" + std::to_string(m.cols) + ", " +
           std::to_string(chip.cores) + " cores x " + std::to_string(m.count) + " arrays, " +
           std::to_string(m.accumulator_rows) + " accumulator rows, FIFO " +
           std::to_string(m.weight_fifo_tiles) + ", buffer " +
           std::to_string(chip.unified_buffer_bytes) + ", queue " +
           std::to_string(chip.sequencer.queue_entries) +
           (chip.sequencer.layer_sync ? ", layer_sync" : "") +
           (chip.sequencer.kernel_launch_ps != 0 ? ", launch" : "") +
           (chip.cmem.bytes != 0 ? ", cmem" : "");
}

/// The smallest unified buffer, to within 16 bytes, into which the graph fits; `most` if none.
inline uint64_t smallest_buffer(const compiler::Graph& graph, arch::ChipConfig chip,
                                const compiler::CompileOptions& options) {
    uint64_t too_small = 0, enough = chip.unified_buffer_bytes;
    while (enough - too_small > 16) {
        chip.unified_buffer_bytes = (too_small + enough) / 2;
        try {
            compiler::plan_graph(graph, chip, options);
            enough = chip.unified_buffer_bytes;
        } catch (const UserError&) {
            too_small = chip.unified_buffer_bytes;
        }
    }
    return enough;
}

}  // namespace tandem::testbench
