// SPDX-License-Identifier: Apache-2.0
// Chip files, and figures of a chip from the command line (--set).
#include <algorithm>
#include <fstream>

#include "arch/chip_modes.h"
#include "base/error.h"
#include "testbench/fuzz/graphs.h"

namespace tandem::fuzz {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string>& words() {
    static const std::vector<std::string> all = [] {
        std::vector<std::string> list = {"mxu.",
                                         "rows",
                                         "cols",
                                         "dtype",
                                         "int8",
                                         "bf16",
                                         "int8_rate",
                                         "accumulator_rows",
                                         "weight_fifo_tiles",
                                         "pipeline",
                                         "sum4",
                                         "count",
                                         "unified_buffer",
                                         "memory.",
                                         "size",
                                         "bandwidth",
                                         "latency",
                                         "channels",
                                         "channel_interleave",
                                         "efficiency",
                                         "refresh_interval",
                                         "refresh_duration",
                                         "cmem.",
                                         "vector.",
                                         "lanes",
                                         "drain_lanes",
                                         "transcendental_lanes",
                                         "fixed_pipeline",
                                         "dma.in_flight",
                                         "host.",
                                         "cpu_clock",
                                         "sequencer.",
                                         "queue_entries",
                                         "watchdog",
                                         "layer_sync",
                                         "kernel_launch",
                                         "sync_latency",
                                         "cross_core_latency",
                                         "published.",
                                         "clock",
                                         "cores",
                                         "name",
                                         " KiB",
                                         " MiB",
                                         " GiB",
                                         " TB/s",
                                         " GB/s",
                                         " ns",
                                         " us",
                                         " MHz",
                                         " GHz",
                                         " cycles",
                                         " %",
                                         "{value: ",
                                         ", source: x}",
                                         ": ",
                                         "=",
                                         "&a ",
                                         "*a",
                                         "!!binary ",
                                         "<<: ",
                                         "---\n",
                                         "0",
                                         "1",
                                         "-1",
                                         "1e30",
                                         ".inf",
                                         ".nan",
                                         "~",
                                         "18446744073709551615",
                                         "[",
                                         "{",
                                         "? "};
        return list;
    }();
    return all;
}

std::vector<Bytes> chip_files() {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(source_dir() / "arch/chips"))
        files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    std::vector<Bytes> all;
    for (const auto& file : files) all.push_back(read(file));
    return all;
}

std::string use_chip(const arch::ChipConfig& chip) {
    for (const arch::ChipConfig& mode : arch::modes(chip)) {
        (void)mode.hash();
        (void)mode.peak_ops_per_second();
        (void)mode.ridge_ops_per_byte();
        (void)mode.sync_cycles();
    }
    return compile_for(tiny_graph(), chip);
}

}  // namespace

Target chip_target() {
    return {.name = "chip",
            .extension = ".yaml",
            .text = true,
            .words = words(),
            .seeds = chip_files,
            .run =
                [](const Bytes& bytes) {
                    return use_chip(arch::load_chip(scratch_file("chip.yaml", bytes)));
                },
            .command = {"chips", "FILE"}};
}

Target set_target() {
    return {.name = "set",
            .extension = ".txt",
            .text = true,
            .words = words(),
            .seeds =
                [] {
                    std::vector<Bytes> all;
                    for (const char* text :
                         {"mxu.count=2", "clock=1.05GHz", "memory.bandwidth=1200 GB/s",
                          "mxu.rows=16", "cmem.size=1 MiB", "cores=4", "sequencer.layer_sync=true",
                          "mxu.dtype=bf16", "vector.drain_lanes=4", "memory.refresh_interval=1 us"})
                        all.push_back(bytes_of(text));
                    return all;
                },
            .change = {},
            .run =
                [](const Bytes& bytes) {
                    return use_chip(arch::load_chip(source_dir() / "arch/chips/test_8x8.yaml",
                                                    {text_of(bytes)}));
                },
            .command = {"chips", "test_8x8", "--set", "TEXT"}};
}

}  // namespace tandem::fuzz
