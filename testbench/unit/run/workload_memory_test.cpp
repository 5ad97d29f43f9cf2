// SPDX-License-Identifier: Apache-2.0
// A long run needs no more memory than a short one: programs are made while they run.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/graph_run.h"

namespace tandem::run {
namespace {

struct Child {
    uint64_t tiles = 0;
    uint64_t peak_rss_kib = 0;
};

/// Runs a product of 4 rows and so many tiles in a child process: 15 cycles a tile.
Child run_tiles(uint64_t tiles, uint64_t watchdog_cycles) {
    arch::ChipConfig chip;
    chip.name = "small";
    chip.clock_hz = 1'000'000'000;
    chip.mxu = {8, 8, arch::Dtype::kInt8, 1, false, 0, 64, 4};
    chip.unified_buffer_bytes = 1 << 20;
    chip.memory = {64 << 20, 64'000'000'000, 50'000};
    chip.memory.efficiency_percent = 100;
    chip.vector = {8, 8};
    chip.host = {8'000'000'000, 500'000, 500'000'000};
    chip.sequencer = {16, watchdog_cycles};
    tables::Layer layer;
    layer.name = "tiles";
    layer.where = "tiles.csv:2";
    layer.m = 4;
    layer.k = 80;
    layer.n = 8 * (tiles / 10);
    layer.input_elements = layer.m * layer.k;
    layer.output_elements = layer.m * layer.n;
    tables::Workload workload;
    workload.name = workload.file = "tiles";
    workload.layers = {layer};

    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        Child result;
        result.tiles = run::time_list(workload, chip).tiles;
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        result.peak_rss_kib = static_cast<uint64_t>(usage.ru_maxrss);
        const bool sent = write(ends[1], &result, sizeof result) == sizeof result;
        _exit(sent ? 0 : 1);
    }
    close(ends[1]);
    Child result;
    EXPECT_EQ(read(ends[0], &result, sizeof result), static_cast<ssize_t>(sizeof result));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    return result;
}

void expect_no_growth(uint64_t watchdog_cycles) {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "the address sanitizer keeps freed memory";
#endif
    // The shorter one, too, fills the window in which steps wait for signals.
    const Child shorter = run_tiles(20'000, watchdog_cycles);
    const Child longer = run_tiles(200'000, watchdog_cycles);
    EXPECT_EQ(shorter.tiles, 20'000u);
    EXPECT_EQ(longer.tiles, 200'000u);
    EXPECT_LT(longer.peak_rss_kib, shorter.peak_rss_kib + 2048)
        << "KiB; 20000 tiles take " << shorter.peak_rss_kib;
}

TEST(WorkloadMemory, DoesNotGrowWithTheLengthOfARun) { expect_no_growth(10'000); }

// A time-out for each wait would stay in SystemC's queue until the watchdog's time.
TEST(WorkloadMemory, DoesNotGrowWithAPatientWatchdog) { expect_no_growth(100'000'000); }

}  // namespace
}  // namespace tandem::run
