// SPDX-License-Identifier: Apache-2.0
// Random workloads on random chips: no fault, no endless wait, as many products as the layers say,
// never faster than arrays and memory allow. The bounds are worked out here from the layers alone.
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "base/error.h"
#include "run/graph_run.h"
#include "testbench/unit/run/random_workload.h"

namespace tandem::run {
namespace {

using tables::Layer;
using testbench::random_run;
using testbench::RandomRun;

uint64_t up(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

/// What no schedule can go below.
struct Bounds {
    uint64_t macs = 0;
    uint64_t rows = 0;          ///< that enter an array
    uint64_t weight_bytes = 0;  ///< whole tiles, fetched in every repetition
    uint64_t activation_bytes_in = 0, activation_bytes_out = 0;  ///< of device memory, once
};

Bounds bounds_of(const RandomRun& run) {
    const auto& mxu = run.chip.mxu;
    const uint64_t element = mxu.dtype == arch::Dtype::kBf16 ? 2 : 1;
    Bounds bounds;
    for (const Layer& layer : run.workload.layers) {
        if (!run.workload.chained) {
            bounds.activation_bytes_in += layer.input_elements * element * layer.passes;
            bounds.activation_bytes_out += layer.output_elements * element * layer.passes;
        }
        if (layer.m == 0) continue;
        uint64_t tiles = up(layer.k, mxu.rows) * up(layer.n, mxu.cols) * layer.groups;
        // Channels of a depthwise convolution share a tile, but no row and no column of it.
        if (layer.convolution && layer.groups > 1)
            tiles = std::max(up(layer.k * layer.groups, mxu.rows),
                             up(layer.n * layer.groups, mxu.cols));
        bounds.macs += layer.m * layer.k * layer.n * layer.groups * layer.repeat;
        bounds.rows += layer.m * layer.passes * tiles * layer.repeat;
        bounds.weight_bytes += tiles * mxu.rows * mxu.cols * element * layer.repeat;
    }
    return bounds;
}

/// Cycles in which the device memory can carry so many bytes at the earliest.
double memory_cycles(const RandomRun& run, uint64_t bytes) {
    const auto& memory = run.chip.memory;
    const double seconds =
        static_cast<double>(bytes) * 100.0 /
        (static_cast<double>(memory.bytes_per_second) * memory.efficiency_percent);
    return seconds * static_cast<double>(run.chip.clock_hz);
}

/// Nothing where a layer does not fit; that has to be said with its place.
std::optional<run::RunResult> result_of(const RandomRun& run, uint64_t seed,
                                        compiler::PlanMode plan = compiler::PlanMode::kSearch) {
    try {
        return run::time_list_apart(run.workload, run.chip, plan);
    } catch (const UserError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("random.csv:"), std::string::npos) << text;
        EXPECT_NE(text.find("'layer"), std::string::npos) << text;
    } catch (const std::exception& error) {
        ADD_FAILURE() << "seed " << seed << ": " << error.what();
    }
    return std::nullopt;
}

void expect_causes_add_up(const run::RunResult& result, const RandomRun& run, uint64_t seed) {
    const size_t units = 4 + 2 * run.chip.mxu.count;  // two DMA engines, vector unit, sequencer
    ASSERT_EQ(result.units.size(), units * run.chip.cores) << "seed " << seed;
    uint64_t longest = 0;
    for (size_t core = 0; core < run.chip.cores; ++core) {
        uint64_t of_core = 0;
        for (size_t i = 0; i < units; ++i) {
            const run::UnitResult& unit = result.units[core * units + i];
            uint64_t sum = 0;
            for (const uint64_t cycles : unit.cycles) sum += cycles;
            if (i == 0) of_core = sum;
            EXPECT_EQ(sum, of_core) << unit.name << ", seed " << seed;
        }
        longest = std::max(longest, of_core);
    }
    EXPECT_EQ(result.cycles, longest) << "seed " << seed;
}

void expect_laws(const run::RunResult& result, const RandomRun& run, uint64_t seed) {
    const Bounds bounds = bounds_of(run);
    EXPECT_EQ(result.macs, bounds.macs) << "seed " << seed;
    EXPECT_GE(result.rows, bounds.rows) << "seed " << seed;
    EXPECT_GE(result.cycles, up(bounds.rows, run.chip.arrays())) << "seed " << seed;
    EXPECT_LE(result.peak_buffer_bytes.value(), run.chip.unified_buffer_bytes) << "seed " << seed;
    // Every row is one busy cycle of its array, also where the port is narrower than a row.
    EXPECT_EQ(result.cause("mxu", "busy"), result.rows) << "seed " << seed;

    const uint64_t read = result.traffic.memory_read;
    const uint64_t written = result.traffic.memory_write;
    const uint64_t cmem = result.traffic.cmem;
    EXPECT_GE(read, bounds.weight_bytes + bounds.activation_bytes_in) << "seed " << seed;
    EXPECT_GE(result.tiles * run.chip.tile_bytes(), bounds.weight_bytes) << "seed " << seed;
    // CMEM's bytes are counted among the memory's, and in a count of their own. Instructions do not
    // wait for the bandwidth, not even for each other: 256 bytes for 8, some more at the ends.
    const uint64_t instructions = result.instructions * 32 + 2048 * run.chip.cores;
    const uint64_t of_dram = read + written - cmem;
    EXPECT_GE(static_cast<double>(result.cycles) + 1,
              memory_cycles(run, of_dram > instructions ? of_dram - instructions : 0))
        << "seed " << seed;
    if (cmem == 0) {
        EXPECT_GE(static_cast<double>(result.cycles) + 1,
                  memory_cycles(run, bounds.weight_bytes + bounds.activation_bytes_in))
            << "seed " << seed;
    }

    uint64_t of_layers = 0;
    ASSERT_EQ(result.layers.size(), run.workload.layers.size());
    for (size_t i = 0; i < result.layers.size(); ++i) {
        of_layers += result.layers[i].cycles;
        EXPECT_EQ(result.layers[i].macs, run.workload.layers[i].macs()) << "seed " << seed;
    }
    EXPECT_EQ(of_layers, result.cycles) << "seed " << seed;
    expect_causes_add_up(result, run, seed);
}

constexpr uint64_t kSeedsEach = 50;

class WorkloadLaws : public testing::TestWithParam<uint64_t> {};

TEST_P(WorkloadLaws, HoldForRandomWorkloads) {
    uint64_t fitting = 0;
    for (uint64_t seed = GetParam(); seed < GetParam() + kSeedsEach; ++seed) {
        const RandomRun run = random_run(seed);
        const auto result = result_of(run, seed);
        if (!result) continue;
        ++fitting;
        expect_laws(*result, run, seed);
    }
    EXPECT_GE(fitting, kSeedsEach / 2) << "of " << kSeedsEach;
}

// A transfer can be longer than the buffer, and then takes several instructions.
TEST_P(WorkloadLaws, EveryOutputGoesToMemory) {
    for (uint64_t seed = GetParam(); seed < GetParam() + kSeedsEach; ++seed) {
        const RandomRun run = random_run(seed);
        const auto result = result_of(run, seed);
        if (!result) continue;
        EXPECT_GE(result->traffic.memory_write, bounds_of(run).activation_bytes_out)
            << "bytes, seed " << seed;
    }
}

// Laws of the machine: of one program, which is what rules make for both.
TEST_P(WorkloadLaws, MoreBandwidthIsNotSlower) {
    for (uint64_t seed = GetParam(); seed < GetParam() + kSeedsEach; ++seed) {
        RandomRun run = random_run(seed);
        const auto before = result_of(run, seed, compiler::PlanMode::kRules);
        if (!before) continue;
        run.chip.memory.bytes_per_second *= 2;
        const auto after = result_of(run, seed, compiler::PlanMode::kRules);
        ASSERT_TRUE(after) << "seed " << seed;
        EXPECT_LE(static_cast<double>(after->cycles), 1.02 * static_cast<double>(before->cycles))
            << "seed " << seed;
    }
}

TEST_P(WorkloadLaws, MoreLatencyIsNotFaster) {
    for (uint64_t seed = GetParam(); seed < GetParam() + kSeedsEach; ++seed) {
        RandomRun run = random_run(seed);
        const auto before = result_of(run, seed, compiler::PlanMode::kRules);
        if (!before) continue;
        run.chip.memory.latency_ps *= 2;
        const auto after = result_of(run, seed, compiler::PlanMode::kRules);
        ASSERT_TRUE(after) << "seed " << seed;
        EXPECT_GE(static_cast<double>(after->cycles), 0.98 * static_cast<double>(before->cycles))
            << "seed " << seed;
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, WorkloadLaws,
                         testing::Range(uint64_t{0}, 6 * kSeedsEach, kSeedsEach));

}  // namespace
}  // namespace tandem::run
